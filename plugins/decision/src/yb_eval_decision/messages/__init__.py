"""Messages of any source, in one form.

```python
from yb_eval_decision.messages import normalise

normalise([{"role": "user", "content": "hi"}])     # [Message(role='user', content='hi', …)]
```

One module reads each source: `openai_chat`, `openai_responses`, `anthropic`, `langchain`; `otel` and `openinference` read spans,
which `traces` puts together. Here a message is recognised, each by itself: a list may mix them, and hold a whole chat
completion where its message belongs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from yb_eval.errors import UsageError, shorten
from yb_eval_decision.messages import anthropic, langchain, openai_chat, openai_responses
from yb_eval_decision.messages.content import clean, kind_of, peek
from yb_eval_decision.messages.model import Message, Tool, ToolCall, Turn

__all__ = ["Message", "Tool", "ToolCall", "Turn", "normalise"]

# The messages that most samples are made of need no more than their role and their text.
_SIMPLE = frozenset({"user", "assistant", "system", "developer"})


def normalise(messages: Any, where: str = "messages") -> list[Message]:
    """The messages of a list, each recognised by itself. A bare text is a user's message.

    Raises `UsageError`, naming the place (`messages[3]: …`), for what is no list and for a malformed message.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence):
        hint = "write [{'role': 'user', 'content': …}, …]"
        raise UsageError(f"a list of messages, not {shorten(messages)}", where=where, hint=hint)
    found: list[Message] = []
    for index, item in enumerate(messages):
        if type(item) is dict:
            content = item.get("content")
            role = item.get("role")
            if (
                type(role) is str
                and "type" not in item
                and (type(content) is str or content is None)
                and "parts" not in item
            ):
                if len(item) == 2 and role in _SIMPLE and content is not None:
                    found.append(Message(role, content if content.isascii() else clean(content)))
                else:
                    found += openai_chat.read(item, f"{where}[{index}]")
                continue
        elif isinstance(item, Message):
            found.append(item)
            continue
        place = f"{where}[{index}]"
        try:
            read = _read(item, place)
        except RecursionError:
            raise UsageError("a message nested beyond reason", where=place) from None
        if read and found and _is_item(item) and _joins(found[-1], messages[index - 1]):
            found[-1] = evolve(found[-1], tool_calls=(*found[-1].tool_calls, *read[0].tool_calls))
            read = read[1:]
        found += read
    return found


def _read(item: Any, where: str) -> list[Message]:
    if isinstance(item, str):
        return [Message("user", clean(item))]
    if langchain.is_pair(item):
        return langchain.pair(item, where)
    kind = peek(item, "type")
    if isinstance(kind, str) and kind != "message" and openai_responses.recognises(kind):
        return openai_responses.read(item, where)
    if langchain.recognises(item):
        return langchain.read(item, where)
    if peek(item, "role") is not None:
        if isinstance(peek(item, "parts"), list | tuple):
            from yb_eval_decision.messages import otel

            return otel.message(item, where)
        content = peek(item, "content")
        return anthropic.read(item, where) if anthropic.recognises(content) else openai_chat.read(item, where)
    if openai_chat.is_completion(item):
        if (message := openai_chat.answered(item)) is None:
            raise UsageError("a chat completion without a message", where=where)
        return _read(message, f"{where}.choices[0].message")
    if isinstance(item, Mapping):
        what = "no role" if kind is None else f"neither a role nor a known type, but {shorten(kind)},"
        raise UsageError(f"{what} in {shorten(item, 60)}", where=where, hint="a message has a role and content")
    raise UsageError(f"not a message: {shorten(item)}", where=where, hint="a message has a role and content")


def _is_item(item: Any) -> bool:
    return kind_of(item).endswith("_call")


def _joins(before: Message, previous: Any) -> bool:
    """Is an item's call part of the assistant's message before it? What a model said and called in one response are items of
    their own in the Responses API, and one message everywhere else."""
    kind = kind_of(previous)
    return before.role == "assistant" and (
        kind == "message" or kind.endswith("_call") or kind in openai_responses.SILENT
    )
