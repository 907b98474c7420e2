"""Decision-model evals: typed questions about a sample, checked answers, and nothing unmeasured that passes.

```python
from yb_eval_decision import evaluate
from yb_eval_decision.agent import Grounded, ToolChoice
from yb_eval_decision.security import IndirectInjection

report = evaluate({"messages": messages, "tools": tools}, [ToolChoice(), Grounded(), IndirectInjection()])
report.grounded.score          # 0.5
report.passed                  # True, False, or None: something that applies was not measured
```

`yb_eval_decision.agent`, `.security` and `.quality` hold the built-in evals; `Eval` is the base of your own, `load_eval`
reads one from YAML. The same evals are measured against labels by `yb-eval run decision`. Names are imported when they are
first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yb_eval_decision import agent as agent
    from yb_eval_decision import quality as quality
    from yb_eval_decision import security as security
    from yb_eval_decision.answers import ChoiceAnswer as ChoiceAnswer
    from yb_eval_decision.answers import NoAnswer as NoAnswer
    from yb_eval_decision.answers import NoulAnswer as NoulAnswer
    from yb_eval_decision.answers import ScoreAnswer as ScoreAnswer
    from yb_eval_decision.backends.base import Backend as Backend
    from yb_eval_decision.backends.base import Request as Request
    from yb_eval_decision.backends.base import Response as Response
    from yb_eval_decision.backends.mock import MockBackend as MockBackend
    from yb_eval_decision.backends.opening import open_backend as open_backend
    from yb_eval_decision.dataset_report import DatasetReport as DatasetReport
    from yb_eval_decision.declarative.evals import DeclarativeEval as DeclarativeEval
    from yb_eval_decision.eval import Eval as Eval
    from yb_eval_decision.kinds import ChoiceEval as ChoiceEval
    from yb_eval_decision.kinds import NoulEval as NoulEval
    from yb_eval_decision.kinds import ScoreEval as ScoreEval
    from yb_eval_decision.means import mean as mean
    from yb_eval_decision.messages.model import Message as Message
    from yb_eval_decision.messages.model import Tool as Tool
    from yb_eval_decision.messages.model import ToolCall as ToolCall
    from yb_eval_decision.parameters import parameter as parameter
    from yb_eval_decision.questions import Choice as Choice
    from yb_eval_decision.questions import Noul as Noul
    from yb_eval_decision.questions import Score as Score
    from yb_eval_decision.questions import Task as Task
    from yb_eval_decision.registry import builtin_evals as builtin_evals
    from yb_eval_decision.registry import eval_schema as eval_schema
    from yb_eval_decision.registry import get_eval as get_eval
    from yb_eval_decision.registry import load_eval as load_eval
    from yb_eval_decision.registry import load_evals as load_evals
    from yb_eval_decision.registry import resolve_evals as resolve_evals
    from yb_eval_decision.results import EvalReport as EvalReport
    from yb_eval_decision.results import Result as Result
    from yb_eval_decision.results import Usage as Usage
    from yb_eval_decision.running import aevaluate as aevaluate
    from yb_eval_decision.running import aevaluate_dataset as aevaluate_dataset
    from yb_eval_decision.running import evaluate as evaluate
    from yb_eval_decision.running import evaluate_dataset as evaluate_dataset
    from yb_eval_decision.sample import Sample as Sample
    from yb_eval_decision.sentences import split_sentences as split_sentences

_HOMES = {
    "answers": ("ChoiceAnswer", "NoAnswer", "NoulAnswer", "ScoreAnswer"),
    "backends.base": ("Backend", "Request", "Response"),
    "backends.mock": ("MockBackend",),
    "backends.opening": ("open_backend",),
    "dataset_report": ("DatasetReport",),
    "declarative.evals": ("DeclarativeEval",),
    "eval": ("Eval",),
    "kinds": ("ChoiceEval", "NoulEval", "ScoreEval"),
    "means": ("mean",),
    "messages.model": ("Message", "Tool", "ToolCall"),
    "parameters": ("parameter",),
    "questions": ("Choice", "Noul", "Score", "Task"),
    "registry": ("builtin_evals", "eval_schema", "get_eval", "load_eval", "load_evals", "resolve_evals"),
    "results": ("EvalReport", "Result", "Usage"),
    "running": ("aevaluate", "aevaluate_dataset", "evaluate", "evaluate_dataset"),
    "sample": ("Sample",),
    "sentences": ("split_sentences",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = ("agent", "quality", "security")

__all__ = sorted((*_HOME, *_MODULES))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
