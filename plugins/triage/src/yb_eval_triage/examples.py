"""Labelled triage rows, as JSONL:

```
{"id", "text", "meta"?, "gold": {"label"?, "severity"?, "escalate"?}, "acceptable"?: {"label": [...]},
 "tags"?, "source"?, "note"?}
```

Every gold field may be absent: the row is then not judged, and not trained on, in that respect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval_triage.task import Task, TaskError

#: The fields of a row, and of its gold.
_FIELDS = frozenset(("id", "text", "meta", "gold", "acceptable", "tags", "source", "note"))
_GOLD = frozenset(("label", "severity", "escalate"))


@frozen(kw_only=True)
class Example:
    """One labelled row. `acceptable` are labels that count as right beside `label`."""

    id: str
    text: str
    meta: Mapping[str, object] = field(factory=dict)
    label: str | None = None
    severity: int | None = None
    escalate: bool | None = None
    acceptable: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def read_examples(data: bytes, *, task: Task, where: str) -> list[Example]:
    """The rows of a JSONL file, each checked against `task`.

    Raises:
        TaskError: a row is not JSON, lacks id or text, repeats an id, or is labelled outside the task; names the line.
    """
    rows: list[Example] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{where}:{number}"
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise TaskError(f"{place}: not JSON ({error})") from error
        if not isinstance(value, dict):
            raise TaskError(f"{place}: a row must be an object")
        fault = row_fault(value, task)
        if fault is None and (not isinstance(value.get("id"), str) or not value["id"]):
            fault = "id must be a string that is not empty"
        if fault is None and not _strings(value.get("tags", [])):
            fault = "tags must be an array of strings"
        if fault is not None:
            raise TaskError(f"{place}: {fault}")
        if value["id"] in seen:
            raise TaskError(f"{place}: id {value['id']!r} stands on line {seen[value['id']]} too")
        seen[value["id"]] = number
        rows.append(_example(value))
    if not rows:
        raise TaskError(f"{where}: holds no rows")
    return rows


def _example(value: Mapping[str, Any]) -> Example:
    gold = value["gold"]
    return Example(
        id=value["id"],
        text=value["text"],
        meta=value.get("meta", {}),
        label=gold.get("label"),
        severity=gold.get("severity"),
        escalate=gold.get("escalate"),
        acceptable=tuple(value.get("acceptable", {}).get("label", ())),
        tags=tuple(value.get("tags", ())),
    )


def row_fault(row: Mapping[str, Any], task: Task) -> str | None:
    """What is wrong with a row, but for its id and its tags; `None` for a good one."""
    if not _FIELDS.issuperset(row):
        return f"unknown field {sorted(set(row) - _FIELDS)[0]!r}"
    if type(row.get("text")) is not str:
        return "text must be a string (it may be empty)"
    if "meta" in row and type(row["meta"]) is not dict:
        return "meta must be an object"
    if "acceptable" in row:
        acceptable = row["acceptable"]
        if type(acceptable) is not dict or set(acceptable) - {"label"} or not _strings(acceptable.get("label", [])):
            return 'acceptable must be {"label": [...]}'
        unknown = [name for name in acceptable.get("label", []) if name not in task.labels]
        if unknown:
            return f"acceptable label {unknown[0]!r} is not in the label set of task {task.name}"
    return _gold_fault(row.get("gold"), task)


def _gold_fault(gold: Any, task: Task) -> str | None:
    if type(gold) is not dict:
        return "gold must be an object"
    if not _GOLD.issuperset(gold):
        return f"unknown field gold.{sorted(set(gold) - _GOLD)[0]}"
    label, severity, escalate = gold.get("label"), gold.get("severity"), gold.get("escalate")
    if label is not None and (type(label) is not str or label not in task.labels):
        return f"gold label {label!r} is not in the label set of task {task.name}"
    if severity is not None:
        if task.severity is None:
            return f"gold severity, but task {task.name} has no severity"
        if type(severity) is not int or not 0 <= severity < len(task.severity.levels):
            return f"gold severity {severity!r} is not an integer in 0..{len(task.severity.levels) - 1}"
    if escalate is not None:
        if task.escalation is None:
            return f"gold escalate, but task {task.name} has no escalation"
        if type(escalate) is not bool:
            return f"gold escalate {escalate!r} is neither true nor false"
    return None


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
