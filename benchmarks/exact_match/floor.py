"""The floor: the project's own stack in a bare loop that reads, structures, judges and writes results. No more."""

import hashlib
import sys

import orjson
from attrs import frozen
from cattrs import Converter


@frozen
class Row:
    id: str
    input: str
    expected: str


converter = Converter(detailed_validation=False)
digest = hashlib.sha256()
right = total = 0
with open(sys.argv[1], "rb") as rows, open(sys.argv[2], "wb") as results:
    for line in rows:
        digest.update(line)
        row = converter.structure(orjson.loads(line), Row)
        correct = row.input == row.expected
        right += correct
        total += 1
        results.write(
            orjson.dumps(
                {"id": row.id, "correct": correct, "expected": row.expected, "predicted": row.input},
                option=orjson.OPT_APPEND_NEWLINE,
            )
        )
print(digest.hexdigest(), right / total)
