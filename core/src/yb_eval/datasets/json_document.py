"""JSON documents: a list of rows, or an object that names the list beside a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval.datasets import strict
from yb_eval.datasets.faults import RowError, named, step
from yb_eval.datasets.format import Cells, RawRow
from yb_eval.datasets.source import Source
from yb_eval.errors import DatasetError

SIZE_LIMIT = 8 * 2**20
SAMPLE_LIMIT = 1_000_000


@frozen(slots=True)
class ItemCodec:
    """A row that was read strictly as a part of its document."""

    cells: Cells = "json"

    def check(self, raw: bytes) -> dict[str, Any]:
        row: Any = orjson.loads(raw)
        if type(row) is not dict:
            raise RowError(f"a row is a JSON object, not {named(row)}")
        return row

    def decode(self, raw: bytes) -> dict[str, Any]:
        row: dict[str, Any] = orjson.loads(raw)
        return row


@frozen(slots=True)
class DocumentReader:
    """Rows are numbered from 0, as in the JSON path that messages give: `$.samples[3]`."""

    name: str
    path: str
    items: Sequence[bytes] = field(repr=False)
    header: Any
    dataset_id: str | None
    notes: Sequence[str] = ()
    codec: ItemCodec = ItemCodec()
    numbered: bool = False

    def rows(self) -> Iterator[RawRow]:
        return enumerate(self.items)

    def where(self, number: int, *, line: int = 1, path: str = "$") -> str:
        return f"{self.name}: {step(self.path, number)}{path.removeprefix('$')}"

    def offset(self, number: int) -> int | None:
        return None


@frozen(slots=True, kw_only=True)
class Document:
    """The format of a kind of JSON document.

    `rows` is the field that holds the list of rows. `header`, an attrs class, structures and checks all other fields;
    without it they can be anything. A `dataset_id` among them names the dataset. `bare` also takes a list without a
    header. A document is read whole: `size_limit` (bytes) and `sample_limit` are the most it may have, both inclusive.
    """

    rows: str = "samples"
    header: type | None = None
    bare: bool = False
    size_limit: int = SIZE_LIMIT
    sample_limit: int = SAMPLE_LIMIT

    def __call__(self, source: Source) -> DocumentReader:
        """Raises `DatasetError`, naming the JSON path, for a document that is not entirely right."""
        from yb_eval.datasets.structure import structurer  # cattrs is not quick to import

        content = source.read(self.size_limit)
        bom = content.startswith(strict.BOM)
        if bom:
            content = content[len(strict.BOM) :]
        if not content.strip():
            raise DatasetError("an empty file", where=source.name)
        try:
            path, items, header = self._parts(strict.loads(content))
            made = structurer(self.header).structure(header) if self.header is not None else header
            dataset_id = header.get("dataset_id")
            if dataset_id is not None and (type(dataset_id) is not str or not dataset_id):
                raise RowError("must be a string that is not empty", path="$.dataset_id")
        except RowError as error:
            line = f":{error.line}" if error.path == "$" and error.line > 1 else ""
            place = f"{source.name}{line}" if error.path == "$" else f"{source.name}: {error.path}"
            raise DatasetError(error.what, where=place, hint=error.hint) from None
        if len(items) > self.sample_limit:
            what = f"{len(items):,} rows; the limit is {self.sample_limit:,}"
            raise DatasetError(what, where=f"{source.name}: {path}")
        # Fields keep the document's order; its white space enters no content id.
        packed = [orjson.dumps(item) for item in items]
        notes = [f"{source.name}: skipped the byte-order mark at the start"] if bom else []
        return DocumentReader(source.name, path, packed, made, dataset_id, notes)

    def _parts(self, value: Any) -> tuple[str, list[Any], dict[str, Any]]:
        """The path of the list of rows, the list, and the fields beside it."""
        if self.bare and type(value) is list:
            return "$", value, {}
        if type(value) is not dict:
            kinds = "a list of rows or an object" if self.bare else "an object"
            raise RowError(f"the document must be {kinds}, not {named(value)}")
        path = step("$", self.rows)
        if self.rows not in value:
            raise RowError("missing field", path=path, hint="the list of rows")
        items = value[self.rows]
        if type(items) is not list:
            raise RowError(f"must be a list, not {named(items)}", path=path)
        return path, items, {key: item for key, item in value.items() if key != self.rows}


#: The format of `.json` files: a list of rows, or an object with `samples` and any other fields.
document = Document(bare=True)
