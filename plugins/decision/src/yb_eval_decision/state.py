"""The fields of the state that built-in evals share.

Each field is one function of the sample with one cut, whichever eval asks for it: so the states of all built-in evals agree,
and whatever is asked of a sample goes in one request. A text that is cut says how much was left out; what must be seen
whole is not cut but divided (see `cuts`), each part with a question of its own. A field is made once for a sample
and kept with it.

The fields pair by turns: `request` is what the user said in the turn that `final_answer` belongs to, `earlier_turns` what was
said before. Calls and results of other turns are there too, marked `"turn": "earlier"` or `"later"`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, Literal, TypeVar

from yb_eval_decision.cuts import RESULT, WINDOW, as_text, bounded, cut, divided, share, windows
from yb_eval_decision.declining import declines
from yb_eval_decision.messages.model import ToolCall, Turn
from yb_eval_decision.sample import Sample
from yb_eval_decision.sentences import claims

T = TypeVar("T")

#: Characters of one tool's description; of the arguments of the call that is judged, and of its tool's schema; of one claim.
DESCRIPTION = 400
JUDGED = 12_000
CLAIM = 1_000
#: Tool calls, results, messages and steps that are shown, the latest; earlier turns.
CALLS = 16
MESSAGES = 16
STEPS = 16
TURNS = 8


def _once_for(made: Callable[[Sample], T]) -> Callable[[Sample], T]:
    """`made`, whose value is kept with the sample: several fields and evals ask for it. Do not change the value."""
    name = f"state.{made.__name__}"

    @wraps(made)
    def kept(s: Sample) -> T:
        derived = vars(s)
        if name not in derived:
            derived[name] = made(s)
        found: T = derived[name]
        return found

    return kept


@_once_for
def judged_turn(s: Sample) -> Turn | None:
    """The turn that `final_answer` belongs to: the last one that was answered so, else the last one that was answered, else
    the last one; `None` where no turn is known. The same choice as that of the sample's `input`."""
    turns = s.turns
    asked, answer = s.input, s.final_answer
    candidates = [turn for turn in turns if turn.user == asked]
    same = [turn for turn in candidates if turn.answer is not None and turn.answer == answer] or candidates
    return same[-1] if same else None


def whole_call(s: Sample) -> bool:
    """Whether the arguments of the judged call are shown whole in `tool_call`."""
    return s.tool_call is None or len(as_text(s.tool_call.args)) <= JUDGED


@_once_for
def calls_made(s: Sample) -> list[tuple[ToolCall, str | None]]:
    """All calls in order, with `earlier` or `later` for those of another turn than the judged one, and at the end, marked
    `proposed`, the call that is given as `tool_call` and has not been made."""
    calls = s.tool_calls
    marks: list[str | None] = [None] * len(calls)
    turn, turns = judged_turn(s), s.turns
    in_turns = sum(len(each.calls) for each in turns)
    if turn is not None and "tool_calls" not in s and in_turns <= len(calls):
        before = sum(len(each.calls) for each in turns[: turn.index]) + len(calls) - in_turns
        after = before + len(turn.calls)
        marks = ["earlier" if i < before else "later" if i >= after else None for i in range(len(calls))]
    made = list(zip(calls, marks, strict=True))
    proposed = s.tool_call if "tool_call" in s and s["tool_call"] is not None else None
    if proposed is not None and not _is_last(proposed, calls):
        made.append((proposed, "proposed"))
    return made


@_once_for
def all_results(s: Sample) -> list[tuple[str, str | None, Any, str | None]]:
    """All tool results, none left out, as (id, tool, result, turn): `r0` is the result of the first call, and so on; those
    of no known call come after."""
    made = [pair for pair in calls_made(s) if pair[1] != "proposed"]
    found: list[tuple[str, str | None, Any, str | None]] = [
        (f"r{index}", call.name, call.result, mark)
        for index, (call, mark) in enumerate(made)
        if call.result is not None
    ]
    results = s.tool_results
    known = [result for _, _, result, _ in found]
    if results != known:
        said = [as_text(result) for result in known]
        loose = [result for result in results if not any(as_text(result) in text for text in said)]
        found += ((f"r{len(made) + index}", None, result, None) for index, result in enumerate(loose))
    return found


