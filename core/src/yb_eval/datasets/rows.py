"""A file of labelled rows as a dataset.

Opening reads the file from end to end and checks all of it: encoding, syntax, structure, ids. Nothing is kept but
counts and eight bytes a row. `samples()` then reads the same bytes again, and decodes them lazily.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from attrs import define, evolve, field, frozen

from yb_eval.collecting import seldom
from yb_eval.datasets.batch import BATCH_BYTES, Batch, Checked, RowDecoder, batches
from yb_eval.datasets.block_work import Ahead, BlockWork
from yb_eval.datasets.blocks import SAMPLE_FIELDS, BlockCheck, CheckedBlock, Columns, decode, extend, field_names
from yb_eval.datasets.faults import RowError
from yb_eval.datasets.format import BlockReader, Format, RawRow, Reader
from yb_eval.datasets.identity import IdCheck, OrdinalCounter, duplicates, hashes_of
from yb_eval.datasets.lines import feeds
from yb_eval.datasets.source import MEMORY_LIMIT, Source, normalised
from yb_eval.datasets.suffixes import format_of
from yb_eval.digest import revision_id
from yb_eval.errors import DatasetError, EvaluationError
from yb_eval.model import FileDigest, Sample

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


#: Rows of at most this many bytes together are kept decoded between the check and the first use.
KEPT_BYTES = 4 << 20


@define(slots=True)
class RowSnapshot:
    """The checked rows of one file; see `yb_eval.interfaces.Snapshot`.

    `header` is what the file says beside its rows: a document's other fields, structured if its format has a class for
    them; `None` for formats that have nothing there.
    """

    id: str
    revision_id: str
    count: int
    files: Sequence[FileDigest]
    notes: Sequence[str]
    header: Any
    _source: Source = field(repr=False)
    _reader: Reader = field(repr=False)
    _decoder: RowDecoder = field(repr=False)
    _repeated: set[int] = field(repr=False)
    _kept: list[Checked] | None = field(repr=False, default=None)
    _by_block: bool = field(repr=False, default=False)
    _kept_columns: Columns | None = field(repr=False, default=None)

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        """Lazy batches of at most `batch_size` samples, or of 8 MiB; see `Batch` and `BlockBatch`."""
        if batch_size < 1:
            raise ValueError(f"a batch has at least one sample, not {batch_size}")
        return self._blocks(batch_size) if self._by_block else self._batches(batch_size)

    def _blocks(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        kept, self._kept_columns = self._kept_columns, None  # given away once, as below
        done = 0
        for number, block in cast(BlockReader, self._reader).blocks() or ():
            count = feeds(block) + 1
            columns = kept and {name: values[done : done + count] for name, values in kept.items()}
            yield from batches(self._decoder, number, block, count, batch_size, columns)
            done += count

    def _batches(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        counter = OrdinalCounter(self._repeated) if self._repeated else None
        # What was kept of the check is given away once: who changes a row must not find it changed the next time.
        kept, self._kept = self._kept, None
        rows: list[RawRow] = []
        ordinals: dict[int, int] = {}
        size = done = 0
        for row in self._reader.rows():
            if counter is not None and (ordinal := counter.next(row[1])) > 1:
                ordinals[len(rows)] = ordinal
            rows.append(row)
            size += len(row[1])
            if len(rows) == batch_size or size >= BATCH_BYTES:
                yield self._batch(rows, ordinals, kept and kept[done : done + len(rows)])
                done += len(rows)
                rows, ordinals, size = [], {}, 0
        if rows:
            yield self._batch(rows, ordinals, kept and kept[done : done + len(rows)])

    def _batch(self, rows: list[RawRow], ordinals: dict[int, int], kept: list[Checked] | None) -> Batch:
        if kept is None:
            return Batch(self._decoder, rows, ordinals)
        sample = self._decoder.sample
        made = [sample(row, said, ordinals.get(i, 1)) for i, (row, said) in enumerate(zip(rows, kept, strict=True))]
        return Batch(self._decoder, rows, ordinals, made)

    def normalised_files(self) -> list[FileDigest]:
        """The file's digest with every CRLF as LF."""
        return [normalised(self._source.raw(), file.role) for file in self.files]

    def normalised_revision(self) -> str:
        """The revision that a file with LF line ends would have. Two revisions that differ while these agree differ in
        line ends only."""
        return revision_id(self.normalised_files())


class OrderedMap(Protocol):
    """What spreads the check of a large file: an executor (`yb_eval.executors`)."""

    @property
    def jobs(self) -> int: ...

    def map(self, work: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]: ...


