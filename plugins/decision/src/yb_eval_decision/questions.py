"""What a decision model is asked: typed questions about a state.

A `Noul` is a yes/no question, a `Choice` has options, a `Score` has levels, lowest first. Besides the text that goes over
the wire, a question says which parts of the state it reads, so that a request can be split without hiding anything from
it, and which `Task` it is, where it is one that a model without language understanding can answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten

MAX_OPTIONS = 255
LEAST_LEVELS, MOST_LEVELS = 2, 10
#: The id, or the end of it, of the question whether there is enough to answer another one.
ENOUGH = "enough"

#: Instructions as the wire takes them: a text, or JSON that says the same with structure.
Instructions = str | Mapping[str, Any] | Sequence[Any]


@frozen(slots=True)
class Task:
    """What a question asks, for a model that knows a few kinds of questions only.

    `name` is one of those kinds (`support`, `injection`, `jailbreak`, `refusal`, `relevance`); `parts` says where in the
    state its parts stand, as dotted paths: `Task("support", {"claim": "claims.c0", "evidence": "tool_results"})`. It is
    never sent to a remote model.
    """

    name: str
    parts: Mapping[str, str]


def _checked_instructions(_: object, __: object, value: Any) -> None:
    if isinstance(value, bytes) or not isinstance(value, str | Mapping | Sequence) or not value:
        raise UsageError(f"instructions must be a text, an object or a list, not {shorten(value)}")


def _read_paths(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(path, str) for path in value):
        raise UsageError(f"reads are dotted paths of the state, in a list, not {shorten(value)}")
    return tuple(value)


def _checked_task(_: object, __: object, value: Any) -> None:
    if value is not None and not isinstance(value, Task):
        raise UsageError(f"a task is a Task, not {shorten(value)}", hint="Task('support', {'claim': 'claims.c0'})")


@frozen(slots=True)
class Noul:
    """A yes/no question. `criteria` may describe both answers: `{"true": ..., "false": ...}`.

    `reads` are the dotted paths of the state that the question needs (`None`: all of it; a question with a `task` reads
    the task's parts). Raises `UsageError` for criteria with other keys.
    """

    instructions: Instructions = field(validator=_checked_instructions)
    criteria: Mapping[str, Any] | None = field(default=None)
    task: Task | None = field(default=None, kw_only=True, validator=_checked_task)
    reads: tuple[str, ...] | None = field(default=None, kw_only=True, converter=_read_paths)
    type: Literal["noul"] = field(default="noul", init=False)

    @criteria.validator
    def _check_criteria(self, _: object, value: Mapping[str, Any] | None) -> None:
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(
                f"a noul's criteria are an object, not {shorten(value)}", hint="{'true': ..., 'false': ...}"
            )
        for key in value or ():
            if key not in ("true", "false"):
                raise UsageError(f"a noul's criteria have no {key!r}", hint="they describe 'true' and 'false'")


@frozen(slots=True, init=False)
class Choice:
    """A question with one right option. `criteria` (or `options`) maps each option to its description, or `None`.

    `abstain` names the option that means "there is not enough to tell": where the model chooses it, the question counts as
    abstained. 1 to 255 options; raises `UsageError` otherwise.
    """

    instructions: Instructions
    criteria: Mapping[str, str | None]
    task: Task | None = field(validator=_checked_task)
    reads: tuple[str, ...] | None = field(converter=_read_paths)
    abstain: str | None
    type: Literal["choice"]

    def __init__(
        self,
        instructions: Instructions,
        criteria: Mapping[str, str | None] | Sequence[str] | None = None,
        *,
        options: Mapping[str, str | None] | Sequence[str] | None = None,
        abstain: str | None = None,
        task: Task | None = None,
        reads: tuple[str, ...] | None = None,
    ) -> None:
        _checked_instructions(None, None, instructions)
        given = _read_options(_one_of(criteria, options, "options"))
        if abstain is not None and not (isinstance(abstain, str) and abstain in given):
            raise UsageError(f"abstain names no option: {shorten(abstain)}", hint=nearest(str(abstain), given))
        self.__attrs_init__(instructions, given, task, reads, abstain, "choice")


@frozen(slots=True, init=False)
class Score:
    """A question with graded levels, lowest first: `criteria` (or `levels`) describes each. 2 to 10 levels, no two with the
    same text (white space aside): a model could not tell them apart. Raises `UsageError` otherwise."""

    instructions: Instructions
    criteria: tuple[str, ...]
    task: Task | None = field(validator=_checked_task)
    reads: tuple[str, ...] | None = field(converter=_read_paths)
    type: Literal["score"]

    def __init__(
        self,
        instructions: Instructions,
        criteria: Sequence[str] | None = None,
        *,
        levels: Sequence[str] | None = None,
        task: Task | None = None,
        reads: tuple[str, ...] | None = None,
    ) -> None:
        _checked_instructions(None, None, instructions)
        given = _one_of(criteria, levels, "levels")
        ordered = isinstance(given, Sequence) and not isinstance(given, str)
        if not ordered or not all(isinstance(level, str) for level in given):
            raise UsageError(f"levels must be a list of texts, not {shorten(given)}")
        if not LEAST_LEVELS <= len(given) <= MOST_LEVELS:
            raise UsageError(f"a score has {LEAST_LEVELS} to {MOST_LEVELS} levels, not {len(given)}")
        said: dict[str, int] = {}
        for index, level in enumerate(given):
            if (first := said.setdefault(" ".join(level.split()), index)) != index:
                raise UsageError(
                    f"levels {first} and {index} are the same: {shorten(level)}", hint="say what sets them apart"
                )
        self.__attrs_init__(instructions, tuple(given), task, reads, "score")


Question = Noul | Choice | Score

_TYPES = {"noul": Noul, "boolean": Noul, "bool": Noul, "choice": Choice, "score": Score}
_KEYS = {
    Noul: frozenset({"type", "instructions", "criteria", "task", "reads"}),
    Choice: frozenset({"type", "instructions", "criteria", "options", "abstain", "task", "reads"}),
    Score: frozenset({"type", "instructions", "criteria", "levels", "task", "reads"}),
}


def read_question(value: Any, where: str = "question") -> Question:
    """The question that a JSON object describes, as on the wire or in a YAML eval; raises `UsageError` at `where`."""
    if isinstance(value, Noul | Choice | Score):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"an object is expected, not {shorten(value)}", where=where)
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise UsageError(f"unknown type {shorten(kind)}", where=f"{where}.type", hint=nearest(str(kind), _TYPES))
    made = _TYPES[kind]
    for key in value:
        if key not in _KEYS[made]:
            raise UsageError(f"unknown key {key!r}", where=where, hint=nearest(str(key), _KEYS[made]))
    if "instructions" not in value:
        raise UsageError("no instructions", where=where, hint="say what is asked")
    arguments = {key: item for key, item in value.items() if key not in ("type", "task", "reads")}
    try:
        if "task" in value:
            arguments["task"] = _read_task(value["task"])
        if "reads" in value:
            arguments["reads"] = value["reads"]
        question: Question = made(**arguments)
        return question
    except UsageError as error:
        raise UsageError(error.what, where=where, hint=error.hint) from error


def _read_task(value: Any) -> Task:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or set(value) - {"name", "parts"}:
        raise UsageError(f"a task is an object of name and parts, not {shorten(value)}")
    return Task(value["name"], dict(value.get("parts") or {}))


def wire_question(question: Question) -> dict[str, Any]:
    """The question as the System One wire has it: type, instructions and, where there are any, criteria."""
    wire: dict[str, Any] = {"type": question.type, "instructions": question.instructions}
    if question.criteria is not None:
        wire["criteria"] = list(question.criteria) if isinstance(question, Score) else dict(question.criteria)
    return wire


def paths_read(question: Question) -> tuple[str, ...] | None:
    """The dotted paths of the state that `question` needs, `None` for all of it."""
    if question.reads is not None:
        return question.reads
    return None if question.task is None else tuple(question.task.parts.values())


def _read_options(given: Any) -> Mapping[str, Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Mapping | Sequence):
        # A set has another order in another process.
        raise UsageError(f"options must be an object or a list of names, not {shorten(given)}")
    for name in given:
        if not isinstance(name, str) or not name:
            raise UsageError(f"an option's name must be a text that is not empty, not {shorten(name)}")
    options = given if isinstance(given, Mapping) else dict.fromkeys(given)
    if len(options) != len(given):
        raise UsageError(f"options must be different names, not {shorten(given)}")
    if not 1 <= len(options) <= MAX_OPTIONS:
        raise UsageError(f"a choice has 1 to {MAX_OPTIONS} options, not {len(options)}")
    for name, means in options.items():
        if means is not None and not isinstance(means, str | Mapping | list):
            raise UsageError(f"the description of an option is a text, not {shorten(means)}", where=shorten(name, 40))
    return options


def _one_of(first: Any, second: Any, name: str) -> Any:
    if (first is None) == (second is None):
        raise UsageError(f"give either criteria or {name}", hint="they mean the same")
    return second if first is None else first
