"""Datasets: labelled rows from files, read once, checked from end to end, identified by their bytes.

```python
dataset = RowDataset("golden.jsonl", row=GoldenRow)
snapshot = dataset.open()                 # DatasetError names file:line for whatever is wrong
for batch in snapshot.samples(1_000):     # lazy: decoded by whoever looks into it
    ...
```

`RowDataset` reads JSONL, JSON, CSV, TSV and Parquet, and any `Format` a plugin brings (`records` makes one from a
function that yields dicts). `Document` describes a JSON document with a header, `checked` adds a suite's own look at
each row. `MultiFile` adds files that belong to the revision, `Joined` puts datasets one after another, `Selected` keeps
a part. `check_file` and `problems` are what `yb-eval dataset check` says.
"""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.datasets.batch import Batch as Batch
    from yb_eval.datasets.batch import RowDecoder as RowDecoder
    from yb_eval.datasets.faults import RowError as RowError
    from yb_eval.datasets.files import DataFile as DataFile
    from yb_eval.datasets.files import MultiFile as MultiFile
    from yb_eval.datasets.format import Cells as Cells
    from yb_eval.datasets.format import Codec as Codec
    from yb_eval.datasets.format import Format as Format
    from yb_eval.datasets.format import RawRow as RawRow
    from yb_eval.datasets.format import Reader as Reader
    from yb_eval.datasets.joined import Joined as Joined
    from yb_eval.datasets.joined import join as join
    from yb_eval.datasets.json_document import Document as Document
    from yb_eval.datasets.json_document import document as document
    from yb_eval.datasets.jsonl_file import jsonl as jsonl
    from yb_eval.datasets.parquet_file import parquet as parquet
    from yb_eval.datasets.record_format import records as records
    from yb_eval.datasets.row_checks import RowCheck as RowCheck
    from yb_eval.datasets.row_checks import checked as checked
    from yb_eval.datasets.rows import RowDataset as RowDataset
    from yb_eval.datasets.rows import RowSnapshot as RowSnapshot
    from yb_eval.datasets.rows import check_file as check_file
    from yb_eval.datasets.rows import open_rows as open_rows
    from yb_eval.datasets.rows import problems as problems
    from yb_eval.datasets.select import Selected as Selected
    from yb_eval.datasets.source import Source as Source
    from yb_eval.datasets.structure import Structurer as Structurer
    from yb_eval.datasets.structure import structurer as structurer
    from yb_eval.datasets.suffixes import format_of as format_of
    from yb_eval.datasets.suffixes import formats as formats
    from yb_eval.datasets.table import csv_table as csv_table
    from yb_eval.datasets.table import tsv_table as tsv_table

__getattr__, __all__ = lazily(
    __name__,
    {
        "batch": ["Batch", "RowDecoder"],
        "joined": ["Joined", "join"],
        "row_checks": ["RowCheck", "checked"],
        "json_document": ["Document", "document"],
        "faults": ["RowError"],
        "files": ["DataFile", "MultiFile"],
        "format": ["Cells", "Codec", "Format", "RawRow", "Reader"],
        "suffixes": ["format_of", "formats"],
        "jsonl_file": ["jsonl"],
        "parquet_file": ["parquet"],
        "record_format": ["records"],
        "rows": ["RowDataset", "RowSnapshot", "check_file", "open_rows", "problems"],
        "select": ["Selected"],
        "source": ["Source"],
        "structure": ["Structurer", "structurer"],
        "table": ["csv_table", "tsv_table"],
    },
)