@frozen(slots=True, kw_only=True)
class RowDataset:
    """A dataset in one file of rows.

    `path` is a file, a package's resource (`importlib.resources.files(...) / "rows.jsonl"`), or `-` for standard input.
    `row` is the attrs class that rows become (`None`: they stay dicts). Every row may have an `id` and `tags`; a class
    that does not declare them need not know. `dataset_id` is the name in reports: by default what the file calls
    itself, or its name without suffixes. `format` overrides what the suffix says, `formats` is what suffixes are looked
    up in. `required` names fields that rows without a class must have, not null and not empty. `executor`, where given,
    checks the blocks of a large JSON Lines file; what is found is the same.
    """

    path: str | Path | Traversable = field(kw_only=False)
    row: type | None = None
    dataset_id: str | None = None
    role: str = "rows"
    format: Format | None = None
    formats: Mapping[str, Format] | None = None
    required: tuple[str, ...] = field(default=(), converter=tuple)
    memory_limit: int = MEMORY_LIMIT
    executor: OrderedMap | None = field(default=None, eq=False, repr=False)

    @property
    def fields(self) -> frozenset[str] | None:
        """The names a filter may use; `None` where any field may occur."""
        return None if self.row is None else field_names(self.row) | SAMPLE_FIELDS

    def open(self, ahead: Ahead | None = None) -> RowSnapshot:
        """As `yb_eval.interfaces.Dataset` has it. `ahead` is handed the rows of a JSON Lines file as they are found right,
        where they can be read by blocks; whether all of them were handed over, it can tell by their number."""
        check = self._check(ahead)
        with seldom():
            for fault in check.faults():
                raise fault
        return check.snapshot()

    def examine(self, *, limit: int | None = None) -> tuple[RowSnapshot | None, list[DatasetError]]:
        """The snapshot of a good file, or up to `limit` things that are wrong: in the file's order as far as it can be
        read, repeated ids at the end. Reads the file once."""
        try:
            check = self._check()
        except DatasetError as error:
            return None, [error]
        found = list(islice(check.faults(), limit))
        return (None if found else check.snapshot()), found

    def _check(self, ahead: Ahead | None = None) -> _Check:
        chosen = self.format or format_of(str(self.path), self.formats)
        source = Source.open(self.path, memory_limit=self.memory_limit)
        reader = chosen(source)
        return _Check(self, source, reader, ahead)


