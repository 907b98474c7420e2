"""From an eval's result and a label to a judgement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yb_eval import Judgement
from yb_eval_decision.eval import Eval
from yb_eval_decision.results import Result

PASS, FAIL = "pass", "fail"


def options_of(one: Eval) -> tuple[str, ...]:
    """The options that a label of this eval may name: those of its choice, if it is one."""
    options = getattr(one, "options", None)
    return tuple(options) if options else ()


def passing(one: Eval) -> frozenset[str]:
    """The expected labels of samples that pass: the verdict, or it with one of the eval's good options."""
    return frozenset({PASS, *(_option(one, option) for option in getattr(one, "good", ()))})


def fails(label: str) -> bool:
    """Whether an expected or predicted label is that of a sample that fails."""
    return label == FAIL or label.startswith(f"{FAIL}: ")


def judgement_of(result: Result, one: Eval, label: Any) -> Judgement:
    """The judgement of one result against its label (`None`: there is none).

    What is unmeasured is an `error`, or `skipped` with its state in the details: it is no miss and no pass. Where the label
    names an option, that is what must have been chosen (`pass: answered`); else the verdict must be the label's (`pass`).
    `confidence` is the probability that the verdict is right, for evals whose score is a probability.
    """
    expected = _expected(one, label)
    if result.status == "error":
        return Judgement("error", expected=expected, reason=result.reason)
    if result.status != "measured":
        state = result.status
        reason = result.reason if state == "skipped" else f"{state}: {result.reason}"
        return Judgement("skipped", expected=expected, reason=reason, details={"state": state})
    predicted = _verdict(result.passed)
    if isinstance(label, str) and result.answer is not None:
        predicted = _option(one, result.answer)
    correct = None if expected is None or predicted is None else predicted == expected
    details: dict[str, Any] = {"passed": result.passed}
    if result.answer is not None:
        details["answer"] = result.answer
    if result.detail:
        details["detail"] = result.detail
    return Judgement(
        "scored",
        correct,
        expected,
        predicted,
        score=result.score,
        confidence=_confidence(result),
        details=details,
    )


def _expected(one: Eval, label: Any) -> str | None:
    if label is None:
        return None
    if isinstance(label, str):
        return _option(one, label)
    return _verdict(label if isinstance(label, bool) else label >= one.threshold)


def _verdict(passed: bool | None) -> str | None:
    return None if passed is None else PASS if passed else FAIL


def _option(one: Eval, option: str) -> str:
    """The label of an option; of an eval of which no option is good, the option alone."""
    good: Sequence[str] = getattr(one, "good", ())
    return option if not good else f"{PASS if option in good else FAIL}: {option}"


def _confidence(result: Result) -> float | None:
    """The probability that the verdict is right, where the score is a probability: the backend's own, or a calibrated one."""
    known = result.probability is not None or result.evidence.get("calibrated") is True
    if not known or result.score is None or result.passed is None:
        return None
    return result.score if result.passed else 1.0 - result.score
