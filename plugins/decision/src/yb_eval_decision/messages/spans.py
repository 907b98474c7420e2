"""Spans of a trace, from whichever export they come: what `otel` and `openinference` read.

Taken: OTLP/JSON (`resourceSpans`, attributes as a list of key and typed value), spans as the Python SDK's `to_json()` or
`ReadableSpan` gives them, rows with flat (`"llm.input_messages.0.message.role"`) or nested attributes, a mapping of attributes
alone. Sources: opentelemetry-proto `trace.proto` and its JSON mapping; the OpenInference specification on flattened lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import frozen

from yb_eval.errors import UsageError, shorten
from yb_eval_decision.messages.content import peek

# What the attributes of a span that concerns us begin with.
PREFIXES = ("gen_ai.", "llm.", "openinference.", "retrieval.", "reranker.", "tool.")
_SECTIONS = frozenset({"gen_ai", "llm", "openinference", "retrieval"})
# Attributes that are a value of their own: a dot or a number in a key of theirs means nothing.
_WHOLE = frozenset(
    {
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.tool.definitions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.retrieval.documents",
    }
)
_MAX_STEPS = 32
_LISTS = ("resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans")


@frozen(slots=True)
class Span:
    """`attributes` as nested objects and lists; `events` as (name, attributes) in their order; `start` in nanoseconds, 0
    where unknown."""

    where: str
    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    attributes: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any]], ...] = ()

    def at(self, path: str) -> Any:
        """The attribute at a dotted path; None where there is none."""
        found: Any = self.attributes
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def text(self, path: str) -> str:
        """The attribute at a path when it is text; otherwise an empty text."""
        found = self.at(path)
        return found if isinstance(found, str) else ""


def looks_like(value: Any) -> bool:
    """Is this a span, several, or an export of them?"""
    if isinstance(value, Mapping):
        if any(isinstance(value.get(key), list | tuple) for key in _LISTS):
            return True
        attributes = value.get("attributes")
        return _concerns(attributes) if attributes is not None else _concerns(value)
    if isinstance(value, list | tuple):
        return bool(value) and all(looks_like(item) or _is_span(item) for item in value) and any(map(looks_like, value))
    return _is_span(value) and _concerns(peek(value, "attributes"))


def _is_span(value: Any) -> bool:
    """A span of a trace, though none of ours: an HTTP request on the way, say."""
    if isinstance(value, Mapping):
        return "attributes" in value and ("spanId" in value or "context" in value or "span_id" in value)
    return hasattr(value, "attributes") and hasattr(value, "context")


def _concerns(attributes: Any) -> bool:
    if isinstance(attributes, Mapping):
        keys = list(attributes)
    elif isinstance(attributes, list | tuple):
        keys = [peek(item, "key") for item in attributes]
    else:
        return False
    return any(isinstance(key, str) and (key.startswith(PREFIXES[:5]) or key in _SECTIONS) for key in keys)


def read_spans(value: Any, where: str = "spans") -> list[Span]:
    """The spans of an export in order of their start. Raises `UsageError`, naming the place, for what is no span."""
    try:
        spans = [_span(item, place) for item, place in _walk(value, where)]
    except RecursionError:
        raise UsageError("spans nested beyond reason", where=where) from None
    spans.sort(key=lambda span: span.start)  # stable: spans without a time keep their order
    return spans


def by_trace(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """Spans by their trace, in the order the traces begin."""
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(span.trace_id, []).append(span)
    return found


def _walk(value: Any, where: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _walk(item, f"{where}[{index}]")
        return
    if isinstance(value, Mapping):
        nested = [key for key in _LISTS if isinstance(value.get(key), list | tuple)]
        if nested:
            for key in nested:
                yield from _walk(value[key], f"{where}.{key}")
            return
    if isinstance(value, Mapping) or hasattr(value, "attributes"):
        yield value, where
        return
    raise UsageError(f"not a span: {shorten(value)}", where=where, hint="a span has attributes")


def _span(item: Any, where: str) -> Span:
    attributes = peek(item, "attributes")
    if attributes is None and isinstance(item, Mapping):
        # Rows of a table have one column for each attribute, some with `attributes.` before the name.
        attributes = {key.removeprefix("attributes."): found for key, found in item.items() if isinstance(key, str)}
    context = peek(item, "context") or peek(item, "spanContext") or {}
    parent = peek(item, "parent")
    events = peek(item, "events")
    events = events if isinstance(events, list | tuple) else ()
    return Span(
        where,
        _id(item, "trace_id", "traceId") or _id(context, "trace_id", "traceId") or _id(item, "context.trace_id"),
        _id(item, "span_id", "spanId") or _id(context, "span_id", "spanId") or _id(item, "context.span_id"),
        _id(item, "parent_id", "parentSpanId", "parent_span_id") or _id(parent, "span_id"),
        str(peek(item, "name") or ""),
        _nanoseconds(next((t for key in _STARTS if (t := peek(item, key)) is not None), 0)),
        nested(_flat(attributes, f"{where}.attributes")),
        tuple(
            (str(peek(event, "name") or ""), nested(_flat(peek(event, "attributes") or {}, f"{where}.events[{index}]")))
            for index, event in enumerate(events)
        ),
    )


_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")


def _id(value: Any, *names: str) -> str:
    """The id under one of `names`, in hexadecimal digits: SDK objects have it as a number, exports as text with its zeros."""
    for name in names:
        found = peek(value, name)
        if isinstance(found, str) and found:
            return found.removeprefix("0x")
        if isinstance(found, int) and found:
            return f"{found:032x}" if "trace" in name else f"{found:016x}"
    return ""


def _nanoseconds(value: Any) -> int:
    if isinstance(value, str):
        if value.isdigit() and value.isascii() and len(value) < 30:
            return int(value)
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return 0
    if isinstance(value, datetime):
        return round(value.timestamp() * 1_000_000) * 1000
    return int(value) if isinstance(value, int) else 0


def _flat(attributes: Any, where: str) -> dict[str, Any]:
    """Attributes as one mapping, whether they came as one or as OTLP's list of `{"key", "value": {"stringValue": …}}`."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    if not isinstance(attributes, list | tuple):
        raise UsageError(f"attributes are a mapping or a list, not {shorten(attributes)}", where=where)
    found = {}
    for index, item in enumerate(attributes):
        key = peek(item, "key")
        if not isinstance(key, str):
            raise UsageError(f"an attribute without a key: {shorten(item)}", where=f"{where}[{index}]")
        found[key] = _value(peek(item, "value"), 0)
    return found