class _Check:
    """One reading of a file from end to end, and what is known after it."""

    def __init__(self, dataset: RowDataset, source: Source, reader: Reader, ahead: Ahead | None) -> None:
        self._dataset = dataset
        self._ahead = ahead
        self._source = source
        self._reader = reader
        self._decoder = RowDecoder(reader.codec, dataset.row, reader.numbered, dataset.required)
        self._ids = IdCheck()
        self._count = 0
        self._seen = False
        #: What the rows say, while they are few: reading a small file a second time would cost as much as the first.
        self._kept: list[Checked] | None = []
        self._kept_columns: Columns | None = None
        self._kept_bytes = 0
        #: Whether the whole file could be read by blocks.
        self._by_block = False

    def faults(self) -> Iterator[DatasetError]:
        """What is wrong, as it is found; the file is good if this ends without having yielded."""
        try:
            yield from self._faults_of_rows()
            yield from self._faults_of_ids()
        except DatasetError as error:
            # The file cannot be read or cut any further.
            yield error

    def _faults_of_rows(self) -> Iterator[DatasetError]:
        blocks = getattr(self._reader, "blocks", None)
        check = self._decoder.block_check() if blocks is not None else None
        found = blocks() if check is not None and blocks is not None else None
        if check is None or found is None:
            yield from self._faults_among(self._reader.rows())
        else:
            yield from self._faults_of_blocks(check, found)
        if not self._seen:
            size = self._source.digest(self._dataset.role).size
            yield DatasetError("no rows" if size else "an empty file", where=self._source.name)

    def _faults_of_blocks(self, check: BlockCheck, blocks: Iterator[tuple[int, bytes]]) -> Iterator[DatasetError]:
        self._by_block = True
        for number, block, taken in self._taken(check, blocks):
            self._kept = None
            if taken is None:
                self._by_block = False
                yield from self._faults_among(cast(BlockReader, self._reader).cut(number, block))
                continue
            self._seen = True
            self._ids.add_many(taken.ids, number)
            self._count += taken.count
            if self._still_few(len(block)) and self._by_block and taken.columns is not None:
                self._kept_columns = self._kept_columns or {}
                extend(self._kept_columns, taken.columns)

    def _taken(
        self, check: BlockCheck, blocks: Iterator[tuple[int, bytes]]
    ) -> Iterator[tuple[int, bytes, CheckedBlock | None]]:
        """Each block with what its check says, made here or, where the file is large, by the dataset's executor."""
        ahead, executor = self._ahead, self._dataset.executor
        here = executor is None or executor.jobs == 1 or not self._source.large
        if here and executor is not None and executor.jobs > 1:
            ahead = None  # all of the work would be done here
        work = BlockWork(check, self._decoder)
        if ahead is not None:
            work = BlockWork(check, self._decoder, ahead.work, ahead.batch_size)
        few = evolve(work, keep=ahead is None)
        waiting: deque[tuple[int, bytes]] = deque()

        def handed_out() -> Iterator[tuple[int, bytes]]:
            for item in blocks:
                waiting.append(item)
                yield item

        done: Iterator[tuple[CheckedBlock | None, list[Any] | None]]
        if executor is None or here:
            done = ((few if self._kept_bytes <= KEPT_BYTES else work)(item) for item in handed_out())
        else:
            done = executor.map(work, handed_out())
        try:
            for taken, results in done:
                wanted = ahead is None or ahead.take(results)
                yield (*waiting.popleft(), taken)
                if not wanted:
                    break
            else:
                return
        except EvaluationError:
            if ahead is None:
                raise
            ahead.take(None)  # a worker died of the work, as it may be: the evaluation will meet it again
        finally:
            close = getattr(done, "close", None)
            if close is not None:
                close()
        self._ahead = None
        self._kept_bytes += KEPT_BYTES  # nothing was kept of the blocks so far, so nothing is of the rest
        yield from self._taken(check, chain(waiting, blocks))

    def _faults_among(self, rows: Iterator[RawRow]) -> Iterator[DatasetError]:
        check = self._decoder.checker()
        ids = self._ids
        self._kept_columns = None
        for number, raw in rows:
            self._seen = True
            try:
                checked = check(raw)
            except RowError as error:
                yield self._located(number, error)
                continue
            if checked[0] is None:
                ids.add_content(raw, number)
            else:
                ids.add_given(checked[0], number)
            self._count += 1
            if self._still_few(len(raw)) and self._kept is not None:
                self._kept.append(checked)

    def _still_few(self, size: int) -> bool:
        """Counts bytes of rows, and lets go of what is kept when they are too many to keep."""
        self._kept_bytes += size
        if self._kept_bytes > KEPT_BYTES:
            self._kept = self._kept_columns = None
        return self._kept_bytes <= KEPT_BYTES

    def snapshot(self) -> RowSnapshot:
        dataset, reader = self._dataset, self._reader
        repeated = self._ids.repeated_contents()
        notes = list(reader.notes)
        if repeated:
            notes.append(f"{self._source.name}: {len(repeated)} row(s) without an id occur more than once")
        file = self._source.digest(dataset.role)
        return RowSnapshot(
            id=dataset.dataset_id or reader.dataset_id or _stem(self._source.name),
            revision_id=revision_id([file]),
            count=self._count,
            files=[file],
            notes=notes,
            header=reader.header,
            source=self._source,
            reader=reader,
            decoder=self._decoder,
            repeated=repeated,
            kept=self._kept,
            by_block=self._by_block,
            kept_columns=self._kept_columns,
        )

    def _faults_of_ids(self) -> Iterator[DatasetError]:
        mixed = self._ids.mixed()
        if mixed is not None:
            looks, without = mixed
            yield DatasetError(
                "an id in the form of a content id, in a file that has rows without an id "
                f"({self._reader.where(without)}): the two might meet",
                where=self._reader.where(looks, path="$.id"), hint="give every row an id, or another form",
            )  # fmt: skip
        self._hash_the_rest()
        suspects = self._ids.suspects()
        if suspects:
            for number, earlier, what in duplicates(self._given_ids(), suspects):
                first = self._reader.where(earlier)
                yield DatasetError(f"{what}; it is first at {first}", where=self._reader.where(number, path="$.id"))

    def _hash_the_rest(self) -> None:
        unhashed = self._ids.unhashed
        if unhashed:
            for number, block in cast(BlockReader, self._reader).blocks() or ():
                if number in unhashed:
                    self._ids.add_hashes(hashes_of([row["id"] for row in decode(block)]))

    def _given_ids(self) -> Iterator[tuple[str, int]]:
        check = self._decoder.checker()
        for number, raw in self._reader.rows():
            try:
                sample_id, _, _ = check(raw)
            except RowError:
                continue
            if sample_id is not None:
                yield sample_id, number

    def _located(self, number: int, error: RowError) -> DatasetError:
        where = self._reader.where(number, line=error.line, path=error.path)
        start = self._reader.offset(number) if error.byte is not None else None
        place = "" if start is None or error.byte is None else f", byte {start + error.byte}"
        return DatasetError(error.what + place, where=where, hint=error.hint)


def open_rows(path: str | Path | Traversable, **options: Any) -> RowSnapshot:
    """Opens a file of rows: `RowDataset(path, **options).open()`."""
    return RowDataset(path, **options).open()


def check_file(path: str | Path, row: type | None = None, **options: Any) -> RowSnapshot:
    """Checks a file from end to end and returns what it is. Raises `DatasetError` for the first thing that is wrong."""
    return RowDataset(path, row=row, **options).open()


def problems(path: str | Path, *, limit: int = 20, row: type | None = None, **options: Any) -> list[DatasetError]:
    """Up to `limit` things that are wrong with a file; none for a good one."""
    return RowDataset(path, row=row, **options).examine(limit=limit)[1]


def _stem(name: str) -> str:
    base = name.replace("\\", "/").rpartition("/")[2]
    if base == "<stdin>":
        return "stdin"
    base = base.removesuffix(".gz")
    stem, _, suffix = base.rpartition(".")
    return stem if stem and suffix else base
