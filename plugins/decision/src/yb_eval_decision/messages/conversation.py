"""What a list of messages holds: which result belongs to which call, the turns, the steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from yb_eval_decision.messages.model import Message, ToolCall, Turn


@frozen(slots=True)
class Calls:
    """The calls of a conversation with their results, in order; `ends` says how many were made up to each message; `results` are
    all results in the order they came, those of no known call included."""

    calls: tuple[ToolCall, ...]
    ends: tuple[int, ...]
    results: tuple[str, ...]


def paired(messages: Sequence[Message]) -> Calls:
    """Each result joined to its call: by id, the latest call of that id; without one, to the first pending call (of that
    tool's name, if the result has a name) that no other result names. Several results of one call are joined by a blank line."""
    calls: list[ToolCall] = []
    answers: list[list[str]] = []
    ends: list[int] = []
    results: list[str] = []
    latest: dict[str, int] = {}
    named: set[str] | None = None
    pending: dict[int, None] = {}  # a set in order: its first is the first call made
    for message in messages:
        if message.tool_calls:
            for call in message.tool_calls:
                if call.id is not None:
                    latest[call.id] = len(calls)
                pending[len(calls)] = None
                answers.append([])
                calls.append(call)
        elif message.role == "tool":
            results.append(message.content)
            index = latest.get(message.tool_call_id) if message.tool_call_id is not None else None
            if index is None:
                if named is None:
                    named = {m.tool_call_id for m in messages if m.role == "tool" and m.tool_call_id is not None}
                index = _first_pending(calls, pending, named, message.name)
            if index is not None:
                answers[index].append(message.content)
                pending.pop(index, None)
        ends.append(len(calls))
    joined = [
        ToolCall(call.id, call.name, call.args, "\n\n".join(answer)) if answer else call
        for call, answer in zip(calls, answers, strict=True)
    ]
    return Calls(tuple(joined), tuple(ends), tuple(results))


def _first_pending(calls: list[ToolCall], pending: Iterable[int], named: set[str], name: str | None) -> int | None:
    first: int | None = None
    for index in pending:
        call = calls[index]
        if call.id in named or call.result is not None:
            continue
        if name is None or call.name == name:
            return index
        first = index if first is None else first
    return first


def turns(messages: Sequence[Message], calls: Calls) -> list[Turn]:
    """The turns: each begins where a user speaks; what a user says in several messages at once is one turn. What comes
    before the first user (a greeting) belongs to none."""
    found: list[Turn] = []
    said: list[str] = []
    answer: str | None = None
    start = 0
    replied = False
    for index, message in enumerate(messages):
        if message.role == "user":
            if replied and said:
                found.append(Turn("\n".join(said), answer, calls.calls[start : calls.ends[index]], len(found)))
                said = []
            if not said:
                answer, replied, start = None, False, calls.ends[index]
            said.append(message.content)
        elif message.role == "assistant":
            replied = True
            if message.content:
                answer = message.content
        elif message.role == "tool":
            replied = True
    if said:
        found.append(Turn("\n".join(said), answer, calls.calls[start:], len(found)))
    return found


def steps(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """What the agent did, in order: `{"type": "assistant", "content"}`, `{"type": "tool_call", "name", "args"}`,
    `{"type": "tool_result", "content"}`."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "assistant":
            if message.content:
                found.append({"type": "assistant", "content": message.content})
            found += ({"type": "tool_call", "name": call.name, "args": call.args} for call in message.tool_calls)
        elif message.role == "tool":
            found.append({"type": "tool_result", "content": message.content})
    return found
