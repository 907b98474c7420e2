"""What there is to say about a run, what matters first: read from the document and the outcome log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval.errors import ExpressionError
from yb_eval.expressions import Expression, Vocabulary
from yb_eval.reports.view import Json, RunView
from yb_eval.reports.wording import brief, plural

_GATE_ORDER = {
    ("block", "fail"): 0,
    ("block", "unmeasured"): 1,
    ("warn", "fail"): 2,
    ("warn", "unmeasured"): 3,
}

#: Every function that a gate may call, so that thresholds can be read out of its text.
_GATE_WORDS = Vocabulary(functions={"lower": 1, "upper": 1, "n": 1, "abs": 1, "no_worse": 1})

#: Distinct reasons of errors that are told apart; a target that words each failure anew must not fill the memory.
_MAX_REASONS = 1_000

#: Ids given as examples of an error.
_EXAMPLES = 3


@frozen(slots=True)
class Mistake:
    """One wrong judgement of a sample; `judgement` is `None` where the outcome has only itself."""

    judgement: str | None
    expected: Any
    predicted: Any


@frozen(slots=True)
class WrongSample:
    id: str
    repeat: int
    mistakes: tuple[Mistake, ...]
    reason: str | None


@frozen(slots=True)
class FailedSample:
    """A sample that ended in an error."""

    id: str
    repeat: int
    reason: str


@frozen(slots=True)
class ErrorGroup:
    """Samples that ended in an error for one reason: how many, and the first few ids."""

    reason: str
    count: int
    ids: tuple[str, ...]


@frozen(slots=True)
class Troubles:
    """The samples of a suite to look at: errors by reason (the most frequent first), and the first failed and the
    first wrong samples in dataset order. `wrong_count` and the groups' counts are of the whole log."""

    errors: tuple[ErrorGroup, ...] = ()
    failed: tuple[FailedSample, ...] = ()
    wrong: tuple[WrongSample, ...] = ()
    wrong_count: int = 0


def headline(document: Json) -> str:
    """The verdict in one sentence, without the verdict's own word: `2 of 9 gates failed, in guards and triage`."""
    suites = document["suites"]
    blocking = [(suite, gate) for suite in suites for gate in suite["gates"] if gate["severity"] == "block"]
    total = plural(len(blocking), "gate")
    parts: list[str] = []
    for word, verb in (("fail", "failed"), ("unmeasured", "could not be measured")):
        found = [suite for suite, gate in blocking if gate["verdict"] == word]
        if found:
            names = list(dict.fromkeys(name_of(suite) for suite in found))
            where = f" in {join(names)}" if len(suites) > 1 else ""
            parts.append(f"{len(found)}{'' if parts else f' of {total}'} {verb}{where}")
    if not parts:
        passed = "no blocking gate" if not blocking else f"{'all ' if len(blocking) > 1 else ''}{total} passed"
        rest = [name_of(suite) for suite in suites if suite["verdict"] != "pass"]
        parts.append(f"{passed}, but {join(rest)} did not" if rest else passed)
    warned = sum(gate["verdict"] != "pass" for suite in suites for gate in suite["gates"] if gate["severity"] == "warn")
    if warned:
        parts.append(plural(warned, "warning"))
    return "; ".join(parts)


def join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def name_of(suite: Json) -> str:
    """The instance's name: the suite's own unless it was composed twice."""
    return str(suite.get("name") or suite["suite"])


def worst_first(gates: Sequence[Json]) -> list[Json]:
    """Gates that failed, then unmeasured ones, then warnings, then those that passed."""
    return sorted(gates, key=lambda gate: _GATE_ORDER.get((gate["severity"], gate["verdict"]), 4))


def split_slice(name: str) -> tuple[str, str | None]:
    """`recall[lang:ru]` as (`recall`, `lang:ru`); the second is `None` for the whole."""
    base, bracket, rest = name.partition("[")
    return (base, rest[:-1]) if bracket and rest.endswith("]") else (name, None)


def better(suite: Json, name: str) -> str | None:
    """`higher`, `lower` or `None`: which way the measurement improves, as its metric declared."""
    declared = (suite.get("declared") or {}).get(split_slice(name)[0]) or {}
    found: str | None = declared.get("better")
    return found


def worst_slices(suite: Json, limit: int) -> list[str]:
    """Names of the slices that fall behind their whole the most, the surest first.

    Slices are ordered by how far the kinder end of their interval lies on the wrong side of the whole's value, so that
    three unlucky rows do not stand before three hundred.
    """
    measurements: Mapping[str, Json] = suite["measurements"]
    ranked = []
    for position, (name, measurement) in enumerate(measurements.items()):
        base, key = split_slice(name)
        whole = measurements.get(base)
        direction = better(suite, base)
        # A count is small in a small slice; only rates say that a slice falls behind.
        if key is None or whole is None or direction is None or (suite["declared"][base] or {}).get("high") != 1:
            continue
        value, reference = measurement["value"], whole["value"]
        if value is None or reference is None:
            continue
        sign = 1 if direction == "higher" else -1
        if (reference - value) * sign <= 0:
            continue
        bounds = measurement.get("interval") or (value, value)
        kinder = bounds[1] if direction == "higher" else bounds[0]
        ranked.append(((kinder - reference) * sign, position, name))
    return [name for _, _, name in sorted(ranked)[:limit]]


