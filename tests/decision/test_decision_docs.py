"""The page of the suite says what is so: its table is that of the evals, its Python examples run, what it names exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from yb_eval_decision.answers import ChoiceAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.backends.opening import SCHEMES
from yb_eval_decision.dataset import SETS
from yb_eval_decision.metrics import eval_metrics
from yb_eval_decision.questions import Choice, Noul, Question, Score, wire_question
from yb_eval_decision.registry import BUILTIN, resolve_evals
from yb_eval_decision.steadiness import Steadiness
from yb_eval_decision.validation import read_answers

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "decision.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
YAML = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_table_of_evals_is_current() -> None:
    script = ROOT / "scripts" / "decision_evals_table.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in PAGE, "python scripts/decision_evals_table.py --write"
    assert all(f"| `{name}` |" in done.stdout for names in BUILTIN.values() for name in names)


def test_the_examples_are_what_the_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(PYTHON[0], names)
    r = names["r"]
    assert r.grounded.score == 1.0
    assert r.phi.passed is True
    assert (r.tool_choice.status, r.tool_choice.answer) == ("abstained", None)
    assert r.passed is None
    assert r.usage.requests == 1
    assert "grounded" in capsys.readouterr().out
    exec(PYTHON[1], names)
    assert names["r"].cautious.evidence == {"per_claim": [0.5, 0.5]}


def test_the_function_of_ones_own_answers_every_kind_of_question() -> None:
    names: dict[str, Any] = {}
    exec(PYTHON[2], names)
    asked: dict[str, Question] = {"n": Noul("?"), "c": Choice("?", ["x", "y"]), "s": Score("?", ["low", "mid", "high"])}
    said = names["decide"]({"state": {}, "questions": {id: wire_question(one) for id, one in asked.items()}})
    assert read_answers(asked, said["answers"]) == {
        "n": NoulAnswer(0.9),
        "c": ChoiceAnswer("x", {"x": 1.0, "y": 0.0}),
        "s": ScoreAnswer(0.8, (0.2, 0.8, 0.0), ("low", "mid", "high")),
    }


def test_as_few_rows_as_the_page_says_can_pass_a_gate() -> None:
    from yb_eval.statistics import wilson

    assert wilson(34, 34)[0] < 0.9 <= wilson(35, 35)[0]


def test_the_eval_in_yaml_is_one(tmp_path: Path) -> None:
    (tmp_path / "refund_policy.yaml").write_text(YAML[0], encoding="utf-8")
    (one,) = resolve_evals(tmp_path / "refund_policy.yaml")
    assert one.name == "refund_policy"


def test_every_kind_of_backend_and_every_set_is_named() -> None:
    specs = PAGE.partition("## Backends")[2].partition("\n## ")[0].replace("http(s)", "http` `https")
    assert [name for name in SCHEMES if not re.search(rf"`{name.removesuffix('+https')}\b", specs)] == []
    assert [name for name in SETS if f"`{name}`" not in PAGE] == []


def test_every_measurement_is_explained() -> None:
    (one,) = resolve_evals("grounded")
    metrics = [*eval_metrics("grounded", one), Steadiness(judgement="grounded")]
    declared = {each.name.partition(".")[2] for metric in metrics for each in metric.declares}
    assert [name for name in sorted(declared) if f"`{name}`" not in PAGE] == []
