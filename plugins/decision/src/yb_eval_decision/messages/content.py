"""Content as text and arguments as JSON: what all source formats share.

Sources hand over mappings or objects (an SDK's message, a LangChain document); `peek` reads a field of either.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from enum import Enum
from typing import Any

from yb_eval.errors import UsageError, shorten
from yb_eval_decision.messages.model import Record

MAX_DEPTH = 100

# Which word stands for a part that is no text, by what its type says.
_MEDIA = (
    ("image", "[image]"),
    ("audio", "[audio]"),
    ("video", "[video]"),
    ("screenshot", "[image]"),
    ("document", "[document]"),
    ("pdf", "[document]"),
    ("file", "[file]"),
    ("upload", "[file]"),
)
_TEXT_KEYS = ("text", "content", "page_content")
_REASONING = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text", "reasoning_content", "thought"}
)


def peek(value: Any, name: str) -> Any:
    """The field `name` of a mapping or an object; None where it has none."""
    if type(value) is dict or isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def kind_of(value: Any) -> str:
    """The `type` of a mapping or an object; an empty text where it has none, or none that is text."""
    found = peek(value, "type")
    return found if isinstance(found, str) else ""


def clean(text: str) -> str:
    """`text` with lone surrogates replaced: they are no Unicode, and no backend could be sent them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return str(text)


def plain(value: Any, where: str = "value", depth: int = 0) -> Any:
    """`value` as plain JSON. Models and dataclasses become objects, dates ISO text, decimals and other values their text,
    sets sorted lists, a NaN or infinite number its name. Raises `UsageError` for what is nested over 100 deep."""
    kind = type(value)
    if kind is str:
        return clean(value)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if depth > MAX_DEPTH:
        raise UsageError(f"nested deeper than {MAX_DEPTH}", where=where)
    if kind is dict or (isinstance(value, Mapping) and not isinstance(value, Record)):
        return {clean(str(key)): plain(item, where, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, where, depth + 1) for item in value]
    return _plain_object(value, where, depth)


def _plain_object(value: Any, where: str, depth: int) -> Any:
    if isinstance(value, Enum):
        return plain(value.value, where, depth + 1)
    if isinstance(value, set | frozenset):
        return sorted((plain(item, where, depth + 1) for item in value), key=canonical_text)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str | int | float):
        base = next(base for base in (str, int, float) if isinstance(value, base))
        return plain(base(value), where, depth)
    if isinstance(value, type):
        return value.__name__
    if callable(dump := getattr(value, "model_dump", None)):
        return plain(dump(), where, depth + 1)
    if callable(dump := getattr(value, "to_dict", None)):
        return plain(dump(), where, depth + 1)
    names = getattr(value, "__dataclass_fields__", None) or [
        item.name for item in getattr(value, "__attrs_attrs__", ())
    ]
    if names:
        return {name: plain(getattr(value, name, None), where, depth + 1) for name in names}
    return clean(str(value))


def canonical_text(value: Any) -> str:
    """Plain JSON as text, keys sorted: the same value always reads the same."""
    return _CANONICAL.encode(value)


#: `json.dumps` would make one for every call.
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, allow_nan=False)


def arguments(value: Any, where: str) -> dict[str, Any]:
    """A call's arguments as an object: JSON text is parsed; a value that is no object is kept under `value`, text that is
    no JSON under `raw`, and nothing at all is `{}`."""
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            # Not orjson: it would turn an integer beyond 64 bits, such as an account number, into a float.
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"raw": clean(value)}
    found = plain(value, where)
    return found if isinstance(found, dict) else {"value": found}


def is_part(value: Any) -> bool:
    """Is this one part of a message's content, rather than a JSON value that is the content?"""
    return isinstance(value, str) or isinstance(peek(value, "type"), str) or isinstance(peek(value, "text"), str)


def text_of(content: Any, where: str, *, glue: str = "\n") -> str:
    """The text of a message's content: text, a list of parts, one part, or a JSON object (as canonical JSON).

    `glue` stands between two parts of text. Raises `UsageError` for anything else.
    """
    if isinstance(content, str):
        return clean(content)
    if content is None:
        return ""
    if isinstance(content, list | tuple):
        if all(is_part(part) for part in content):
            return join((part_text(part, f"{where}[{index}]") for index, part in enumerate(content)), glue)
        if any(is_part(part) for part in content):
            wrong = next(index for index, part in enumerate(content) if not is_part(part))
            raise UsageError(f"a part without a type: {shorten(content[wrong])}", where=f"{where}[{wrong}]")
        return canonical_text(plain(content, where))
    if is_part(content):
        return part_text(content, where) or ""
    if isinstance(content, Mapping) or hasattr(content, "model_dump"):
        return canonical_text(plain(content, where))
    raise UsageError(f"content is text or a list of parts, not {shorten(content)}", where=where)


