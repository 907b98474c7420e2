"""Surfaces: which texts of a sample a security eval looks at, and where those stand in the state.

| surface | texts, by id |
|---|---|
| `input` | `input`: the last user message |
| `output` | `output`: the final answer |
| `tool_result` | `r0`, `r1`, ...: all tool results, not the last alone |
| `context` | `chunk_0`, ...: the contexts |
| `system` | `system`: the system prompt |
| `all` | all of these but `system`, and the earlier user messages `user_0`, ... |

A text that is shown whole in a field that other evals use is looked at there, so that it is sent once. Any other is divided
into overlapping parts, each with a question of its own: nothing is hidden by what stands around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from attrs import frozen

from yb_eval_decision.cuts import TEXT, as_text, divided
from yb_eval_decision.parameters import parameter
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import all_results, calls_made, fields, results_shown_whole

Surface = Literal["input", "output", "tool_result", "context", "system", "all"]
SURFACES: tuple[Surface, ...] = ("input", "output", "tool_result", "context", "system", "all")
_OF_ALL: tuple[Surface, ...] = ("input", "output", "tool_result", "context")

_MISSING: Mapping[Surface, str] = {
    "input": "input (a user message)", "output": "output (a final answer)", "tool_result": "tool_result",
    "context": "contexts", "system": "system_prompt", "all": "input, output, tool_result or contexts",
}  # fmt: skip


def surface_parameter(default: Surface) -> Any:
    """The constructor argument `surface`."""
    return parameter(default, help="Which text is looked at.", choices=SURFACES)


@frozen(slots=True)
class Part:
    """A text, or a piece of one, that a question is asked about: the question's `id` and the dotted `path` in the state."""

    id: str
    path: str


@frozen(slots=True)
class Look:
    """The fields of the state that hold the texts, and their parts."""

    state: Mapping[str, Any]
    parts: tuple[Part, ...]

    def __add__(self, other: Look) -> Look:
        return Look({**self.state, **other.state}, self.parts + other.parts)


def missing(surface: Surface) -> str:
    """Why an eval does not apply to a sample without this surface."""
    return f"missing {_MISSING[surface]}"


def texts(s: Sample, surface: Surface) -> dict[str, str]:
    """The texts of a surface by id, whole; those that are empty are left out. What is no text is given as JSON."""
    derived, name = vars(s), f"texts.{surface}"
    if name not in derived:
        derived[name] = _texts(s, surface)
    made: dict[str, str] = derived[name]
    return made


def _texts(s: Sample, surface: Surface) -> dict[str, str]:
    found: list[tuple[str, str | None]] = []
    if surface == "all":
        found += _earlier(s)
    if surface in ("input", "all"):
        found.append(("input", s.last_user_message))
    if surface in ("output", "all"):
        found.append(("output", s.final_answer))
    if surface in ("tool_result", "all"):
        found += ((id, as_text(result)) for id, _, result, _ in all_results(s))
    if surface in ("context", "all"):
        found += ((f"chunk_{index}", text) for index, text in enumerate(s.contexts))
    if surface == "system":
        found.append(("system", s.system_prompt))
    return {id: text for id, text in found if text}


def _earlier(s: Sample) -> list[tuple[str, str | None]]:
    """What users said before their last message, and an `input` that is none of their messages."""
    said: list[str | None] = [*s.user_messages[:-1]]
    if s.input not in (*said, s.last_user_message):
        said.append(s.input)
    return [(f"user_{index}", text) for index, text in enumerate(said)]


def look(s: Sample, surface: Surface) -> Look:
    """Where the texts of a surface stand in the state."""
    derived, name = vars(s), f"look.{surface}"
    if name not in derived:
        derived[name] = _look(s, surface)
    made: Look = derived[name]
    return made


def _look(s: Sample, surface: Surface) -> Look:
    if surface == "all":
        whole = own("earlier_messages", ((id, text) for id, text in _earlier(s) if text))
        for each in _OF_ALL:
            whole += look(s, each)
        return whole
    found = texts(s, surface)
    if not found:
        return Look({}, ())
    if surface == "tool_result":
        if results_shown_whole(s) and all(isinstance(result, str) for _, _, result, _ in all_results(s)):
            parts = tuple(Part(id, f"tool_results.{id}.result") for id in found)
            return Look(fields(s, "tool_results"), parts)
        return _field(s, "evidence", found)
    if surface == "context":
        return _field(s, "contexts", found)
    name = {"input": "request", "output": "final_answer", "system": "system_prompt"}[surface]
    ((id, text),) = found.items()
    if len(text) <= TEXT and fields(s, name)[name] == text:
        return Look(fields(s, name), (Part(id, name),))
    return own(
        {"input": "last_user_message", "output": "answer_parts", "system": "system_prompt_parts"}[surface], [(id, text)]
    )


def recent_messages(s: Sample, n: int) -> Look:
    """The last `n` user messages, joined: what one of them prepares and another asks for is seen together."""
    said = s.user_messages[-n:]
    if len(said) < 2:
        return look(s, "input")
    made: Look = s._once(f"look.recent_{n}", lambda: own("recent_user_messages", [("recent", "\n\n".join(said))]))
    return made


def made_calls(s: Sample) -> Look:
    """All tool calls that were made or proposed: the field `actions` where it shows them whole, else all of them, divided."""
    made: Look = s._once("look.calls", lambda: _made_calls(s))
    return made


def _made_calls(s: Sample) -> Look:
    calls = calls_made(s)
    shown = fields(s, "actions")
    actions = shown["actions"]
    whole = len(actions) == len(calls) and all(
        action["args"] == call.args for action, (call, _) in zip(actions, calls, strict=True)
    )
    if whole:
        return Look(shown, (Part("actions", "actions"),) if calls else ())
    value = divided((f"a{i}", as_text({"tool": call.name, "args": call.args})) for i, (call, _) in enumerate(calls))
    if isinstance(value.get("part_0"), Mapping):
        return Look({"all_actions": value}, tuple(Part(f"actions.{part}", f"all_actions.{part}") for part in value))
    return Look({"all_actions": value}, (Part("actions", "all_actions"),))


def own(name: str, items: Iterable[tuple[str, str]]) -> Look:
    """A field of texts by id, divided where they are long."""
    value = divided(items)
    return Look({name: value}, leaves(name, value)) if value else Look({}, ())


def _field(s: Sample, name: str, found: Mapping[str, str]) -> Look:
    state = fields(s, name)
    return Look(state, tuple(part for part in leaves(name, state[name]) if part.id.partition(".")[0] in found))


def leaves(name: str, value: Mapping[str, Any]) -> tuple[Part, ...]:
    """The texts of a field that is `divided`. A text that is divided itself has ids with the name of the part: `r0.part_2`."""
    if not isinstance(value.get("part_0"), Mapping):
        return tuple(Part(id, f"{name}.{id}") for id in value)
    pieces = [(id, part) for part, held in value.items() for id in held]
    times = Counter(id for id, _ in pieces)
    return tuple(Part(id if times[id] == 1 else f"{id}.{part}", f"{name}.{part}.{id}") for id, part in pieces)