@frozen(slots=True)
class Threshold:
    """What a gate compares a measurement with, and what came of the gate."""

    symbol: str
    number: float
    verdict: str


def thresholds(suite: Json) -> dict[str, list[Threshold]]:
    """Measurement name -> the thresholds that gates set it.

    Only a comparison of the measurement itself or of its bound counts; a gate in another language has none.
    """
    found: dict[str, list[Threshold]] = {}
    for gate in suite["gates"]:
        try:
            comparisons = Expression.parse(gate["gate"], _GATE_WORDS).comparisons()
        except ExpressionError:
            continue
        for reference, symbol, limit in comparisons:
            if reference is not None and not reference.name.startswith("baseline."):
                threshold = Threshold(symbol, limit, gate["verdict"])
                pairs = found.setdefault(reference.name, [])
                if threshold not in pairs:
                    pairs.append(threshold)
    return found


def mistakes(outcome: Json) -> tuple[Mistake, ...]:
    """The wrong judgements of an outcome line; the outcome itself where it has no named ones."""
    judgements: Mapping[str, Json] = outcome.get("judgements") or {}
    if not judgements:
        wrong = outcome.get("correct") is False
        return (Mistake(None, outcome.get("expected"), outcome.get("predicted")),) if wrong else ()
    return tuple(
        Mistake(name, judgement.get("expected"), judgement.get("predicted"))
        for name, judgement in judgements.items()
        if judgement.get("correct") is False
    )


def troubles(view: RunView, index: int, *, limit: int, always: Collection[str] = ()) -> Troubles:
    """Reads the outcome log of a suite for errors and wrong samples; keeps at most `limit` of each kind.

    Wrong samples whose id is in `always` are kept beyond the limit. The log is not read where the document's counts
    say that there is nothing to find.
    """
    counts = view.document["suites"][index]["counts"]
    if not counts["error"] and counts.get("wrong") == 0:
        return Troubles()
    total: int | None = counts.get("wrong")
    groups: dict[str, ErrorGroup] = {}
    failed: list[FailedSample] = []
    wrong: list[WrongSample] = []
    wrong_count = 0
    for outcome in view.outcomes(index):
        if outcome["status"] == "error":
            sample = FailedSample(outcome["id"], outcome.get("repeat") or 0, outcome.get("reason") or "no reason given")
            _group(groups, sample)
            if len(failed) < limit:
                failed.append(sample)
        elif outcome.get("correct") is False:
            wrong_count += 1
            if len(wrong) < limit or outcome["id"] in always:
                wrong.append(
                    WrongSample(outcome["id"], outcome.get("repeat") or 0, mistakes(outcome), outcome.get("reason"))
                )
            elif total is not None and not always and not counts["error"]:
                # The rest would only be counted, and it has been.
                wrong_count = total
                break
    ranked = sorted(groups.values(), key=lambda group: -group.count)
    return Troubles(tuple(ranked[:limit]), tuple(failed), tuple(wrong), wrong_count)


def _group(groups: dict[str, ErrorGroup], sample: FailedSample) -> None:
    reason = sample.reason if sample.reason in groups or len(groups) < _MAX_REASONS else "other reasons"
    group = groups.get(reason, ErrorGroup(reason, 0, ()))
    ids = (*group.ids, sample.id) if len(group.ids) < _EXAMPLES else group.ids
    groups[reason] = ErrorGroup(reason, group.count + 1, ids)


def flips(suite: Json, kind: str) -> Iterator[Json]:
    """The samples that `broken`, were `fixed` or `changed` since the baseline."""
    comparison = suite.get("comparison") or {}
    return (flip for flip in comparison.get("flips") or () if flip["kind"] == kind)


def compared(suite: Json) -> Json | None:
    """The comparison with the baseline, where one could be made."""
    comparison: Json | None = suite.get("comparison")
    return comparison if comparison and comparison["comparable"] else None


def label(sample: WrongSample | FailedSample) -> str:
    """The sample's id, with the number of the repeat after the first."""
    return f"{sample.id} (repeat {sample.repeat + 1})" if sample.repeat else sample.id


def told(sample: WrongSample, limit: int) -> str:
    """What is wrong with a sample, as one unescaped sentence of bounded length."""
    said = "; ".join(
        _of(mistake.judgement, f"expected {brief(mistake.expected, limit)}, got {brief(mistake.predicted, limit)}")
        for mistake in sample.mistakes
    )
    return f"{said} ({brief(sample.reason, limit)})" if sample.reason else said


def flipped(flip: Json, limit: int) -> str:
    """What changed for a sample, before -> after."""
    return _of(flip.get("judgement"), f"{brief(flip['before'], limit)} -> {brief(flip['after'], limit)}")


def _of(judgement: str | None, statement: str) -> str:
    return f"{judgement}: {statement}" if judgement else statement


def summary(suite: Json) -> list[str]:
    """What the suite itself says of its run, in sentences."""
    said = (suite.get("details") or {}).get("summary")
    return [sentence for sentence in said if isinstance(sentence, str)] if isinstance(said, list | tuple) else []