def part_text(part: Any, where: str) -> str | None:
    """One part as text; a placeholder for what is no text; None for the model's reasoning, which is said to nobody."""
    if isinstance(part, str):
        return clean(part)
    kind = kind_of(part) or "text"
    if kind in _REASONING or peek(part, "thought") is True:
        return None
    if kind.startswith("image") and peek(part, "text") is None:
        return "[image]"
    source = peek(part, "source")
    if kind == "document" and kind_of(source) in {"text", "content"}:
        return text_of(peek(source, "data") or peek(source, "content"), where)
    for key in ("text", "refusal", "transcript", "content"):
        found = peek(part, key)
        if isinstance(found, str) and kind not in {"blob"}:
            return clean(found)
    if isinstance(nested := peek(part, "content"), list | tuple) and not any(word in kind for word, _ in _MEDIA):
        return text_of(nested, where)
    return placeholder(part, kind)


def placeholder(part: Any, kind: str) -> str:
    """What stands in the text for a part of this type: `[image]`, `[audio]`, `[file: report.pdf]`, `[thing]`."""
    hint = " ".join(str(found) for key in ("modality", "mime_type") if (found := peek(part, key)))
    described = f"{kind} {hint}".lower()
    word = next((word for needle, word in _MEDIA if needle in described), f"[{shorten(kind)[1:-1]}]")
    inner = peek(part, "file")
    name = peek(part, "filename") or peek(inner, "filename") or peek(part, "title")
    return f"{word[:-1]}: {clean(name)}]" if isinstance(name, str) and name else word


def join(parts: Iterable[str | None], glue: str = "\n") -> str:
    """Parts as one text; empty ones leave no trace. A placeholder always stands on a line of its own."""
    text = ""
    previous = ""
    for part in parts:
        if not part:
            continue
        if text:
            text += glue if glue or _continues(previous, part) else "\n"
        text += part
        previous = part
    return text


def _continues(before: str, after: str) -> bool:
    """Do two parts of an assistant's text run on? Citations cut a sentence into parts, with their spaces; two sentences
    that would be stuck together do not run on."""
    if _is_placeholder(before) or _is_placeholder(after):
        return False
    return not (before[-1] in ".!?…:。！？" and after[0].isalnum())


def _is_placeholder(part: str) -> bool:
    return part.startswith("[") and part.endswith("]")


def scalar_text(value: Any, where: str) -> str:
    """A field that is text, whatever it was given as: a list of texts becomes lines, a JSON value canonical JSON."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple) and value:
        if all(isinstance(item, str) for item in value):
            return "\n".join(clean(item) for item in value)
        if all(isinstance(peek(item, "type"), str) and peek(item, "text") is not None for item in value):
            return text_of(value, where)
    content = peek(value, "content")
    if content is not None and isinstance(peek(value, "role") or peek(value, "type"), str):
        return text_of(content, where, glue="")
    return canonical_text(plain(value, where))


def result_value(value: Any, where: str) -> Any:
    """A tool's result as given: text, a JSON value, or the text of a message or a part."""
    if isinstance(value, str):
        return clean(value)
    content = peek(value, "content")
    if content is not None and isinstance(peek(value, "role") or peek(value, "type"), str):
        return text_of(content, where)
    return plain(value, where)


def documents(value: Any, where: str) -> list[str]:
    """Contexts as texts. A document is text, or what holds text under `text`, `content` or `page_content`; any other
    object is kept as canonical JSON. Raises `UsageError` for what is no document."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        value = [value]
    return [_document(item, f"{where}[{index}]") for index, item in enumerate(value)]


def _document(item: Any, where: str) -> str:
    if isinstance(item, str):
        return clean(item)
    for key in _TEXT_KEYS:
        found = peek(item, key)
        if isinstance(found, str):
            return clean(found)
        if key == "content" and isinstance(found, list | tuple):
            return text_of(found, where)
    if isinstance(item, Mapping | list | tuple) or hasattr(item, "model_dump"):
        return canonical_text(plain(item, where))
    raise UsageError(f"a context is text or an object, not {shorten(item)}", where=where)
