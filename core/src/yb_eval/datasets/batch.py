"""Batches of samples that are decoded where they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

from attrs import frozen

from yb_eval.batches import SampleBatch
from yb_eval.datasets import blocks
from yb_eval.datasets.blocks import SAMPLE_FIELDS, BlockCheck
from yb_eval.datasets.faults import RowError
from yb_eval.datasets.format import Cells, Codec, RawRow
from yb_eval.datasets.identity import check_id, check_tags, content_id
from yb_eval.model import Sample

#: The bytes of rows at which a batch is closed, however few rows it has.
BATCH_BYTES = 8 * 2**20

#: What a checked row says: the id it gives itself, if any; the row as the suite reads it; its tags.
Checked: TypeAlias = tuple[str | None, Any, tuple[str, ...]]


#: What the columns of samples hold where a row says nothing.
_OF_SAMPLES: Mapping[str, Any] = {"id": None, "tags": ()}


@frozen(slots=True)
class RowDecoder:
    """Makes samples of rows. Small, stateless and picklable (the row class must be importable).

    `row` is the attrs class of the data, `None` for the dict itself; `numbered` is whether row numbers are lines;
    `required` are fields that must be there and not be empty.
    """

    codec: Codec
    row: type | None = None
    numbered: bool = True
    required: tuple[str, ...] = ()

    def checker(self) -> Callable[[bytes], Checked]:
        """A function of a row's bytes that returns what the row says, and raises `RowError` for everything that is
        wrong with it."""
        read = self.codec.check
        normalise = _NORMALISE[self.codec.cells]
        required = self.required
        structure = self._structure()

        def check(raw: bytes) -> Checked:
            data = read(raw)
            if normalise is not None:
                normalise(data)
            if "tags" in data:
                check_tags(data["tags"])
            sample_id = check_id(data["id"]) if "id" in data else None
            for name in required:
                if data.get(name) in (None, ""):
                    raise RowError("must not be empty" if data.get(name) == "" else "missing field", path=f"$.{name}")
            made = structure(data) if structure is not None else data
            return sample_id, made, tuple(data["tags"]) if "tags" in data else ()

        return check

    def sample(self, row: RawRow, checked: Checked, ordinal: int = 1) -> Sample:
        """The sample of a row that has been checked; `ordinal` counts rows with the same content."""
        number, raw = row
        sample_id, made, tags = checked
        return Sample(sample_id or content_id(raw, ordinal), made, tags, number if self.numbered else None)

    def samples(self, rows: Sequence[RawRow], ordinals: Mapping[int, int]) -> list[Sample]:
        """One sample for each row; `ordinals` maps the index of a row with repeated content to its ordinal."""
        decode = self.codec.decode
        normalise = _NORMALISE[self.codec.cells]
        structure = self._structure()
        numbered = self.numbered
        samples = []
        for index, (number, raw) in enumerate(rows):
            data = decode(raw)
            if normalise is not None:
                normalise(data)
            sample_id = data["id"] if "id" in data else content_id(raw, ordinals.get(index, 1))
            tags = tuple(data["tags"]) if "tags" in data else ()
            made = structure(data) if structure is not None else data
            samples.append(Sample(sample_id, made, tags, number if numbered else None))
        return samples

    def block_check(self) -> BlockCheck | None:
        """What checks many rows of JSON Lines at once; `None` where each must be looked at by itself."""
        fields = blocks.plain_fields(self.row) if self.row is not None else None
        return BlockCheck(fields, self.required) if fields is not None or self.row is None else None

    def wanted(self) -> Mapping[str, Any] | None:
        """What is wanted of the rows of blocks that the check has taken: the keys, and what stands where there is none.
        `None` where that is all that they hold."""
        fields = blocks.plain_fields(self.row) if self.row is not None else None
        return None if fields is None else {**_OF_SAMPLES, **{name: each.default for name, each in fields.items()}}

    def _structure(self) -> Callable[[dict[str, Any]], Any] | None:
        if self.row is None:
            return None
        from yb_eval.datasets.structure import structurer  # cattrs is not quick to import, and blocks do without

        return structurer(self.row, self.codec.cells, ignored=SAMPLE_FIELDS).structure


def _without_blanks(data: dict[str, Any]) -> None:
    """Makes a table's absent `id` and `tags` look like those of a JSON row."""
    for name in SAMPLE_FIELDS:
        if name in data and (data[name] is None or data[name] == ""):
            del data[name]


def _from_text(data: dict[str, Any]) -> None:
    _without_blanks(data)
    if "tags" in data:
        data["tags"] = [tag.strip() for tag in data["tags"].split(";")]


_NORMALISE: Mapping[Cells, Callable[[dict[str, Any]], None] | None] = {
    "json": None,
    "text": _from_text,
    "columns": _without_blanks,
}


