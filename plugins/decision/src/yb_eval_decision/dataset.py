"""Rows of the suite: labelled samples, and plain traces.

A labelled row is `{"id", "sample": {...}, "labels": {eval: label}, "tags": [...]}`; `note` and `source` may say more. A label
is true (the eval should pass) or false, for an eval with options the option, or a number in 0..1 that the eval's threshold
turns into either. A row without `sample` is itself the sample: a trace as it was logged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from yb_eval import Dataset, UsageError
from yb_eval.datasets import Joined, RowDataset, RowError, checked, format_of
from yb_eval.errors import nearest, shorten
from yb_eval_datasets import path as shipped

#: Data that ships, by name.
SETS: Mapping[str, str] = {
    "traces": "decision/traces.jsonl",
    "rag": "decision/rag.jsonl",
    "injection-public": "decision/injection-public.jsonl",
}
DEFAULT_SETS = ("traces", "rag")
#: How a sample of several sets says which it is from.
SET_TAG = "set"

_ROW_FIELDS = frozenset({"id", "tags", "sample", "labels", "note", "source"})


@frozen(slots=True)
class RowLabels:
    """Whether a row is one of this suite, and its labels are for `evals`: name -> the options its label may name.

    `known` are all evals there are: a label for one that is not asked is fine, one for an eval that does not exist is not.
    """

    evals: Mapping[str, tuple[str, ...]]
    known: frozenset[str]

    def __call__(self, row: Mapping[str, Any]) -> None:
        if "sample" not in row:
            if "labels" in row:
                raise RowError("labels without a sample", path="$", hint='put the trace under "sample"')
            return
        for name in row:
            if name not in _ROW_FIELDS:
                raise RowError(f"unknown field {name!r}", path="$", hint=nearest(name, _ROW_FIELDS))
        sample, labels = row["sample"], row.get("labels", {})
        if not isinstance(sample, dict) or not sample:
            raise RowError("a sample is an object that is not empty", path="$.sample")
        if not isinstance(labels, dict):
            raise RowError("labels are an object of eval and label", path="$.labels")
        for name, label in labels.items():
            self._check(name, label)

    def _check(self, name: str, label: Any) -> None:
        where = f"$.labels.{name}"
        if name not in self.known:
            raise RowError(f"no eval is called {shorten(name)}", path="$.labels", hint=nearest(name, self.known))
        if isinstance(label, bool) or name not in self.evals:
            return
        options = self.evals[name]
        if isinstance(label, str) and options:
            if label not in options:
                raise RowError(f"{label!r} is no option of {name}", path=where, hint=nearest(label, options))
            return
        if isinstance(label, str) or not isinstance(label, int | float) or not 0 <= label <= 1:
            kinds = "true, false, a number in 0..1" + (" or an option" if options else "")
            raise RowError(f"{shorten(label)} is no label", path=where, hint=kinds)


def sample_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the evals look at."""
    if "sample" in row:
        sample: Mapping[str, Any] = row["sample"]
        return sample
    return {name: value for name, value in row.items() if name not in ("id", "tags")}


def labels_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The labels by eval; none for a plain trace."""
    labels: Mapping[str, Any] = row.get("labels") or {} if "sample" in row else {}
    return labels


def decision_dataset(data: tuple[str, ...], check: RowLabels, formats: Mapping[str, Any] | None) -> Dataset:
    """The rows of the named sets and files, one after another. Raises `UsageError` for a name that is neither."""
    parts: dict[str, Dataset] = {}
    for name in data:
        place = place_of(name)
        key = name if name in SETS else place.stem
        if key in parts:
            raise UsageError(f"{key!r} is named twice", where="data")
        format = checked(format_of(str(place), formats), check)
        parts[key] = RowDataset(place, role=key, format=format)
    if not parts:
        raise UsageError("no data is named", where="data", hint=f"a file, or one of {', '.join(SETS)}")
    return next(iter(parts.values())) if len(parts) == 1 else Joined(parts, SET_TAG)


def place_of(name: str) -> Path:
    """The file of a set, or of a path."""
    if name in SETS:
        return shipped(SETS[name])
    if not Path(name).suffix and not Path(name).exists():
        raise UsageError(f"no data {name!r}", where="data", hint=nearest(name, SETS) or "a file, or a set's name")
    return Path(name)
