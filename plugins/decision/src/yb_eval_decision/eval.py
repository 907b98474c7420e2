"""An eval: which part of a sample to look at, what to ask about it, and what the answers mean.

```python
class Polite(Eval):
    \"\"\"Is the answer polite?\"\"\"
    requires = ("output",)

    def state(self, s):
        return {"final_answer": s.final_answer}

    def questions(self, s):
        return {"q": Noul("Is final_answer polite?")}

    def reduce(self, answers, s):
        return Result(score=answers["q"].probability)
```

The three methods are pure functions of the sample: the same eval is the metric offline, the monitor of production traces
and the gate in the loop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.answers import Answer
from yb_eval_decision.parameters import Parameterised, parameter
from yb_eval_decision.questions import Question
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")


def _name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.match(value):
        raise UsageError(f"a name is lower-case letters, digits and _, not {shorten(value)}")
    return value


class Eval(Parameterised):
    """The base of all evals. Subclasses give `state`, `questions` and `reduce`, and may give the hooks below.

    `requires` are the fields of the sample without which the eval does not apply. `threshold` is what `score` must reach to
    pass, where `reduce` does not say itself. `partial` says that `reduce` wants to see unanswered questions too (as
    `NoAnswer`); otherwise one question without an answer makes the whole eval unmeasured. `version` rises when what is asked
    or how it is judged changes; it is part of the eval's identity.
    """

    category: ClassVar[str] = "custom"
    requires: tuple[str, ...] = ()
    partial: ClassVar[bool] = False
    version: ClassVar[int] = 1

    name = parameter(None, help="Another name, where two of a kind are asked together.", optional=True, check=_name)
    threshold = parameter(0.5, help="The score that passes.", minimum=0.0, maximum=1.0)

    def __init_subclass__(cls, **more: Any) -> None:
        own = vars(cls).get("name")
        super().__init_subclass__(**more)
        if own is None or not isinstance(own, str):
            cls.name = _snake(cls.__name__)
        if isinstance(vars(cls).get("requires"), str):
            raise UsageError(f"{cls.__name__}.requires is a text", hint="write a tuple: requires = ('messages',)")

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if self.name is None:
            self.name = type(self).name

    def state(self, s: Sample) -> Mapping[str, Any]:
        """What the model sees: JSON values by name. Built-in evals use the fields of `yb_eval_decision.state`, so that they
        agree and can be asked together."""
        raise NotImplementedError

    def questions(self, s: Sample) -> Mapping[str, Question]:
        """What is asked, by id. An empty mapping asks nothing: `reduce` is called without answers."""
        raise NotImplementedError

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        """What the answers, in the order of the questions, say. Every question has its id here; see `partial`."""
        raise NotImplementedError

    def applicable(self, s: Sample) -> tuple[bool, str]:
        """Whether the eval applies to a sample that has what it requires; if not, why."""
        return True, ""

    def pre(self, s: Sample) -> Result | None:
        """A result that needs no question, where there is one."""
        return None

    def identity(self) -> dict[str, Any]:
        """What decides the eval's results, as JSON values: its class, version and arguments. For fingerprints."""
        kind = type(self)
        arguments = {name: _plain(value) for name, value in self.arguments().items()}
        return {"eval": f"{kind.__module__}.{kind.__qualname__}", "version": kind.version, "arguments": arguments}

    def describe(self) -> dict[str, Any]:
        """Name, category, first sentence of the docstring, what it requires, and its parameters."""
        kind = type(self)
        return {
            "name": self.name,
            "category": kind.category,
            "description": (kind.__doc__ or "").strip().partition("\n")[0],
            "requires": list(self.requires),
            "parameters": {
                name: {**self._given(name), "default": _plain(declared.default), "help": declared.help}
                for name, declared in kind.parameters.items()
            },
        }

    def _given(self, name: str) -> dict[str, Any]:
        """The value of a parameter, where it is not the default one."""
        value = getattr(self, name)
        usual = type(self).name if name == "name" else type(self).parameters[name].default
        return {} if value == usual else {"value": _plain(value)}

    def __repr__(self) -> str:
        changed = {
            name: value
            for name, value in self.arguments().items()
            if value != type(self).parameters[name].default and not (name == "name" and value == type(self).name)
        }
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)
