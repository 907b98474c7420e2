"""Which format a file has: its suffix says."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from yb_eval.datasets.format import Format, Reader
from yb_eval.datasets.source import Source
from yb_eval.errors import DatasetError, nearest


def _lazy(module: str, name: str) -> Format:
    """The format `name` of a module of this package, imported when a file is read with it."""

    def read(source: Source) -> Reader:
        reader: Reader = getattr(import_module(f"yb_eval.datasets.{module}"), name)(source)
        return reader

    read.__name__ = read.__qualname__ = name
    return read


_FORMATS = {
    ".jsonl": _lazy("jsonl_file", "jsonl"),
    ".ndjson": _lazy("jsonl_file", "jsonl"),
    ".json": _lazy("json_document", "document"),
    ".csv": _lazy("table", "csv_table"),
    ".tsv": _lazy("table", "tsv_table"),
    ".parquet": _lazy("parquet_file", "parquet"),
}


def formats() -> dict[str, Format]:
    """The formats core brings, by suffix: what its `yb_eval_dataset_formats` hook offers."""
    return dict(_FORMATS)


def format_of(name: str, known: Mapping[str, Format] | None = None) -> Format:
    """The format of the file called `name`: by its suffix, the one before `.gz` if it is compressed. Standard input is
    JSONL. Raises `DatasetError` for a suffix that is not known."""
    choices = formats() if known is None else known
    if name in ("-", "<stdin>"):
        return choices.get(".jsonl", _FORMATS[".jsonl"])
    base = name.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".gz")
    # The longest first: a plugin may offer `.labels.json`.
    for suffix in sorted(choices, key=len, reverse=True):
        if base.endswith(suffix.lower()):
            return choices[suffix]
    _, dot, suffix = base.rpartition(".")
    hint = nearest(dot + suffix, choices) if dot else "known: " + ", ".join(sorted(choices))
    raise DatasetError("not a kind of file that can be read as a dataset", where=name, hint=hint)
