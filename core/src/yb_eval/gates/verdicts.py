"""From the verdicts of gates to one verdict, and from that to the exit code: the printed verdict, the written one and
the exit code are one value."""

from __future__ import annotations

from collections.abc import Iterable

from yb_eval.errors import ExitCode
from yb_eval.model import Verdict, VerdictWord

_EXIT: dict[VerdictWord, ExitCode] = {
    "pass": ExitCode.PASS,
    "fail": ExitCode.FAIL,
    "unmeasured": ExitCode.NOT_MEASURED,
}


def decide(verdicts: Iterable[Verdict]) -> VerdictWord:
    """`unmeasured` if any blocking gate is, else `fail` if any fails, else `pass`. Without a blocking gate:
    `unmeasured`. (What was not measured weighs more than what failed: the failure itself may be an artefact of it.)"""
    return worst(verdict.verdict for verdict in verdicts if verdict.severity == "block")


def worst(words: Iterable[VerdictWord]) -> VerdictWord:
    said = set(words)
    if not said or said - {"pass", "fail"}:
        return "unmeasured"
    return "fail" if "fail" in said else "pass"


def exit_code(verdict: VerdictWord) -> ExitCode:
    return _EXIT[verdict]
