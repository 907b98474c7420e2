"""Datasets: labelled rows from files, read once, checked from end to end, identified by their bytes.

```python
dataset = RowDataset("golden.jsonl", row=GoldenRow)
snapshot = dataset.open()                 # DatasetError names file:line for whatever is wrong
for batch in snapshot.samples(1_000):     # lazy: decoded by whoever looks into it
    ...
```

`RowDataset` reads JSONL, JSON, CSV, TSV and Parquet, and any `Format` a plugin brings (`records` makes one from a
function that yields dicts). `Document` describes a JSON document with a header. `MultiFile` adds files that belong to
the revision, `Selected` keeps a part. `check_file` and `problems` are what `yb-eval dataset check` says.
"""

from yb_eval.datasets.batch import Batch, RowDecoder
from yb_eval.datasets.document import Document, document
from yb_eval.datasets.faults import RowError
from yb_eval.datasets.files import DataFile, MultiFile
from yb_eval.datasets.format import Cells, Codec, Format, RawRow, Reader
from yb_eval.datasets.formats import format_of, formats
from yb_eval.datasets.jsonl import jsonl
from yb_eval.datasets.parquet import parquet
from yb_eval.datasets.records import records
from yb_eval.datasets.rows import RowDataset, RowSnapshot, check_file, open_rows, problems
from yb_eval.datasets.select import Selected
from yb_eval.datasets.source import Source
from yb_eval.datasets.structure import Structurer, structurer
from yb_eval.datasets.table import csv_table, tsv_table

__all__ = [
    "Batch",
    "Cells",
    "Codec",
    "DataFile",
    "Document",
    "Format",
    "MultiFile",
    "RawRow",
    "Reader",
    "RowDataset",
    "RowDecoder",
    "RowError",
    "RowSnapshot",
    "Selected",
    "Source",
    "Structurer",
    "check_file",
    "csv_table",
    "document",
    "format_of",
    "formats",
    "jsonl",
    "open_rows",
    "parquet",
    "problems",
    "records",
    "structurer",
    "tsv_table",
]
