"""OpenAI chat messages, and the plain `{"role", "content"}` mappings that everybody writes.

Shapes: the Chat Completions API reference (`tool_calls` whose function has its arguments as JSON text, the older
`function_call` and role `function`, `refusal`, the `developer` role), flat calls with `name` and `args`. SDK objects have
the same fields as attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from yb_eval.errors import UsageError, nearest, shorten
from yb_eval_decision.messages.content import arguments, clean, peek, plain, text_of
from yb_eval_decision.messages.model import ROLES, Message, ToolCall

# The names that libraries give to the roles.
ROLE = {
    **{role: role for role in ROLES},
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "function": "tool",
    "ipython": "tool",
}


def read(item: Any, where: str) -> list[Message]:
    """The message of a mapping or object with a `role`. Raises `UsageError`, naming the place, for a malformed one."""
    get = item.get if type(item) is dict else partial(peek, item)
    role = ROLE.get(given, "") if type(given := get("role")) is str else ""
    role = role or role_of(item, where)
    content = get("content")
    if content is None:
        content = ""
    elif type(content) is not str or not content.isascii():
        content = text_of(content, f"{where}.content", glue="" if role == "assistant" else "\n")
    if role == "tool":
        return [Message(role, content, (), identifier(get("tool_call_id")), identifier(get("name")))]
    calls = tool_calls(item, where) if role == "assistant" else ()
    if not content and role == "assistant":
        content = _unsaid(item)
    return [Message(role, content, calls, None, identifier(get("name")))]


def is_completion(item: Any) -> bool:
    """Is this a chat completion, an object or its JSON?"""
    whole = not isinstance(item, Mapping) or item.get("object") == "chat.completion"
    return whole and isinstance(peek(item, "choices"), list | tuple)


def answered(completion: Any) -> Any:
    """The message of a chat completion: that of its first choice, None where it has none."""
    choices = peek(completion, "choices")
    return peek(choices[0], "message") if choices else None


def role_of(item: Any, where: str) -> str:
    """The role of a message, by one of `ROLES`."""
    given = peek(item, "role")
    if type(given) is str and given in ROLE:
        return ROLE[given]
    given = getattr(given, "value", given)  # an enum in some SDKs
    if not isinstance(given, str):
        what = "no role" if given is None else f"a role is text, not {shorten(given)}"
        raise UsageError(f"{what} in {shorten(item, 60)}", where=where, hint="a message has a role and content")
    role = ROLE.get(given) or ROLE.get(given.lower())
    if role is None:
        raise UsageError(f"unknown role {shorten(given)}", where=where, hint=nearest(given, ROLE))
    return role


def _unsaid(item: Any) -> str:
    """What an assistant said elsewhere than in `content`: its refusal, or the transcript of its speech."""
    refusal = peek(item, "refusal")
    if isinstance(refusal, str):
        return clean(refusal)
    audio = peek(item, "audio")
    transcript = peek(audio, "transcript")
    if isinstance(transcript, str):
        return clean(transcript)
    return "[audio]" if audio else ""


def tool_calls(item: Any, where: str) -> tuple[ToolCall, ...]:
    """The calls of an assistant message: `tool_calls`, or the one of the older `function_call`."""
    listed = peek(item, "tool_calls")
    if listed is None or listed == []:
        older = peek(item, "function_call")
        return (tool_call(older, f"{where}.function_call"),) if older else ()
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise UsageError(f"a list of calls, not {shorten(listed)}", where=f"{where}.tool_calls")
    return tuple(tool_call(call, f"{where}.tool_calls[{index}]") for index, call in enumerate(listed))


def tool_call(call: Any, where: str) -> ToolCall:
    """One call in any shape: `{"function": {"name", "arguments"}}`, `{"custom": {"name", "input"}}`, or flat with `name`
    (or `tool`, `tool_name`) and one of `args`, `arguments`, `input`, `parameters`. A text is the name of a tool."""
    if type(call) is dict and len(call) <= 3 and type(call.get("function")) is dict and type(call.get("id")) is str:
        # As the API has it: most calls, and many in each sample.
        function = call["function"]
        if type(name := function.get("name")) is str and name and "result" not in call and "output" not in call:
            return ToolCall(clean(call["id"]), clean(name), arguments(function.get("arguments"), where))
    if isinstance(call, ToolCall):
        return call
    if isinstance(call, str):
        return ToolCall(None, clean(call), {})
    inner = peek(call, "function")
    if inner is None or isinstance(inner, str):
        inner = peek(call, "custom") or call
    name = next((found for key in ("name", "tool", "tool_name") if isinstance(found := peek(inner, key), str)), None)
    if name is None and isinstance(peek(call, "function"), str):
        name = peek(call, "function")
    if not name:
        raise UsageError(f"a tool call without a name: {shorten(call)}", where=where, hint="it has a name and args")
    given = next(
        (f for key in ("arguments", "args", "input", "parameters") if (f := peek(inner, key)) is not None), None
    )
    result = peek(call, "result")
    if result is None:
        result = peek(call, "output")
    found = identifier(peek(call, "id")) or identifier(peek(call, "tool_call_id")) or identifier(peek(call, "call_id"))
    return ToolCall(found, clean(name), arguments(given, f"{where}.args"), _result(result, where))


def _result(value: Any, where: str) -> Any:
    return None if value is None else plain(value, f"{where}.result")


def identifier(value: Any) -> str | None:
    """An id or name as text; None for an empty one."""
    if value is None:
        return None
    if isinstance(value, str):
        return clean(value) or None
    return str(value) if isinstance(value, int) else None
