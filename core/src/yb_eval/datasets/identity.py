"""The ids of samples: given by the file, or derived from a row's content.

Ids are checked for repeats without being kept: eight bytes a row. Hashes that occur twice are only suspicions; what is
said of an id comes from a second look at the rows.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import lt
from typing import Any

import xxhash
from attrs import frozen

from yb_eval.datasets.faults import RowError, named
from yb_eval.digest import content_key
from yb_eval.errors import shorten

_CONTENT_ID = re.compile(r"x-[0-9a-f]{32}(-[0-9]+)?\Z")
_BUCKETED = 2**18

#: Line breaks of any kind and other controls; a lone surrogate cannot come from a strict reader.
_UNFIT = frozenset(("Cc", "Zl", "Zp"))


def content_id(raw: bytes, ordinal: int = 1) -> str:
    """The id of a row that has none: xxh3-128 of its bytes, and from the second row with these bytes on its ordinal."""
    return f"x-{content_key(raw)}" if ordinal == 1 else f"x-{content_key(raw)}-{ordinal}"


def check_id(value: Any) -> str:
    """`value`, if it can be an id: something people find again in a report, by eye and by grep. Else `RowError`."""
    if type(value) is not str:
        raise RowError(f"an id is a string, not {named(value)}", path="$.id")
    if not value:
        raise RowError("must not be empty", path="$.id", hint="leave the field out for an id made from the content")
    if not value.isprintable() and any(unicodedata.category(c) in _UNFIT for c in value):
        raise RowError("has a control character or a line break", path="$.id")
    if value[0].isspace() or value[-1].isspace():
        raise RowError("has white space at an end", path="$.id", hint="remove it")
    return value


def check_tags(value: Any) -> tuple[str, ...]:
    """Tags are a list of different, non-empty strings."""
    if type(value) is not list:
        raise RowError(f"must be a list of strings, not {named(value)}", path="$.tags")
    for index, tag in enumerate(value):
        if type(tag) is not str:
            raise RowError(f"must be a string, not {named(tag)}", path=f"$.tags[{index}]")
        if not tag or tag != tag.strip() or not tag.isprintable():
            what = "has white space at an end, or a control character" if tag else "must not be empty"
            raise RowError(what, path=f"$.tags[{index}]")
    if len(set(value)) != len(value):
        repeated = next(index for index, tag in enumerate(value) if tag in value[:index])
        raise RowError("the tag is repeated", path=f"$.tags[{repeated}]")
    return tuple(value)


#: Ids in order: shorter ones first, as numbers count.
_Key = tuple[int, str]


@frozen(slots=True)
class IdColumn:
    """What an `IdCheck` wants to know of many given ids: the lowest and the highest where each is higher than the one
    before, which is then proof enough that they differ, else a hash of eight bytes for each; and the place of the first
    that has the form of a content id."""

    bounds: tuple[_Key, _Key] | None
    hashes: bytes
    looks_derived: int | None

    @classmethod
    def of(cls, ids: Sequence[str]) -> IdColumn:
        together = "\n".join(ids)  # an id holds no line break
        derived = None
        if together.startswith("x-") or "\nx-" in together:
            derived = next((place for place, each in enumerate(ids) if _CONTENT_ID.match(each)), None)
        bounds = _bounds(ids) if together.isascii() else None
        return cls(bounds, b"" if bounds is not None else hashes_of(ids), derived)


def hashes_of(ids: Sequence[str]) -> bytes:
    together = "\n".join(ids)
    folded = together if together.isascii() else "\n".join(map(_folded, ids))
    return array("Q", map(xxhash.xxh3_64_intdigest, folded.encode().split(b"\n"))).tobytes()


def _bounds(ids: Sequence[str]) -> tuple[_Key, _Key] | None:
    """The keys of the first and the last id, if they ascend."""
    lengths = list(map(len, ids))
    keys: Sequence[Any] = ids if len(set(lengths)) == 1 else list(zip(lengths, ids, strict=True))
    if not all(map(lt, keys, islice(keys, 1, None))):
        return None
    return (lengths[0], ids[0]), (lengths[-1], ids[-1])


class IdCheck:
    """Collects what is needed to find repeated ids and repeated content.

    Two ids that differ only in Unicode normalisation count as one: they cannot be told apart on a screen, and an editor
    or a file system may turn one into the other.
    """

    __slots__ = ("_ascending", "_contents", "_given", "_highest", "_looks_derived", "_unhashed", "_without")

    def __init__(self) -> None:
        self._given = array("Q")
        self._ascending = True  # all ids so far
        self._highest: _Key = (0, "")
        self._unhashed: list[int] = []  # the first rows of runs of ids that ascend
        self._contents = array("Q")
        self._looks_derived: int | None = None
        self._without: int | None = None

    def add_given(self, sample_id: str, number: int) -> None:
        if self._looks_derived is None and sample_id.startswith("x-") and _CONTENT_ID.match(sample_id):
            self._looks_derived = number
        self._ascending = False
        self._given.append(_short_hash(sample_id))

    def add_many(self, ids: IdColumn, first: int) -> None:
        """`add_given` for rows that stand one after another, from row `first` on."""
        if ids.bounds is None:
            self._ascending = False
            self._given.frombytes(ids.hashes)
        else:
            lowest, highest = ids.bounds
            self._ascending = self._ascending and self._highest < lowest
            self._highest = highest
            self._unhashed.append(first)
        if self._looks_derived is None and ids.looks_derived is not None:
            self._looks_derived = first + ids.looks_derived

    def add_content(self, raw: bytes, number: int) -> None:
        if self._without is None:
            self._without = number
        self._contents.append(xxhash.xxh3_64_intdigest(raw))

    def mixed(self) -> tuple[int, int] | None:
        """(Number of a row whose given id has the form of a content id, number of a row without an id), if both exist:
        their ids might meet."""
        if self._looks_derived is None or self._without is None:
            return None
        return self._looks_derived, self._without

    @property
    def unhashed(self) -> frozenset[int]:
        """The first rows of the `add_many` whose hashes are wanted after all (`add_hashes`), before `suspects` can tell:
        ids ascended there, and did not everywhere."""
        return frozenset() if self._ascending else frozenset(self._unhashed)

    def add_hashes(self, hashes: bytes) -> None:
        self._given.frombytes(hashes)

    def suspects(self) -> set[int]:
        """Hashes of given ids that occur more than once."""
        return repeated(self._given)

    def repeated_contents(self) -> set[int]:
        """Hashes of the contents that several rows without an id share, for `OrdinalCounter`."""
        return repeated(self._contents)


class OrdinalCounter:
    """Numbers rows without an id that share their bytes, in the file's order; one counter a pass.

    `hashes` are those of the contents that occur more than once.
    """

    __slots__ = ("_hashes", "_seen")

    def __init__(self, hashes: set[int]) -> None:
        self._hashes = hashes
        self._seen: Counter[str] = Counter()

    def next(self, raw: bytes) -> int:
        """How many rows with these bytes there were, this one included; always 1 for content that is not repeated."""
        if xxhash.xxh3_64_intdigest(raw) not in self._hashes:
            return 1
        # By the long key: a collision of the short one must not rename a row.
        key = content_key(raw)
        self._seen[key] += 1
        return self._seen[key]


def duplicates(ids: Iterable[tuple[str, int]], suspects: set[int]) -> Iterator[tuple[int, int, str]]:
    """(Number of the row, number of the earlier row with that id, what is wrong) for each repeat in `ids`."""
    first: dict[str, tuple[str, int]] = {}
    for sample_id, number in ids:
        if _short_hash(sample_id) not in suspects:
            continue
        earlier = first.setdefault(_folded(sample_id), (sample_id, number))
        if earlier[1] == number:
            continue
        if earlier[0] == sample_id:
            yield number, earlier[1], f"the id {shorten(sample_id, 60)} is repeated"
        else:
            what = f"the id {shorten(sample_id, 60)} differs from another only in Unicode normalisation"
            yield number, earlier[1], what


def repeated(hashes: array[int]) -> set[int]:
    """The values that occur more than once. Memory beyond the array: of a small part of it at a time."""
    if len(hashes) <= _BUCKETED:
        if len(set(hashes)) == len(hashes):
            return set()
        return {value for value, count in Counter(hashes).items() if count > 1}
    buckets = [array(hashes.typecode) for _ in range(256)]
    add = [bucket.append for bucket in buckets]
    for value in hashes:
        add[value & 255](value)
    found: set[int] = set()
    for bucket in buckets:
        if len(set(bucket)) < len(bucket):
            found.update(value for value, count in Counter(bucket).items() if count > 1)
    return found


def _short_hash(sample_id: str) -> int:
    return xxhash.xxh3_64_intdigest(_folded(sample_id).encode())


def _folded(sample_id: str) -> str:
    return sample_id if sample_id.isascii() else unicodedata.normalize("NFC", sample_id)
