"""Labelled triage rows, as JSONL:

```
{"id", "text", "meta"?, "gold": {"label"?, "severity"?, "escalate"?}, "acceptable"?: {"label": [...]},
 "tags"?, "source"?, "note"?}
```

Every gold field may be absent: the row is then not judged, and not trained on, in that respect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval_triage.task import Task, TaskError

_FIELDS = {"id", "text", "meta", "gold", "acceptable", "tags", "source", "note"}


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
        except orjson.JSONDecodeError as fault:
            raise TaskError(f"{place}: not JSON ({fault})") from fault
        faults = list(_faults(value, task))
        if faults:
            raise TaskError(f"{place}: {faults[0]}")
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


def _faults(value: Any, task: Task) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "a row must be an object"
        return
    unknown = sorted(set(value) - _FIELDS)
    if unknown:
        yield f"unknown field {unknown[0]!r}"
    if not isinstance(value.get("id"), str) or not value["id"]:
        yield "id must be a string that is not empty"
    if not isinstance(value.get("text"), str):
        yield "text must be a string (it may be empty)"
    if not isinstance(value.get("meta", {}), dict):
        yield "meta must be an object"
    if not _strings(value.get("tags", [])):
        yield "tags must be an array of strings"
    acceptable = value.get("acceptable", {})
    if not isinstance(acceptable, dict) or set(acceptable) - {"label"} or not _strings(acceptable.get("label", [])):
        yield 'acceptable must be {"label": [...]}'
    else:
        yield from (
            f"acceptable label {name!r} is unknown" for name in acceptable.get("label", []) if name not in task.labels
        )
    yield from gold_faults(value.get("gold"), task)


def gold_faults(gold: Any, task: Task) -> Iterator[str]:
    """What is wrong with the gold labels of a row, one line each."""
    if not isinstance(gold, dict):
        yield "gold must be an object"
        return
    unknown = sorted(set(gold) - {"label", "severity", "escalate"})
    if unknown:
        yield f"unknown field gold.{unknown[0]}"
    label, severity, escalate = gold.get("label"), gold.get("severity"), gold.get("escalate")
    if label is not None and label not in task.labels:
        yield f"gold label {label!r} is not in the label set of task {task.name}"
    if severity is not None:
        if task.severity is None:
            yield f"gold severity, but task {task.name} has no severity"
        elif type(severity) is not int or not 0 <= severity < len(task.severity.levels):
            yield f"gold severity {severity!r} is not an integer in 0..{len(task.severity.levels) - 1}"
    if escalate is not None:
        if task.escalation is None:
            yield f"gold escalate, but task {task.name} has no escalation"
        elif not isinstance(escalate, bool):
            yield f"gold escalate {escalate!r} is neither true nor false"


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