@_once_for
def results_shown_whole(s: Sample) -> bool:
    """Whether `tool_results` holds all results uncut and fits one window: then it is evidence as it is, else `evidence` is."""
    arguments = _arguments(s)
    sizes = [_size(result, arguments.get(id)) for id, _, result, _ in all_results(s)]
    return len(sizes) <= CALLS and max(sizes, default=0) <= RESULT and sum(sizes) <= WINDOW


def claims_of(s: Sample, name: Literal["claims", "reference_claims"]) -> dict[str, str]:
    """All claims of the final answer (`c0`, `c1`, ...) or of the reference (`r0`, ...) by id: its sentences that assert
    something. A sentence by which the assistant only declines is none; one beyond reason (a log, a minified file) is several."""
    text, letter = (s.final_answer, "c") if name == "claims" else (s.expected, "r")
    told = (claim for claim in claims(text or "") if not declines(claim))
    pieces = (piece for claim in told for piece in windows(claim, CLAIM, 0).values())
    return {f"{letter}{index}": piece for index, piece in enumerate(pieces)}


def _is_last(call: ToolCall, calls: Sequence[ToolCall]) -> bool:
    """Whether a proposed call is the last of those in the trace, still without a result."""
    if not calls or calls[-1].result is not None:
        return False
    last = calls[-1]
    return (last.name, last.args) == (call.name, call.args) and (call.id is None or last.id in (None, call.id))


def _left_out(n: int, what: str) -> list[Any]:
    return [f"[{n} earlier {what} left out]"] if n > 0 else []


def _request(s: Sample) -> Any:
    return cut(s.input or "")


def _goal(s: Sample) -> Any:
    return cut(s.goal or "")


def _final_answer(s: Sample) -> Any:
    return cut(s.final_answer or "")


def _system_prompt(s: Sample) -> Any:
    return cut(s.system_prompt or "")


def _earlier_turns(s: Sample) -> Any:
    turn = judged_turn(s)
    earlier = s.turns[: turn.index] if turn is not None else []
    if not earlier:
        return []
    texts = [(each.user, each.answer or "") for each in earlier[-TURNS:]]
    limit = share(len(text) for pair in texts for text in pair)
    shown = [{"user": cut(user, limit), "answer": cut(answer, limit)} for user, answer in texts]
    return _left_out(len(earlier) - TURNS, "turns") + shown


def _conversation(s: Sample) -> Any:
    spoken = [m for m in s.messages if m.role in ("user", "assistant") and m.content]
    limit = share(len(m.content) for m in spoken[-MESSAGES:])
    shown = [{"role": m.role, "content": cut(m.content, limit)} for m in spoken[-MESSAGES:]]
    return _left_out(len(spoken) - MESSAGES, "messages") + shown


def _available_tools(s: Sample) -> Any:
    tools = s.tools
    limit = share([len(tool.description) for tool in tools], most=DESCRIPTION)
    return [{"name": tool.name, "description": _beginning(tool.description, limit)} for tool in tools]


