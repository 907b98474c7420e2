"""What a provider answers to one model call, read strictly.

```
{"text": "...", "tool_calls": [{"name": "load_tools", "arguments": {"groups": ["jira"]}}],
 "usage": {"input_tokens": 812, "output_tokens": 17}, "stop": "tool_use"}
```

All parts are optional. Arguments may also be a string, as models write them: what is no JSON object then is the model's
mistake, not the provider's, and stays visible as such.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Any

import orjson
from attrs import frozen

from yb_eval.targets import AnswerError, expect_list, expect_number, expect_object, expect_text

#: Places in a text that are looked at for a call that was written instead of made.
_MOST_PLACES = 100
_CALL_KEYS = ("arguments", "parameters", "input", "args")
#: How models write calls when they do not write JSON.
_WRITTEN = ("{}(", '<invoke name="{}"', "<function={}>")


@frozen(slots=True)
class Call:
    """A tool call. `arguments` is `None` with `malformed` set to what came where that is no JSON object."""

    name: str
    arguments: Mapping[str, Any] | None
    malformed: str | None = None


@frozen(slots=True, kw_only=True)
class Reply:
    """A model's answer. `usage` is (input, output) tokens where the provider reports them."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: tuple[int, int] | None = None
    stop: str | None = None


def read_reply(answer: Any) -> Reply:
    """Raises `AnswerError` for an answer of another shape."""
    said = expect_object(answer)
    for key in said:
        if key not in ("id", "text", "tool_calls", "usage", "stop"):
            raise AnswerError(f"the answer has an unknown part {key!r}")
    usage = said.get("usage")
    return Reply(
        text=expect_text(said, "text", optional=True) or "",
        calls=tuple(_call(item) for item in expect_list(said, "tool_calls", optional=True) or ()),
        usage=None if usage is None else (_tokens(usage, "input_tokens"), _tokens(usage, "output_tokens")),
        stop=expect_text(said, "stop", optional=True),
    )


def _call(item: Any) -> Call:
    name = expect_text(expect_object(item), "name")
    arguments = item.get("arguments")
    if isinstance(arguments, str):
        try:
            read = orjson.loads(arguments) if arguments.strip() else {}
        except orjson.JSONDecodeError:
            return Call(name, None, arguments)
        return Call(name, read) if isinstance(read, dict) else Call(name, None, arguments)
    if arguments is None:
        return Call(name, {})
    return Call(name, expect_object(arguments))


def _tokens(usage: Any, key: str) -> int:
    return int(expect_number(expect_object(usage), key, minimum=0, optional=True) or 0)


def written_calls(text: str, names: Collection[str]) -> list[str]:
    """The tools among `names` that a text calls in words: as `name(...)`, in markup, or as a JSON object with the name
    and arguments. Such a call was not made, whatever its author meant.
    """
    found: dict[str, None] = {}
    for value in _objects(text):
        function = value.get("function")
        inner = function if isinstance(function, Mapping) else value
        name = inner.get("name", inner.get("tool"))
        if isinstance(name, str) and name in names and any(key in inner for key in _CALL_KEYS):
            found[name] = None
    for name in sorted(names):
        if name in text and any(form.format(name) in text for form in _WRITTEN):
            found[name] = None
    return list(found)


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The outermost JSON objects in a text."""
    decoder = JSONDecoder()
    start = text.find("{")
    for _ in range(_MOST_PLACES):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (JSONDecodeError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict):
            yield value
        start = text.find("{", end)
