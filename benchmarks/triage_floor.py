"""The floor of scoring recorded answers: the project's fixed stack in a bare loop that reads rows and answers, matches
them by id, structures and judges them, counts what the measurements are made of, and writes results.

No checks, no ids, no gates, no intervals, no record: what any scoring of triage answers on this stack pays at least.
The results are those of the suite's outcome log.
"""

import hashlib
import sys
from collections import Counter
from typing import Any

import attrs  # noqa: F401
import click  # noqa: F401
import importlib_metadata  # noqa: F401
import orjson
import pluggy  # noqa: F401
import xxhash
from attrs import field, frozen
from cattrs import Converter


@frozen
class Gold:
    label: str | None = None
    severity: int | None = None
    escalate: bool | None = None


@frozen
class Row:
    id: str
    text: str
    gold: Gold


@frozen
class Answer:
    id: str
    label: str | None = None
    severity: int | None = None
    escalate: bool | None = None
    confidence: float | None = None


@frozen
class Judgement:
    status: str
    correct: bool
    expected: Any
    predicted: Any
    confidence: float | None = None


@frozen
class Result:
    id: str
    status: str
    correct: bool
    expected: dict[str, Any]
    predicted: dict[str, Any]
    judgements: dict[str, Judgement] = field(factory=dict)


PARTS = ("label", "severity", "escalate")
converter = Converter(detailed_validation=False)
# The default hook asks what each member of a union is; a floor does not.
converter.register_structure_hook_func(lambda kind: "|" in str(kind), lambda value, kind: value)
counts = {part: Counter() for part in PARTS}
bins = Counter()
digest = hashlib.sha256()
answers = {}
with open(sys.argv[2], "rb") as lines:
    for line in lines:
        digest.update(line)
        answer = converter.structure(orjson.loads(line), Answer)
        answers[answer.id] = answer
with open(sys.argv[1], "rb") as rows, open(sys.argv[3], "wb") as results:
    for line in rows:
        digest.update(line)
        xxhash.xxh3_128_hexdigest(line)
        row = converter.structure(orjson.loads(line), Row)
        answer = answers[row.id]
        judgements = {}
        for part in PARTS:
            expected, predicted = getattr(row.gold, part), getattr(answer, part)
            if expected is not None:
                counts[part][expected, predicted] += 1
                judgements[part] = Judgement("scored", expected == predicted, expected, predicted)
        bins[int(10 * answer.confidence), judgements["label"].correct] += 1
        result = Result(
            row.id,
            "scored",
            all(judgement.correct for judgement in judgements.values()),
            {part: judgement.expected for part, judgement in judgements.items()},
            {part: judgement.predicted for part, judgement in judgements.items()},
            judgements,
        )
        results.write(orjson.dumps(converter.unstructure(result), option=orjson.OPT_APPEND_NEWLINE))
print(digest.hexdigest(), {part: sum(many for (a, b), many in c.items() if a == b) for part, c in counts.items()})
