"""The outcome log: one JSON line per outcome, in the dataset's order; its bytes are what `run_id` rests on.

A line is `{"id", "status", "correct", "expected", "predicted", "reason", "tags", "details"}`, with `score`,
`confidence`, `repeat` and `judgements` where there are any."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, groupby, repeat
from operator import ne
from typing import IO, Any

import orjson
from attrs import evolve, field, frozen

from yb_eval.batches import OutcomeBatch
from yb_eval.digest import finite_json
from yb_eval.errors import EvaluationError, StoreError
from yb_eval.model import Judged, Judgement, Outcome, Status

_STATUSES = frozenset({"scored", "error", "skipped"})
#: Values that orjson itself writes rightly or refuses; whatever else there is must be walked through for NaN.
_PLAIN_TYPES = frozenset({str, bool, int, type(None)})
_SHALLOW = 8
#: From this many items on it is quicker to look at their types together.
_MANY = 16
_QUOTED = 120
_MARKS = frozenset({bool, type(None)})


def encode(outcome: Outcome) -> bytes:
    """The log line of an outcome, newline included.

    Raises `EvaluationError` for an outcome that breaks the contract: an unknown status, an error without a reason, a
    confidence outside 0..1, a value that is not JSON or not finite.
    """
    try:
        # Most outcomes are plain, and each of these calls is made for every sample.
        plain = (
            outcome.status == "scored"
            and type(outcome.correct) in _MARKS
            and type(outcome.expected) in _PLAIN_TYPES
            and type(outcome.predicted) in _PLAIN_TYPES
        )
        if not plain:
            _check(outcome)
        details = outcome.details
        if details:
            _check_value(details, "details")
        line: dict[str, Any] = {
            "id": outcome.id,
            "status": outcome.status,
            "correct": outcome.correct,
            "expected": outcome.expected,
            "predicted": outcome.predicted,
            "reason": outcome.reason,
            "tags": outcome.tags,
            "details": details,
        }
        if outcome.score is not None or outcome.confidence is not None:
            _add_numbers(line, outcome)
        if outcome.repeat:
            line["repeat"] = outcome.repeat
        if outcome.judgements:
            line["judgements"] = {name: _judgement(j) for name, j in outcome.judgements.items()}
        return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
    except (ValueError, TypeError) as error:  # orjson's own errors are TypeErrors
        raise EvaluationError(f"the evaluator's outcome of sample {outcome.id!r} is not usable: {error}") from error


#: How a line begins, up to the id.
_BEGIN = '{"id":"'


def encode_all(outcomes: Sequence[Outcome]) -> bytes:
    """The log lines of outcomes, one after another: `encode` of each, at the price of a kind where many are alike."""
    if not isinstance(outcomes, OutcomeBatch):
        return b"".join(map(encode, outcomes))
    ids = outcomes.ids
    if not _written_as_it_stands("".join(ids)):
        return b"".join(map(encode, outcomes))
    kinds = [kind if kind.id == "" else evolve(kind, id="") for kind in outcomes.kinds]
    try:
        tails = [encode(kind)[len(_BEGIN) :].decode() for kind in kinds]
    except EvaluationError:
        return b"".join(map(encode, outcomes))  # which names the sample
    if not ids:
        return b""
    # Each line but the first is begun by the end of the one before it.
    pieces = [_BEGIN, *_followed(outcomes, [tail + _BEGIN for tail in tails])]
    pieces[-1] = pieces[-1].removesuffix(_BEGIN)
    return "".join(pieces).encode()


def _written_as_it_stands(text: str) -> bool:
    try:
        return orjson.dumps(text) == b'"%b"' % text.encode()
    except (TypeError, UnicodeEncodeError):  # a lone surrogate
        return False


def _followed(outcomes: OutcomeBatch, ends: Sequence[str]) -> list[str]:
    """Each id and the end of its kind, one after another, in pieces of which the last is such an end. Where most are of one
    kind, those between the others are joined by its end."""
    ids, which = outcomes.ids, outcomes.which
    most = max(range(len(ends)), key=outcomes.counts.__getitem__)
    others = list(compress(count(), map(ne, which, repeat(most))))
    if len(others) > len(ids) // 4:
        return list(chain.from_iterable(zip(ids, map(ends.__getitem__, which), strict=True)))
    end, start = ends[most], 0
    pieces: list[str] = []
    for place in others:
        pieces += end.join(ids[start : place + 1]), ends[which[place]]
        start = place + 1
    return [*pieces, end.join(ids[start:]), end] if start < len(ids) else pieces


def _check(judged: Judged) -> None:
    """Raises `ValueError` for what breaks the contract, score, confidence and details apart."""
    status = judged.status
    if status not in _STATUSES:
        raise ValueError(f"{status!r} is not a status")
    if status != "scored" and not judged.reason:
        raise ValueError(f"its status is {status!r} and it gives no reason")
    correct = judged.correct
    if correct is not None and (type(correct) is not bool or status != "scored"):
        raise ValueError(f"correct={correct!r} with the status {status!r}")
    _check_value(judged.expected, "expected")
    _check_value(judged.predicted, "predicted")


def _check_value(value: Any, name: str) -> None:
    """Raises `ValueError` unless `value` is JSON with finite numbers. Where all is well this is known without visiting
    every value; `finite_json` finds the words for the rest."""
    if not _is_sound(value, 0):
        finite_json(value, name)


def _is_sound(value: Any, depth: int) -> bool:
    """Whether orjson writes `value` rightly or refuses it; false where that cannot be told cheaply."""
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return True
    if kind is not dict and kind is not list and kind is not tuple:
        return False
    items = value.values() if kind is dict else value
    if len(items) > _MANY and _PLAIN_TYPES.issuperset(map(type, items)):
        return True
    for item in items:
        kind = type(item)
        if kind in _PLAIN_TYPES:
            continue
        if kind is float:
            if not math.isfinite(item):
                return False
        elif depth == _SHALLOW or not _is_sound(item, depth + 1):
            return False
    return True


def _add_numbers(line: dict[str, Any], judged: Judged) -> None:
    """Adds the score and the confidence to a line, where there are any."""
    if judged.score is not None:
        finite_json(judged.score, "score")
        line["score"] = judged.score
    confidence = judged.confidence
    if confidence is not None:
        if not 0 <= confidence <= 1:
            raise ValueError(f"confidence {confidence!r} is outside 0..1")
        line["confidence"] = confidence


def _judgement(judgement: Judgement) -> dict[str, Any]:
    _check(judgement)
    line: dict[str, Any] = {
        "status": judgement.status,
        "correct": judgement.correct,
        "expected": judgement.expected,
        "predicted": judgement.predicted,
        "reason": judgement.reason,
    }
    _add_numbers(line, judgement)
    if judgement.details:
        _check_value(judgement.details, "details")
        line["details"] = judgement.details
    return line


def decode(line: bytes | Mapping[str, Any]) -> Outcome:
    """The outcome of a log line. Raises `ValueError` for a line that is not one: whatever `encode` would not write."""
    try:
        data = orjson.loads(line) if isinstance(line, bytes) else line
        outcome = Outcome(
            id=data["id"],
            tags=tuple(data["tags"]),
            # A status that is not there would be taken for `scored`.
            judgements={
                name: Judgement(**{**judged, "status": judged["status"]})
                for name, judged in data.get("judgements", {}).items()
            },
            repeat=data.get("repeat", 0),
            **{key: data[key] for key in ("status", "correct", "expected", "predicted", "reason", "details")},
            score=data.get("score"),
            confidence=data.get("confidence"),
        )
        if type(outcome.id) is not str or type(outcome.repeat) is not int or outcome.repeat < 0:
            raise ValueError("its id or its repeat is none")
        if not isinstance(data["tags"], list | tuple) or not all(type(tag) is str for tag in outcome.tags):
            raise ValueError("its tags are no list of strings")
        every: list[Judged] = [outcome, *outcome.judgements.values()]
        for judged in every:
            _check(judged)
            if judged.details and not isinstance(judged.details, Mapping):
                raise ValueError("its details are no object")
            if judged.score is not None and not isinstance(judged.score, int | float):
                raise ValueError("its score is no number")
            if judged.confidence is not None and not 0 <= judged.confidence <= 1:
                raise ValueError("its confidence is outside 0..1")
        return outcome
    except KeyError as error:
        raise ValueError(f"not an outcome: it has no {error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"not an outcome: {str(error)[:_QUOTED]}") from error


def read_log(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The lines of an outcome log, decoded. Raises `StoreError` for a line that is none."""
    for number, line in enumerate(file, 1):
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError:
            raise StoreError(f"line {number} of an outcome log is not JSON") from None