def _beginning(text: str, limit: int) -> str:
    """A description says first what it is about."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)]}…"


def _actions(s: Sample) -> Any:
    made = calls_made(s)
    told = _argument_texts(s)[-CALLS:]
    limit = share(map(len, told))
    shown: list[Any] = []
    for index, ((call, mark), text) in enumerate(zip(made[-CALLS:], told, strict=True), max(0, len(made) - CALLS)):
        action: dict[str, Any] = {"tool": call.name, "args": bounded(call.args, limit, text)}
        if mark == "proposed":
            action["proposed"] = True
        elif mark is not None:
            action["turn"] = mark
        if call.result is not None and mark != "proposed":
            action["result"] = f"r{index}"
        shown.append(action)
    return _left_out(len(made) - CALLS, "calls") + shown


def _tool_results(s: Sample) -> Any:
    """With the arguments of their calls: `{"status": "shipped"}` says nothing of order 1042 unless that was asked for."""
    return _results(s, _arguments(s))


def _prior_results(s: Sample) -> Any:
    """Without them: where an argument is to be traced, that an earlier call had it too is no source."""
    return _results(s, {})


def _results(s: Sample, arguments: Mapping[str, tuple[Any, str]]) -> Any:
    found = all_results(s)
    limit = share([_size(result, arguments.get(id)) for id, _, result, _ in found[-CALLS:]])
    shown = {
        id: _result(
            tool,
            bounded(result, limit),
            turn,
            bounded(arguments[id][0], limit, arguments[id][1]) if id in arguments else None,
        )
        for id, tool, result, turn in found[-CALLS:]
    }
    return {"left_out": f"{len(found) - CALLS} earlier results", **shown} if len(found) > CALLS else shown


def _result(tool: str | None, result: Any, turn: str | None, arguments: Any) -> dict[str, Any]:
    record: dict[str, Any] = {} if tool is None else {"tool": tool}
    if arguments is not None:
        record["args"] = arguments
    record["result"] = result
    return record if turn is None else {**record, "turn": turn}


@_once_for
def _argument_texts(s: Sample) -> list[str]:
    """The arguments of each call made, as text."""
    return [as_text(call.args) for call, _ in calls_made(s)]


@_once_for
def _arguments(s: Sample) -> dict[str, tuple[Any, str]]:
    """The arguments of the calls that have some, as they are and as text, by the id of their result."""
    made = [
        (call, text) for (call, mark), text in zip(calls_made(s), _argument_texts(s), strict=True) if mark != "proposed"
    ]
    return {f"r{index}": (call.args, text) for index, (call, text) in enumerate(made) if call.args}


def _size(result: Any, arguments: tuple[Any, str] | None) -> int:
    return len(as_text(result)) + (len(arguments[1]) if arguments else 0)


def _evidence(s: Sample) -> Any:
    arguments = _arguments(s)
    return divided(
        (id, f"{arguments[id][1]}\n{as_text(result)}" if id in arguments else as_text(result))
        for id, _, result, _ in all_results(s)
    )


def _contexts(s: Sample) -> Any:
    return divided((f"chunk_{index}", text) for index, text in enumerate(s.contexts))


def _claims(s: Sample) -> Any:
    return claims_of(s, "claims")


def _reference_claims(s: Sample) -> Any:
    return claims_of(s, "reference_claims")


def _reference(s: Sample) -> Any:
    return cut(s.expected or "")


def _plan(s: Sample) -> Any:
    return cut(s.plan or said_before_acting(s) or "")


def said_before_acting(s: Sample) -> str | None:
    """What the assistant said first, if it called a tool then or later: the plan of an agent that states one."""
    said: str | None = None
    for message in s.messages:
        if message.role == "assistant":
            said = said or message.content or None
            if message.tool_calls:
                return said
    return None


def _tool_call(s: Sample) -> Any:
    call = s.tool_call
    if call is None:
        return None
    shown: dict[str, Any] = {"tool": call.name, "args": bounded(call.args, JUDGED)}
    made = calls_made(s)
    if made and made[-1][1] != "proposed" and made[-1][0].result is not None:
        shown["result"] = f"r{len(made) - 1}"
    return shown


def _tool_schema(s: Sample) -> Any:
    return next((bounded(tool.parameters, JUDGED) for tool in _tools_called(s)), None)


def _tool_description(s: Sample) -> Any:
    return next((cut(tool.description) for tool in _tools_called(s)), "")


def _tools_called(s: Sample) -> Iterable[Any]:
    call = s.tool_call
    return (tool for tool in s.tools if call is not None and tool.name == call.name)


def _steps(s: Sample) -> Any:
    steps = s.steps
    limit = share(len(as_text(value)) for step in steps[-STEPS:] for value in step.values())
    shown = [{name: bounded(value, limit) for name, value in step.items()} for step in steps[-STEPS:]]
    return _left_out(len(steps) - STEPS, "steps") + shown


FIELDS: Mapping[str, Callable[[Sample], Any]] = {
    "request": _request,
    "earlier_turns": _earlier_turns,
    "goal": _goal,
    "final_answer": _final_answer,
    "claims": _claims,
    "system_prompt": _system_prompt,
    "conversation": _conversation,
    "available_tools": _available_tools,
    "actions": _actions,
    "tool_results": _tool_results,
    "prior_results": _prior_results,
    "evidence": _evidence,
    "contexts": _contexts,
    "reference": _reference,
    "reference_claims": _reference_claims,
    "plan": _plan,
    "tool_call": _tool_call,
    "tool_schema": _tool_schema,
    "tool_description": _tool_description,
    "steps": _steps,
}


def fields(s: Sample, *names: str) -> dict[str, Any]:
    """The named fields of the state of `s`: the same objects whenever they are asked for."""
    known = _made(s)
    for name in names:
        if name not in known:
            known[name] = FIELDS[name](s)
    return {name: known[name] for name in names}


@_once_for
def _made(s: Sample) -> dict[str, Any]:
    """The fields that were asked for."""
    return {}