class Batch(Sequence[Sample]):
    """Samples as the bytes of their rows, decoded when first looked into.

    Pickles as bytes, decoded or not: a worker process does the parsing.
    """

    __slots__ = ("_decoder", "_ordinals", "_rows", "_samples")

    def __init__(
        self,
        decoder: RowDecoder,
        rows: Sequence[RawRow],
        ordinals: Mapping[int, int],
        samples: list[Sample] | None = None,
    ) -> None:
        self._decoder = decoder
        self._rows = rows
        self._ordinals = ordinals
        self._samples = samples

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._decoded())

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        return self._decoded()[index]

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} samples>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Batch, (self._decoder, self._rows, self._ordinals))

    def take(self, indices: Sequence[int]) -> Batch:
        """The batch of the samples at `indices`, still undecoded."""
        ordinals = {new: self._ordinals[old] for new, old in enumerate(indices) if old in self._ordinals}
        return Batch(self._decoder, [self._rows[index] for index in indices], ordinals)

    def _decoded(self) -> list[Sample]:
        if self._samples is None:
            self._samples = self._decoder.samples(self._rows, self._ordinals)
        return self._samples


class BlockBatch(SampleBatch):
    """Samples as whole lines of JSON Lines that a `BlockCheck` has taken, decoded together when first looked into.

    Pickles as the lines. `columns`, where they are still at hand, are what `RowDecoder.wanted` wants of them.
    """

    __slots__ = ("_block", "_columns", "_count", "_decoder", "_first", "_repeat", "_rows", "_samples")

    def __init__(
        self,
        decoder: RowDecoder,
        first: int,
        block: bytes,
        count: int,
        repeat: int = 0,
        columns: blocks.Columns | None = None,
    ) -> None:
        """`count` lines, the first of which is number `first`."""
        self._decoder = decoder
        self._first = first
        self._block = block
        self._count = count
        self._repeat = repeat
        self._rows: blocks.Rows | None = None
        self._columns = columns
        self._samples: list[Sample] | None = None

    @property
    def ids(self) -> list[str]:
        return self._read()["id"]

    @property
    def tags(self) -> list[tuple[str, ...]]:
        tags = self._read()["tags"]
        return list(map(tuple, tags)) if any(tags) else [()] * self._count

    @property
    def repeat(self) -> int:
        return self._repeat

    def column(self, name: str) -> list[Any]:
        if self._decoder.row is None:
            return [row[name] for row in self._decoded()]
        return self._read()[name]

    def again(self, repeat: int) -> BlockBatch:
        return BlockBatch(self._decoder, self._first, self._block, self._count, repeat, self._columns)

    def take(self, indices: Sequence[int]) -> Batch:
        """The batch of the samples at `indices`, still undecoded."""
        lines = self._block.split(b"\n")
        return Batch(self._decoder, [(self._first + index, lines[index]) for index in indices], {})

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._made())

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        return self._made()[index]

    def __repr__(self) -> str:
        return f"<BlockBatch of {len(self)} samples>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (BlockBatch, (self._decoder, self._first, self._block, self._count, self._repeat))

    def _decoded(self) -> blocks.Rows:
        if self._rows is None:
            self._rows = blocks.decode(self._block)
        return self._rows

    def _read(self) -> blocks.Columns:
        """The columns of what every sample has and, where the data have a class, of its fields."""
        if self._columns is None:
            wanted = self._decoder.wanted()
            if wanted is not None:
                self._columns = blocks.columns(self._block, wanted)
            else:
                rows = self._decoded()
                self._columns = {name: [row.get(name, none) for row in rows] for name, none in _OF_SAMPLES.items()}
        return self._columns

    def _made(self) -> list[Sample]:
        if self._samples is None:
            numbers: Sequence[int | None] = range(self._first, self._first + self._count)
            if not self._decoder.numbered:
                numbers = [None] * self._count
            repeats = [self._repeat] * self._count
            self._samples = list(map(Sample, self.ids, self._data(), self.tags, numbers, repeats))
        return self._samples

    def _data(self) -> Sequence[Any]:
        row = self._decoder.row
        if row is None:
            return self._decoded()
        names = list(blocks.plain_fields(row) or ())
        if not names:
            return [row() for _ in range(self._count)]
        columns = map(self.column, names)
        return [row(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]


def batches(
    decoder: RowDecoder, number: int, block: bytes, count: int, limit: int, columns: blocks.Columns | None = None
) -> Iterator[BlockBatch]:
    """A block of `count` lines that the check has taken, and its columns if they are known, as batches of at most `limit`
    samples."""
    if count <= limit:
        yield BlockBatch(decoder, number, block, count, columns=columns)
        return
    done = 0
    for first, lines, count in blocks.cut(number, block, limit):
        part = columns and {name: values[done : done + count] for name, values in columns.items()}
        yield BlockBatch(decoder, first, lines, count, columns=part)
        done += count
