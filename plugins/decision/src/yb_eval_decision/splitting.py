"""Dividing what is too large for one request, without hiding anything from a question.

First between evals: each goes into the first request that has room for it. An eval that is too large alone is divided between
its questions: with its whole state where that leaves room for questions, otherwise with the state cut down to what
the questions read (`questions.paths_read`). A question that does not fit with what it reads is an error of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field

from yb_eval_decision import tokens
from yb_eval_decision.answers import NoAnswer
from yb_eval_decision.backends.base import Limits, Request
from yb_eval_decision.packing import Asked, Packed, Packing, Part, agree
from yb_eval_decision.questions import Choice, Question, Score, paths_read

#: Bytes on the wire that a question takes beside its own JSON: its id and the answer's frame.
_FRAME = 64
#: Bytes of a key or path in a state beside its name: quotes, colon, comma and braces.
_KEY = 6

MakePart = Callable[[int, Asked], Part]


def split_evals(asked: Sequence[Asked], indexes: Iterable[int], limits: Limits, part: MakePart) -> Packing:
    """Requests within `limits` for the members of one group, whose states agree and are JSON."""
    open_: list[_Open] = []
    packed: list[Packed] = []
    known: dict[tuple[int, str], NoAnswer] = {}
    for index in indexes:
        one = asked[index]
        wide = {id: why for id, question in one.questions.items() if (why := too_wide(question, limits))}
        known.update({(index, id): NoAnswer("error", why) for id, why in wide.items()})
        ids = [(own, wire) for own, wire in part(index, one).ids if own not in wide]
        if not ids:
            continue
        sizes = _sizes(one.state)
        whole = _Open(limits).with_(index, ids, one, sizes)
        if whole is None:
            _split_questions(index, one, ids, limits, packed, known)
            continue
        for at, room in enumerate(open_):
            joined = room.with_(index, ids, one, sizes)
            if joined is not None:
                open_[at] = joined
                break
        else:
            open_.append(whole)
    return Packing([*(room.packed() for room in open_), *packed], known)


def too_wide(question: Question, limits: Limits) -> str:
    """Why the backend cannot take the question at all, if so: more options or levels than it knows."""
    n = len(question.criteria) if isinstance(question, Choice | Score) else 0
    if isinstance(question, Choice) and n > limits.options:
        return f"the question has {n} options, the backend takes {limits.options}"
    if isinstance(question, Score) and n > limits.levels:
        return f"the question has {n} levels, the backend takes {limits.levels}"
    return ""


def project(state: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The part of `state` that dotted `paths` name. A path ends early at what is no object (a list is kept whole, so that
    its positions stay what they were); a path that leads nowhere names nothing."""
    shown: dict[str, Any] = {}
    whole: set[tuple[str, ...]] = set()
    for steps in sorted({steps for path in paths if (steps := _steps(state, path))}, key=len):
        if any(steps[:n] in whole for n in range(1, len(steps))):
            continue  # shown already, within something larger
        source: Any = state
        target = shown
        for step in steps[:-1]:
            source = source[step]
            target = target.setdefault(step, {})
        target[steps[-1]] = source[steps[-1]]
        whole.add(steps)
    return _in_order(shown, state, whole)