def _value(value: Any, depth: int) -> Any:
    """The value inside OTLP's `AnyValue`."""
    if not isinstance(value, Mapping) or depth > 50:
        return value
    if "intValue" in value:
        given = value["intValue"]  # a 64-bit integer is text in protobuf's JSON
        return int(given) if isinstance(given, str) and given.lstrip("-").isdecimal() and len(given) < 30 else given
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if key in value:
            return value[key]
    if isinstance(array := value.get("arrayValue"), Mapping):
        return [_value(item, depth + 1) for item in array.get("values") or ()]
    if isinstance(pairs := value.get("kvlistValue"), Mapping):
        return {str(peek(item, "key")): _value(peek(item, "value"), depth + 1) for item in pairs.get("values") or ()}
    return None if not value else dict(value)


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as nested objects; objects whose keys are all indices as lists: `a.0.b` is `{"a": [{"b": …}]}`."""
    root: dict[str, Any] = {}
    for path, value in _leaves(flat, ""):
        _put(root, path.split(".", _MAX_STEPS), path, value)
    return {key: _lists(value) for key, value in root.items()}


def _leaves(flat: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in flat.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value and path not in _WHOLE:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _put(root: dict[str, Any], steps: list[str], path: str, value: Any) -> None:
    for key in steps[:-1]:
        below = root.get(key)
        if not isinstance(below, dict):
            # A value on the way (`a` beside `a.b`) stays reachable, under an empty name.
            below = {} if below is None else {"": below}
            root[key] = below
        root = below
    last = steps[-1]
    if isinstance(value, list | tuple) and path not in _WHOLE:
        value = [nested(item) if isinstance(item, Mapping) else item for item in value]
    if isinstance(root.get(last), dict) and not isinstance(value, dict):
        root[last][""] = value
    else:
        root[last] = value


def _lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _lists(item) for key, item in value.items()}
    if inner and all(key.isdecimal() and key.isascii() for key in inner):
        return [inner[key] for key in sorted(inner, key=lambda key: (len(key.lstrip("0")), key.lstrip("0")))]
    return inner


def parsed(value: Any) -> Any:
    """JSON text as what it says; any other value, and text that is no JSON, as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
