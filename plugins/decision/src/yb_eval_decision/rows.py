"""The rows of a dataset, one at a time: from a JSONL file or from anything that can be iterated over.

A row is a sample as `Sample.of` reads it, or an object that holds one under `sample` beside its `id`, `labels`, `tags` and
whatever else. A line that cannot be read is a row too, with the reason in the place of its sample: one bad line ends no run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.errors import printable, shorten
from yb_eval_decision.asking import NoSample
from yb_eval_decision.sample import Sample

#: Bytes of a line that are read; a longer one is a bad row.
LONGEST_LINE = 64 * 2**20
#: What is kept of a row that is itself a sample.
_BESIDE = ("tags", "labels", "metadata")


@frozen(slots=True)
class Row:
    """The row at `index` (from 0): its `id`, its `sample` (raw, or `NoSample`), what stands beside that, and the sha256 of its
    bytes."""

    index: int
    sample: Any
    id: str | None = None
    metadata: Mapping[str, Any] = field(factory=dict)
    digest: str | None = None


class Raw(NamedTuple):
    """The row at `place` as it is given: a line, whose `number` in its file counts from 1, or a sample. It is cheap to send to
    another process, which then does the reading."""

    place: int
    value: Any
    number: int | None = None

    def row(self, digests: bool) -> Row:
        """What is read of it."""
        if self.number is None:
            return row_of(self.place, self.value, _digest(self.value) if digests else None)
        digest = hashlib.sha256(self.value).hexdigest() if digests else None
        return _of_line(self.place, self.number, self.value, digest)


def read_rows(data: Any, limit: int | None = None, *, digests: bool = True) -> Iterator[Row]:
    """The rows of `data`: the path of a JSONL file, or samples. Never holds more than one. `limit` are the first so many;
    without `digests` rows have none.

    Raises `UsageError` for a file that cannot be read, and for what is no data.
    """
    return (raw.row(digests) for raw in raw_rows(data, limit))


def raw_rows(data: Any, limit: int | None = None) -> Iterator[Raw]:
    """`read_rows` without the reading."""
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise UsageError(f"limit is a number of samples, not {shorten(limit)}")
    if isinstance(data, str | Path):
        return islice(_of_file(Path(data)), limit)
    if isinstance(data, Mapping | Sample | bytes) or not isinstance(data, Iterable):
        raise UsageError(f"a dataset is a JSONL file or samples, not {shorten(data)}", hint="for one sample: evaluate")
    return (Raw(index, value) for index, value in enumerate(islice(data, limit)))


def row_of(index: int, value: Any, digest: str | None = None) -> Row:
    """The row that `value` is."""
    if type(value) is not dict and (not isinstance(value, Mapping) or isinstance(value, Sample)):
        found = value.id if isinstance(value, Sample) else None
        return Row(index, value, found, {}, digest)
    id = value.get("id")
    if (inner := value.get("sample")) is not None and isinstance(inner, Mapping | list | str):
        beside = {key: item for key, item in value.items() if key not in ("id", "sample")}
        sample = inner
    else:
        beside = {key: value[key] for key in _BESIDE if key in value}
        sample = value
    return Row(index, sample, None if id is None else str(id), beside, digest)


def _of_file(path: Path) -> Iterator[Raw]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    with file:
        index = number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) > LONGEST_LINE:
                yield Raw(index, NoSample(f"line {number}: longer than {LONGEST_LINE:,} bytes"))
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE)
            elif stripped := line.strip():
                yield Raw(index, stripped, number)
            else:
                continue
            index += 1


def _of_line(index: int, number: int, line: bytes, digest: str | None) -> Row:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return Row(index, NoSample(printable(f"line {number}: not JSON: {error}")), digest=digest)
    if type(value) not in (dict, list, str):
        return Row(index, NoSample(f"line {number}: a sample is expected, not {shorten(value)}"), digest=digest)
    return row_of(index, value, digest)


def _digest(value: Any) -> str | None:
    """The sha256 of a row that is not a line, where it is JSON; a resumed run asks other rows again."""
    try:
        raw = value.raw if isinstance(value, Sample) else value
        return hashlib.sha256(orjson.dumps(raw, option=orjson.OPT_SORT_KEYS)).hexdigest()
    except (TypeError, ValueError):
        return None
