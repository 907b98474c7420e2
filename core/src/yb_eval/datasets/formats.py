"""Which format a file has: its suffix says."""

from __future__ import annotations

from collections.abc import Mapping

from yb_eval.datasets.document import document
from yb_eval.datasets.format import Format
from yb_eval.datasets.jsonl import jsonl
from yb_eval.datasets.parquet import parquet
from yb_eval.datasets.table import csv_table, tsv_table
from yb_eval.errors import DatasetError, nearest


def formats() -> dict[str, Format]:
    """The formats core brings, by suffix: what its `yb_eval_dataset_formats` hook offers."""
    return {
        ".jsonl": jsonl,
        ".ndjson": jsonl,
        ".json": document,
        ".csv": csv_table,
        ".tsv": tsv_table,
        ".parquet": parquet,
    }


def format_of(name: str, known: Mapping[str, Format] | None = None) -> Format:
    """The format of the file called `name`: by its suffix, the one before `.gz` if it is compressed. Standard input is
    JSONL. Raises `DatasetError` for a suffix that is not known."""
    choices = formats() if known is None else known
    if name in ("-", "<stdin>"):
        return choices.get(".jsonl", jsonl)
    base = name.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".gz")
    # The longest first: a plugin may offer `.labels.json`.
    for suffix in sorted(choices, key=len, reverse=True):
        if base.endswith(suffix.lower()):
            return choices[suffix]
    _, dot, suffix = base.rpartition(".")
    hint = nearest(dot + suffix, choices) if dot else "known: " + ", ".join(sorted(choices))
    raise DatasetError("not a kind of file that can be read as a dataset", where=name, hint=hint)
