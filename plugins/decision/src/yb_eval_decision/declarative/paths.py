"""Paths into a sample: `$.messages[-3:]`, `$.tool_call.args["account id"]`.

The first name is a field of the sample (or another key for one, as `reference` is for `expected`), or a key that the eval
declares; `$.raw.x` reaches any key. What follows goes into
JSON values and into the sample's own records (messages, calls): `.name` and `[key]` by name, `[0]` and `[-1]` by index,
`[a:b]` by slice. A path that leads nowhere gives None, never a method and never an error; one that cannot mean anything is
refused when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten
from yb_eval_decision.messages.content import plain
from yb_eval_decision.sample import ALIASES, FIELDS, Sample

MAX_STEPS = 32

_NAME = r"[^\W\d][\w-]*"
_STEP = re.compile(
    r"""\.(?P<name>[\w-]+)
      | \[\s*(?:
            (?P<index>-?\d{1,9})
          | (?P<start>-?\d{1,9})?\s*:\s*(?P<stop>-?\d{1,9})?
          | "(?P<double>[^"\\]*)" | '(?P<single>[^'\\]*)'
          | (?P<key>[^\W\d][\w-]*)
        )\s*\]""",
    re.VERBOSE,
)
_ROOT = re.compile(_NAME)


@frozen(slots=True)
class Path:
    """A path that has been read: the field it starts from, and its steps (a name, an index or a slice)."""

    text: str
    root: str
    steps: tuple[str | int | slice, ...] = ()

    def find(self, s: Sample) -> Any:
        """What the path leads to in `s`, as JSON values; None where it leads nowhere."""
        value = s.value(self.root) if self.root in FIELDS else s.get(self.root)
        for step in self.steps:
            value = _step(value, step)
            if value is None:
                return None
        return plain(value, self.text)


def read_path(text: str, declared: frozenset[str] = frozenset()) -> Path:
    """Reads `a.b[-3:]`, with or without a leading `$.`. Raises `UsageError` for what is no path, and for a first name that is
    neither a field of a sample nor among those `declared`."""
    body = text.strip().removeprefix("$").removeprefix(".")
    found = _ROOT.match(body)
    if found is None:
        raise UsageError(f"{shorten(text)} is no path", hint="a path begins with a field: $.messages[-3:]")
    root, at, steps = field_of(found.group(), declared), found.end(), []
    while at < len(body):
        step = _STEP.match(body, at)
        if step is None:
            raise UsageError(f"{shorten(text)} is no path: {shorten(body[at:], 30)} cannot be read",
                             hint='a step is .name, [0], [-1], [1:3], [name] or ["any key"]')  # fmt: skip
        steps.append(_read_step(step))
        at = step.end()
    if len(steps) > MAX_STEPS:
        raise UsageError(f"{shorten(text)} has more than {MAX_STEPS} steps")
    if root not in FIELDS and root not in declared:
        close = nearest(root, FIELDS | declared) or ""
        own = f"a key of your own is $.raw.{root}, or needs fields: [{root}]"
        hint = f"{close} {own}" if close.startswith("did") else own
        raise UsageError(f"{shorten(text)}: a sample has no field {root!r}", hint=hint)
    return Path(text.strip(), root, tuple(steps))


def field_of(name: str, declared: Collection[str] = ()) -> str:
    """The field that `name` is another key for (`reference` for `expected`), or `name` itself."""
    if name in FIELDS or name in declared:
        return name
    return next((field for field, keys in ALIASES.items() if name in keys), name)


def _read_step(step: re.Match[str]) -> str | int | slice:
    parts = step.groupdict()
    if parts["index"] is not None:
        return int(parts["index"])
    for kind in ("name", "key", "double", "single"):
        if parts[kind] is not None:
            return parts[kind]
    start, stop = parts["start"], parts["stop"]
    return slice(None if start is None else int(start), None if stop is None else int(stop))


def _step(value: Any, step: str | int | slice) -> Any:
    if not isinstance(value, Mapping | Sequence):
        value = plain(value)  # an SDK's object in `raw`; no attribute of anything is ever read
    if isinstance(step, str):
        return value.get(step) if isinstance(value, Mapping) else None
    if isinstance(value, bytes) or not isinstance(value, Sequence):
        return None
    if isinstance(step, slice):
        return value[step]
    return value[step] if -len(value) <= step < len(value) else None