@frozen(slots=True)
class Record:
    """One sample of a run, its repeats taken together: what a baseline keeps and a comparison looks at.

    With repeats, `correct` and `predicted` are the majority's (`None` for a tie in `correct`; the smallest JSON for a
    tie in `predicted`), `score` is the mean, and `status` is `scored` only if every repeat is."""

    status: Status
    correct: bool | None
    predicted: Any
    score: float | None = None
    judgements: Mapping[str, Record] = field(factory=dict)


def records(lines: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Record]]:
    """(id, record) for each sample of a log, whose repeats stand one after another."""
    for sample_id, group in groupby(lines, key=lambda line: line["id"]):
        repeats = list(group)
        names = repeats[0].get("judgements", {})
        judgements = {
            name: _together([line["judgements"][name] for line in repeats if name in line.get("judgements", {})])
            for name in names
        }
        yield sample_id, _together(repeats, judgements)


def _together(lines: list[Mapping[str, Any]], judgements: Mapping[str, Record] | None = None) -> Record:
    if len(lines) == 1:
        line = lines[0]
        return Record(line["status"], line["correct"], line["predicted"], line.get("score"), judgements or {})
    statuses = {line["status"] for line in lines}
    status: Status = "error" if "error" in statuses else "skipped" if "skipped" in statuses else "scored"
    right = sum(1 for line in lines if line["correct"] is True)
    wrong = sum(1 for line in lines if line["correct"] is False)
    said = Counter(orjson.dumps(line["predicted"], option=orjson.OPT_SORT_KEYS) for line in lines)
    most = min(said.items(), key=lambda item: (-item[1], item[0]))[0]
    scores = [line["score"] for line in lines if line.get("score") is not None]
    return Record(
        status,
        None if right == wrong else right > wrong,
        orjson.loads(most),
        sum(scores) / len(scores) if scores else None,
        judgements or {},
    )
