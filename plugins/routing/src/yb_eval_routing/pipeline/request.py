"""Requests as they come in: a prompt or a conversation, with optional metadata."""

from collections.abc import Mapping, Sequence

import attrs

from yb_eval_routing.pipeline.errors import RequestError, kind

_CONVERSATION_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


@attrs.frozen(slots=True, kw_only=True)
class Request:
    """A request in the form the pipeline works with.

    ``asks`` are the user's messages, oldest first, never empty; ``billed`` is all text that a model would be sent.
    """

    asks: tuple[str, ...]
    billed: tuple[str, ...]
    tools: int = 0
    attachments: int = 0
    max_tokens: int | None = None
    metadata: Mapping[str, object] = attrs.field(factory=dict)


def read_request(request: Mapping[str, object]) -> Request:
    """Check a request and return it as a :class:`Request`.

    ``request`` holds ``prompt`` (a string) or ``messages`` (a list of ``{"role", "content"}``, content a string or a
    list of parts of which those with a ``text`` are read), and optionally ``id`` and ``metadata`` (an object).
    Of the metadata, ``tools`` and ``attachments`` (a list, or a count) and ``max_tokens`` (a whole number) are read
    here; all keys with a string value can be named in a policy's rules. Raises :class:`RequestError`.
    """
    if not isinstance(request, Mapping):
        raise RequestError(f"request: is {kind(request)}, not an object; send {{'prompt': ...}} or {{'messages': ...}}")
    prompt, messages = request.get("prompt"), request.get("messages")
    if (prompt is None) == (messages is None):
        state = "neither prompt nor messages" if prompt is None else "both prompt and messages"
        raise RequestError(f"request: holds {state}; send exactly one of them")
    parts_attached = 0
    asks: tuple[str, ...]
    billed: tuple[str, ...]
    if messages is None:
        if not isinstance(prompt, str):
            raise RequestError(f"request.prompt: is {kind(prompt)}, not a string")
        asks = billed = (prompt,)
    else:
        asks, billed, parts_attached = _read_messages(messages)
    metadata = request.get("metadata")
    if metadata is None:
        metadata = {}
    if not isinstance(metadata, Mapping):
        raise RequestError(f"request.metadata: is {kind(metadata)}, not an object")
    return Request(
        asks=asks,
        billed=billed,
        tools=_amount(metadata, "tools"),
        attachments=_amount(metadata, "attachments") + parts_attached,
        max_tokens=_max_tokens(metadata),
        metadata=metadata,
    )


def _read_messages(messages: object) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return (user texts, all texts, non-text parts of the last user message)."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise RequestError(f"request.messages: is {kind(messages)}, not a list of messages")
    asks: list[str] = []
    billed: list[str] = []
    attached = 0
    for index, message in enumerate(messages):
        where = f"request.messages[{index}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if not isinstance(message, Mapping) or not isinstance(role, str):
            raise RequestError(f"{where}: is not an object with a role and a content")
        if role not in _CONVERSATION_ROLES:
            raise RequestError(f"{where}.role: is unknown; use one of {_listed(_CONVERSATION_ROLES)}")
        text, others = _content(message.get("content"), where)
        billed.append(text)
        if role == "user":
            asks.append(text)
            attached = others
    if not asks:
        raise RequestError("request.messages: holds no message of role 'user'; the last one of them is what is routed")
    return tuple(asks), tuple(billed), attached


def _content(content: object, where: str) -> tuple[str, int]:
    """Return (text, number of non-text parts) of one message's content; null (a pure tool call) is empty."""
    if content is None:
        return "", 0
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise RequestError(f"{where}.content: is {kind(content)}, neither a string nor a list of parts")
    texts: list[str] = []
    others = 0
    for index, part in enumerate(content):
        if not isinstance(part, Mapping):
            raise RequestError(f"{where}.content[{index}]: is {kind(part)}, not an object")
        text = part.get("text")
        if isinstance(text, str):
            texts.append(text)
        else:
            others += 1
    return "\n".join(texts), others


def _amount(metadata: Mapping[str, object], key: str) -> int:
    """Return how many entries ``metadata[key]`` holds: a list's length, or a count given as such."""
    value = metadata.get(key)
    if value is None:
        return 0
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise RequestError(f"request.metadata.{key}: is neither a list nor a count of 0 or more")


def _max_tokens(metadata: Mapping[str, object]) -> int | None:
    value = metadata.get("max_tokens")
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise RequestError("request.metadata.max_tokens: is not a whole number above 0")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
