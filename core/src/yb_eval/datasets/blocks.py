"""Rows of JSON Lines a block at a time: what a row costs where nothing is out of the ordinary.

A block is some whole lines, decoded in one call and checked a column at a time. It is taken only if each of its rows
would be taken by itself; about any other, `None` says that it must be read row by row, which also finds the words for
what is wrong with it.

Lines are decoded together as the items of one list, with `, 0, LF` between them. That this gives each line its own row,
and not one row for two halves, rests on this: a line feed cannot stand inside a JSON string, between the members of an
object a 0 cannot either, and no list but this one may hold anything but strings. So every 0 that was put in stands between
two rows, and if the list has as many items as that makes, no line holds more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import orjson

from yb_eval.datasets.faults import RowError
from yb_eval.datasets.identity import IdColumn, check_id, check_tags
from yb_eval.datasets.lines import feeds
from yb_eval.datasets.strict import FLAT, string_tokens

#: What belongs to the sample: a row may have these whether or not its class declares them.
SAMPLE_FIELDS = frozenset(("id", "tags"))

Rows = list[dict[str, Any]]
#: One value for each row, by key.
Columns = dict[str, list[Any]]

_STRINGS = {str}

#: Bytes decoded in one call: the parser wants twelve times as much memory, which should stay in the processor's cache.
_AT_ONCE = 2**17


def decode(block: bytes) -> Rows:
    """The rows of a block that a `BlockCheck` has taken."""
    return list(chain.from_iterable(map(_loads, _pieces(block))))


def columns(block: bytes, wanted: Mapping[str, Any]) -> Columns:
    """The values of the keys `wanted` in the rows of such a block; `wanted` says what stands where a row has none. No row
    has any other key."""
    made: Columns = {}
    for rows in map(_loads, _pieces(block)):
        extend(made, _aligned(rows, wanted, _alike(rows, sum(map(len, rows)))))
    return made


def extend(columns: Columns, more: Columns) -> None:
    """Puts the values of further rows behind those of `columns`, which may have none yet."""
    for name, values in more.items():
        columns.setdefault(name, []).extend(values)


def _aligned(rows: Rows, wanted: Mapping[str, Any], known: Columns | None) -> Columns:
    """`columns` of rows that have been decoded, where the values of some keys may be known already."""
    made: Columns = {}
    for name, default in wanted.items():
        values = known.get(name, []) if known is not None else None
        if values is None or 0 < len(values) < len(rows):
            made[name] = [row.get(name, default) for row in rows]
        else:
            made[name] = values or [default] * len(rows)
    return made


def _pieces(block: bytes) -> Iterator[bytes]:
    """Parts of a block that are whole lines."""
    start = 0
    while (end := block.find(b"\n", start + _AT_ONCE)) >= 0:
        yield block[start:end]
        start = end + 1
    yield block[start:]


def _loads(lines: bytes) -> Rows:
    rows: Rows = orjson.loads(b"[%b]" % lines.replace(b"\n", b",\n"))
    return rows


def cut(first: int, block: bytes, limit: int) -> Iterator[tuple[int, bytes, int]]:
    """(Number of the first line, lines, how many) for parts of at most `limit` lines of a block that begins with line
    `first`. Halves, and halves of halves: no line is looked at."""
    count = feeds(block) + 1
    if count <= limit:
        yield first, block, count
        return
    middle = block.find(b"\n", len(block) // 2)
    if middle < 0:
        middle = block.rfind(b"\n", 0, len(block) // 2)
    before = block[:middle]
    yield from cut(first, before, limit)
    yield from cut(first + feeds(before) + 1, block[middle + 1 :], limit)


@attrs.frozen(slots=True)
class Field:
    """What a column of a plain field may hold: values of `types`, of strings only `choices` if there are any."""

    types: frozenset[type]
    choices: frozenset[str] | None
    required: bool
    nonempty: bool
    default: Any

    def takes(self, values: Sequence[Any], types: set[type]) -> bool:
        return (
            types <= self.types
            and (self.choices is None or self.choices.issuperset(values))
            and not (self.nonempty and not all(values))
        )


def field_names(row: Any) -> frozenset[str]:
    """The fields of an attrs class that a row can fill."""
    return frozenset(field.name for field in attrs.fields(row) if field.init)


@lru_cache(maxsize=256)
def plain_fields(row: type) -> Mapping[str, Field] | None:
    """The fields of an attrs class whose instances hold what the JSON says and nothing else; `None` for a class that
    converts, validates, or has a field of any other type than str, int, bool, null and literal strings."""
    if not attrs.has(row) or hasattr(row, "__attrs_post_init__") or hasattr(row, "__attrs_pre_init__"):
        return None
    try:
        attrs.resolve_types(row)
    except NameError:
        return None
    fields = {}
    for each in attrs.fields(row):
        types, choices = _allowed(each.type)
        default = each.default
        absent = default is attrs.NOTHING or type(default) in FLAT
        if not types or not absent or each.converter or each.validator or not each.init or each.alias != each.name:
            return None
        required = default is attrs.NOTHING
        nonempty = required and each.type is str and not each.metadata.get("may_be_empty")
        fields[each.name] = Field(types, choices, required, nonempty, None if required else default)
    return fields


def _allowed(kind: Any) -> tuple[frozenset[type], frozenset[str] | None]:
    """The types, and the strings if not all, that a field declared as `kind` takes; no types where that is not plain."""
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        plain = all(type(choice) is str for choice in choices)
        return (frozenset({str}), frozenset(choices)) if plain else (frozenset(), None)
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return (frozenset(members), None) if FLAT.issuperset(members) else (frozenset(), None)


@attrs.frozen(slots=True)
class CheckedBlock:
    """What is known of a good block: how many rows it has, what there is to know of their ids, and its columns where they
    are wanted."""

    count: int
    ids: IdColumn
    columns: Columns | None


@attrs.frozen(slots=True)
class BlockCheck:
    """Checks blocks against a plain class's `fields` (`None`: rows of any keys, of which `required` must be there and
    filled). Every row must have an id."""

    fields: Mapping[str, Field] | None
    required: tuple[str, ...] = ()

    def __call__(self, block: bytes, wanted: Mapping[str, Any] | None = None) -> CheckedBlock | None:
        """The block, if it is entirely right and plain; with the columns `wanted`, as `columns` gives them."""
        ids: list[str] = []
        made: Columns = {}
        for lines in _pieces(block):
            rows = _plain(lines)
            if rows is None:
                return None
            found = self._columns(lines, rows)
            if found is None:
                return None
            ids += found["id"]
            if wanted is not None:
                extend(made, _aligned(rows, wanted, found))
        return CheckedBlock(len(ids), IdColumn.of(ids), None if wanted is None else made)

    def _columns(self, lines: bytes, rows: Rows) -> Columns | None:
        """The values of every key that occurs, in the order of the rows that have it; `None` if anything is wrong."""
        strings = sum(map(len, rows))
        found = _alike(rows, strings) or _each(rows)
        for name, values in found.items():
            types = set(map(type, values))
            if FLAT.issuperset(types):
                strings += len(values) if types == _STRINGS else list(map(type, values)).count(str)
            elif name == "tags" and types == {list}:
                strings += sum(map(len, values))
            else:
                return None
            if not self._takes(name, values, types, len(rows)):
                return None
        # A repeated key is a string that was read and is not there: see `strict`.
        return found if "id" in found and string_tokens(lines) == strings and self._complete(rows) else None

    def _takes(self, name: str, values: list[Any], types: set[type], count: int) -> bool:
        if name == "id" and not (len(values) == count and types == {str} and _good_ids(values)):
            return False
        if name == "tags" and not (types == {list} and _good_tags(values)):
            return False
        if self.fields is None:
            return name not in self.required or not (None in values or "" in values)
        field = self.fields.get(name)
        if field is None:
            return name in SAMPLE_FIELDS
        return field.takes(values, types) and (len(values) == count or not field.required)

    def _complete(self, rows: Rows) -> bool:
        """Whether nothing is missing altogether; what some rows lack has been seen."""
        names = self.required if self.fields is None else [n for n, field in self.fields.items() if field.required]
        return all(name in row for row in (rows if self.fields is None and names else rows[:1]) for name in names)


def _each(rows: Rows) -> Columns:
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row[name] for row in rows if name in row] for name in names}


def _alike(rows: Rows, keys: int) -> Columns | None:
    """The values of every key, if all rows have the same; `keys` is how many they have together."""
    if keys == len(rows) * len(rows[0]):
        with suppress(KeyError):
            return {name: list(map(itemgetter(name), rows)) for name in rows[0]}
    return None


def _plain(lines: bytes) -> Rows | None:
    """The rows of lines that are objects; what they hold is not checked yet."""
    joined = b"[%b]" % lines.replace(b"\n", b",0,\n")
    between = (len(joined) - len(lines) - 2) // 3
    try:
        rows: Rows = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None
    # Between the rows there may be nothing but what was put in: a list there could hold half of each of two lines.
    if len(rows) != 2 * between + 1 or any(rows[1::2]):
        return None
    del rows[1::2]
    return rows if set(map(type, rows)) == {dict} else None


def _good_ids(ids: list[str]) -> bool:
    if not all(ids):
        return False
    together = "".join(ids)
    if together.isprintable() and " " not in together:  # the only white space that is printable
        return True
    try:
        for each in ids:
            check_id(each)
    except RowError:
        return False
    return True


def _good_tags(lists: list[list[Any]]) -> bool:
    if set(map(type, chain.from_iterable(lists))) - {str}:
        return False
    try:
        for tags in set(map(tuple, lists)):
            check_tags(list(tags))
    except RowError:
        return False
    return True
