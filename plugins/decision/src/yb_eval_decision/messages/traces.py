"""A trace as a sample: the conversation, tools and contexts that its spans hold together.

Each model span holds the history it was sent and what it said. Spans are taken in order of their start; a span that repeats
the conversation so far and goes on extends it, one that repeats its end continues from there, any other is appended. What
happened inside a tool (an agent called as a tool, say) is that tool's own business and left out: the outer conversation has
its result. A tool span adds the result that no message brought.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from yb_eval.errors import UsageError
from yb_eval_decision.messages.model import Message, ToolCall
from yb_eval_decision.messages.spans import Span, by_trace, read_spans

_SYSTEM = frozenset({"system", "developer"})


@frozen(slots=True)
class ToolRun:
    """A tool that ran: the call, and its result as text (None where it was not recorded)."""

    call: ToolCall
    result: str | None


@frozen(slots=True, kw_only=True)
class Said:
    """What one span says. `heard` is what a model was sent, `said` what it answered; `given` and `gave` are the input and
    output of any span, as text; `model` tells spans of a model from those of agents and chains around it."""

    heard: list[Message] = field(factory=list)
    said: list[Message] = field(factory=list)
    model: bool = False
    tool: ToolRun | None = None
    tools: tuple[Any, ...] = ()
    contexts: tuple[str, ...] = ()
    reranked: bool = False
    conversation: str = ""
    given: str | None = None
    gave: str | None = None


def read_traces(value: Any, where: str = "spans") -> list[dict[str, Any]]:
    """The raw samples of an export, one for each trace, in the order they begin: `id` (the trace's), `messages`, and where
    there are any `tools`, `contexts`, `conversation_id`. Without messages, `input` and `output` of the outermost span.

    Raises `UsageError`, naming the place, for what is no span and for a trace of which nothing can be read.
    """
    return [_sample(spans, where) for spans in by_trace(read_spans(value, where)).values()]


def read_trace(value: Any, where: str = "spans") -> dict[str, Any]:
    """The raw sample of the one trace of an export. Raises `UsageError` when there are none or several."""
    traces = by_trace(read_spans(value, where))
    if len(traces) != 1:
        what = f"{len(traces)} traces in one sample" if traces else "no spans"
        raise UsageError(what, where=where, hint="Sample.of_traces makes a sample of each" if traces else None)
    return _sample(next(iter(traces.values())), where)


def _said(span: Span) -> Said | None:
    from yb_eval_decision.messages import openinference, otel

    # Spans that carry both (a bridge writes one from the other) hold the same messages twice.
    first, second = otel.read(span), openinference.read(span)
    if first is None or second is None:
        return first or second
    return first if first.heard or first.said or first.tool else second


def _sample(spans: Sequence[Span], where: str) -> dict[str, Any]:
    read = [(span, said) for span in spans if (said := _said(span)) is not None]
    outer = _outside_tools(spans, read)
    raw: dict[str, Any] = {}
    if spans[0].trace_id:
        raw["id"] = spans[0].trace_id
    messages = _conversation([said for _, said in outer])
    for _, said in outer:
        if said.tool is not None:
            messages = _with_run(messages, said.tool)
    given, gave = _outermost(outer)
    if messages:
        raw["messages"] = messages
    elif given is not None or gave is not None:
        raw.update({key: text for key, text in (("input", given), ("output", gave)) if text is not None})
    contexts = _contexts([said for _, said in read])
    if contexts:
        raw["contexts"] = contexts
    if not {"messages", "input", "output", "contexts"} & raw.keys():
        hint = "is the content of messages recorded? Instrumentations leave it out unless told to"
        raise UsageError("no span holds a message", where=where, hint=hint)
    tools = _unlike([tool for _, said in outer for tool in said.tools])
    if tools:
        raw["tools"] = tools
    conversation = next((said.conversation for _, said in read if said.conversation), "")
    if conversation:
        raw["conversation_id"] = conversation
    return raw


def _outside_tools(spans: Sequence[Span], read: Sequence[tuple[Span, Said]]) -> list[tuple[Span, Said]]:
    """The spans that no tool span is above."""
    parents = {span.span_id: span.parent_id for span in spans if span.span_id}
    inside = {span.span_id: True for span, said in read if said.tool is not None and span.span_id}

    def is_inside(identity: str) -> bool:
        chain: list[str] = []
        while identity and identity not in inside and identity in parents and len(chain) <= len(parents):
            chain.append(identity)
            identity = parents[identity]
        answer = inside.get(identity, False)
        inside.update(dict.fromkeys(chain, answer))  # each span is climbed once, however deep the trace
        return answer

    return [(span, said) for span, said in read if not is_inside(span.parent_id)]


def _conversation(said: Sequence[Said]) -> list[Message]:
    chosen = [one for one in said if one.model and (one.heard or one.said)]
    found: list[Message] = []
    for one in chosen or [one for one in said if one.heard or one.said]:
        found = _extended(found, [*one.heard, *one.said])
    return found


def _extended(before: list[Message], span: list[Message]) -> list[Message]:
    """The conversation so far and a span's messages as one, without what both hold."""
    if not before:
        return span
    history = [_key(message) for message in before if message.role not in _SYSTEM]
    spoken = [message for message in span if message.role not in _SYSTEM]
    shared = _overlap(history, [_key(message) for message in spoken])
    if shared:
        return before + spoken[shared:]
    known = {_key(message) for message in before if message.role in _SYSTEM}
    return before + [message for message in span if message.role not in _SYSTEM or _key(message) not in known]


def _overlap(before: list[Any], after: list[Any]) -> int:
    """How many of the first of `after` are the last of `before`: the longest, found in linear time (the prefix function of
    Knuth, Morris and Pratt, over messages)."""
    fallback = [0] * len(after)
    length = 0
    for index in range(1, len(after)):
        while length and after[index] != after[length]:
            length = fallback[length - 1]
        length += after[index] == after[length]
        fallback[index] = length
    length = 0
    for key in before:
        while length and (length == len(after) or key != after[length]):
            length = fallback[length - 1]
        if length < len(after) and key == after[length]:
            length += 1
    return length


def _key(message: Message) -> tuple[Any, ...]:
    # Ids are left out: a provider may name the same call differently when it is sent back.
    calls = tuple((call.name, repr(sorted(call.args.items()))) for call in message.tool_calls)
    return (message.role, message.content.strip(), calls)


def _with_run(messages: list[Message], run: ToolRun) -> list[Message]:
    """The conversation with a tool's run in it: nothing is added that it already has."""
    found = _caller(messages, run.call)
    if found is None:
        last = messages[-1] if messages else None
        at = (
            len(messages) - 1
            if last is not None and last.role == "assistant" and not last.tool_calls
            else len(messages)
        )
        if run.result is not None and any(
            message.role == "tool" and message.content == run.result for message in messages
        ):
            return messages
        added = [Message("assistant", "", (run.call,))]
        if run.result is not None:
            added.append(Message("tool", run.result, (), run.call.id, run.call.name))
        return [*messages[:at], *added, *messages[at:]]
    index, identity, answered = found
    if answered or run.result is None:
        return messages
    at = index + 1
    while at < len(messages) and messages[at].role == "tool":
        at += 1
    return [*messages[:at], Message("tool", run.result, (), identity, run.call.name), *messages[at:]]


def _caller(messages: list[Message], run: ToolCall) -> tuple[int, str | None, bool] | None:
    """Where the call of a run was made: the message's index, the call's id, and whether its result is there. Of calls
    without ids, the first of that name and arguments that has no result."""
    alike: tuple[int, str | None, bool] | None = None
    for index, message in enumerate(messages):
        for place, call in enumerate(message.tool_calls):
            same = run.id is not None and call.id == run.id
            if not same and not (
                (run.id is None or call.id is None) and call.name == run.name and call.args == run.args
            ):
                continue
            answered = _answered(messages, index, place, call)
            if same or not answered:
                return index, call.id, answered
            alike = alike or (index, call.id, True)
    return alike


def _answered(messages: list[Message], index: int, place: int, call: ToolCall) -> bool:
    """Does a message answer the call? By its id, else by standing in the call's place among the results that follow."""
    results = []
    for message in messages[index + 1 :]:
        if message.role != "tool":
            break
        results.append(message)
    if call.id is not None and any(message.tool_call_id == call.id for message in results):
        return True
    unnamed = [message for message in results if message.tool_call_id is None or call.id is None]
    return len(unnamed) > place


def _contexts(said: Sequence[Said]) -> list[str]:
    """What the model was given to read: what a reranker let through, where one ran; otherwise all that was retrieved."""
    chosen = [one for one in said if one.reranked] or [one for one in said if one.contexts]
    return list(dict.fromkeys(text for one in chosen for text in one.contexts))


def _outermost(read: Sequence[tuple[Span, Said]]) -> tuple[str | None, str | None]:
    known = {span.span_id for span, _ in read}
    for span, said in read:
        if span.parent_id not in known and said.tool is None and (said.given is not None or said.gave is not None):
            return said.given, said.gave
    return next(
        ((one.given, one.gave) for _, one in read if one.given is not None or one.gave is not None), (None, None)
    )


def _unlike(tools: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for tool in tools:
        if tool not in found:
            found.append(tool)
    return found