def _steps(state: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """The keys that `path` goes through, as far as there are objects; `()` where it leads nowhere."""
    if path in state:
        return (path,)
    steps: list[str] = []
    here: Any = state
    for step in path.split("."):
        if not isinstance(here, Mapping):
            break
        if step not in here:
            return ()
        steps.append(step)
        here = here[step]
    return tuple(steps)


def _in_order(
    shown: dict[str, Any], source: Mapping[str, Any], whole: set[tuple[str, ...]], at: tuple[str, ...] = ()
) -> dict[str, Any]:
    """`shown` with its keys in the order of `source`: what a model reads first must not depend on who asks."""
    return {
        key: shown[key] if (*at, key) in whole else _in_order(shown[key], source[key], whole, (*at, key))
        for key in source
        if key in shown
    }


@define(slots=True)
class _Open:
    """A request that may take more."""

    limits: Limits
    state: dict[str, Any] = field(factory=dict)
    questions: dict[str, Question] = field(factory=dict)
    parts: list[Part] = field(factory=list)
    state_bytes: int = 2
    question_bytes: int = 0

    def with_(self, index: int, ids: Sequence[tuple[str, str]], one: Asked, sizes: Mapping[str, int]) -> _Open | None:
        """This request and these questions, `None` where they do not fit together."""
        state = one.state
        if any(key in self.state and not agree(self.state[key], value) for key, value in state.items()):
            return None
        asked = {wire: one.questions[own] for own, wire in ids}
        made = _Open(
            self.limits,
            {**self.state, **state},
            {**self.questions, **asked},
            [*self.parts, Part(index, list(ids))],
            self.state_bytes + sum(size for key, size in sizes.items() if key not in self.state),
            self.question_bytes + sum(map(tokens.question_bytes, asked.values())),
        )
        return made if not made.excess() else None

    def excess(self) -> str:
        """What is too large, in words, if anything."""
        return _excess(self.state_bytes, self.question_bytes, len(self.questions), self.limits)

    def packed(self) -> Packed:
        return Packed(Request(self.state, self.questions), self.parts, self.state_bytes)


def _excess(state_bytes: int, question_bytes: int, n: int, limits: Limits) -> str:
    taken = tokens.of_bytes(state_bytes + question_bytes) + tokens.REQUEST_OVERHEAD + n * tokens.QUESTION_OVERHEAD
    size = state_bytes + question_bytes + n * _FRAME
    if limits.request_tokens is not None and taken > limits.request_tokens:
        return f"about {taken:,} tokens, the backend takes {limits.request_tokens:,}"
    if limits.body_bytes is not None and size > limits.body_bytes:
        return f"{size:,} bytes, the backend takes {limits.body_bytes:,}"
    if limits.questions is not None and n > limits.questions:
        return f"{n} questions, the backend takes {limits.questions}"
    return ""


def _split_questions(
    index: int,
    one: Asked,
    ids: Sequence[tuple[str, str]],
    limits: Limits,
    packed: list[Packed],
    known: dict[tuple[int, str], NoAnswer],
) -> None:
    """The questions of one eval that does not fit in one request: those that read the same together, as many as fit with what
    they read."""
    sizes = _sizes(one.state)
    # A state that leaves hardly any room would be sent again for every question or two.
    roomy = not _excess((2 + sum(sizes.values())) * 4 // 3, 0, 1, limits)
    keep_state = roomy and all(_Open(limits).with_(index, [pair], one, sizes) is not None for pair in ids)
    needed = {pair: _needs(one.state, None if keep_state else paths_read(one.questions[pair[0]])) for pair in ids}
    chunk: list[tuple[str, str]] = []
    parts: dict[tuple[str, ...], int] = {}
    question_bytes = 0
    for pair in _by_largest(needed):
        question, needs = one.questions[pair[0]], needed[pair]
        size = tokens.question_bytes(question)
        if too_large := _excess(2 + sum(needs.values()), size, 1, limits):
            known[index, pair[0]] = NoAnswer("error", f"the question and what it reads take {too_large}")
            continue
        together = {**parts, **needs}
        if chunk and _excess(2 + sum(together.values()), question_bytes + size, len(chunk) + 1, limits):
            packed.append(_chunk(index, one, chunk, keep_state))
            chunk, together, question_bytes = [], needs, 0
        chunk.append(pair)
        parts, question_bytes = together, question_bytes + size
    if chunk:
        packed.append(_chunk(index, one, chunk, keep_state))


def _by_largest(needed: Mapping[tuple[str, str], Mapping[tuple[str, ...], int]]) -> list[tuple[str, str]]:
    """The questions with those side by side whose largest part is the same: ten claims about one page go with the page, not
    one claim with each of ten pages. Otherwise as they came."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for pair, needs in needed.items():
        groups.setdefault(max(needs, key=needs.__getitem__, default=()), []).append(pair)
    return [pair for group in groups.values() for pair in group]


def _needs(state: Mapping[str, Any], paths: Sequence[str] | None) -> dict[tuple[str, ...], int]:
    """The parts of the state that are shown whole, by the keys that lead there, with their bytes: not less than what their
    projection takes, for keys and parts that two paths share are counted twice."""
    found = [(key,) for key in state] if paths is None else [steps for path in paths if (steps := _steps(state, path))]
    return {steps: len(tokens.encode(_at(state, steps))) + sum(len(key.encode()) + _KEY for key in steps)
            for steps in found}  # fmt: skip


def _at(state: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        state = state[step]
    return state


def _chunk(index: int, one: Asked, ids: Sequence[tuple[str, str]], keep_state: bool) -> Packed:
    questions = {wire: one.questions[own] for own, wire in ids}
    reads = [None if keep_state else paths_read(question) for question in questions.values()]
    whole = None in reads
    state = dict(one.state) if whole else project(one.state, [path for paths in reads for path in paths or ()])
    return Packed(Request(state, questions), [Part(index, list(ids))], len(tokens.encode(state)))


def _sizes(state: Mapping[str, Any]) -> dict[str, int]:
    return {key: len(tokens.encode(value)) + len(key.encode()) + _KEY for key, value in state.items()}
