"""Packing: what many evals ask of one sample goes in as few requests as possible, and every answer finds its way back.

Evals whose states agree (no key with two values) share a request whose state is all of theirs; the first that agrees takes
an eval, so packing depends on nothing but the order of the evals. A request that would pass the backend's limits is
divided (`splitting`): between evals first, then between the questions of one eval. With `isolate` every eval has a request of
its own, which holds its own state only: then what one eval measures cannot depend on which others are asked beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field

from yb_eval import UsageError
from yb_eval_decision import tokens
from yb_eval_decision.answers import Answer, NoAnswer
from yb_eval_decision.backends.base import Limits, Request, Response
from yb_eval_decision.questions import Question
from yb_eval_decision.results import Usage
from yb_eval_decision.shares import divided

# Made for every sample and changed by nobody: `define`, for the constructor of `frozen` takes three times as long.


@define(slots=True)
class Asked:
    """What one eval, called `name` in this run, wants to know of one sample."""

    name: str
    state: Mapping[str, Any]
    questions: Mapping[str, Question]


@define(slots=True)
class Part:
    """The questions of one `Asked`, by its `index`, in one request: their own ids and those on the wire."""

    index: int
    ids: Sequence[tuple[str, str]]


@define(slots=True)
class Packed:
    """A request, the parts that it is made of, and the bytes of its state as JSON."""

    request: Request
    parts: Sequence[Part]
    state_bytes: int

    @property
    def input_tokens(self) -> int:
        """The estimated tokens that asking takes."""
        return input_tokens(self.request.questions.values(), self.state_bytes)


@define(slots=True)
class Packing:
    """The requests for one sample, and the answers already known: of questions that no request can hold."""

    packed: Sequence[Packed] = ()
    known: Mapping[tuple[int, str], NoAnswer] = field(factory=dict)


def unique_names(names: Iterable[str]) -> list[str]:
    """`names`, each of which occurs once: the second `coherence` becomes `coherence_2`, or the next that nobody has."""
    given = list(names)
    taken, seen, made = set(given), set[str](), []
    for name in given:
        chosen, number = name, 2
        if name in seen:
            while (chosen := f"{name}_{number}") in taken:
                number += 1
            taken.add(chosen)
        seen.add(name)
        made.append(chosen)
    return made


def agree(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same. Unlike `==` it tells true from 1, which a model reads differently."""
    if one is other:
        return True
    if isinstance(one, Mapping):
        if not isinstance(other, Mapping) or len(one) != len(other):
            return False
        return all(key in other and agree(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        if not isinstance(other, list | tuple) or len(one) != len(other):
            return False
        return all(map(agree, one, other))
    return type(one) is type(other) and bool(one == other)


def input_tokens(questions: Iterable[Question], state_bytes: int) -> int:
    """The estimated tokens of a request."""
    sizes = [tokens.question_bytes(question) for question in questions]
    overhead = tokens.REQUEST_OVERHEAD + tokens.QUESTION_OVERHEAD * len(sizes)
    return tokens.of_bytes(state_bytes + sum(sizes)) + overhead


@define(slots=True)
class _Plan:
    """How the questions of some evals go together, whatever the sample: worked out once."""

    parts: Sequence[Part]
    questions: Mapping[str, Question]
    sources: Sequence[Mapping[str, Question]]


class Packer:
    """Packs what the evals of one run ask, for a backend with `limits`. Thread-safe.

    What was worked out for the same mappings of questions is kept: whoever gives them does not change them.
    """

    def __init__(self, names: Sequence[str], limits: Limits | None = None, *, isolate: bool = False) -> None:
        self.limits = limits or Limits()
        self._isolate = isolate
        # A prefix without dots: whatever dots a question id has, no two ids on the wire are equal.
        prefixes = unique_names(name.replace(".", "_") for name in names)
        self._prefixes = dict(zip(names, prefixes, strict=True))
        # By place, name and identity of the questions of each member; those are kept, so that no others come to have it.
        self._plans: dict[tuple[int | str, ...], _Plan] = {}

    def pack(self, asked: Sequence[Asked]) -> Packing:
        """The requests for one sample. Never raises: what cannot be sent is `known` as an error."""
        packed: list[Packed] = []
        known: dict[tuple[int, str], NoAnswer] = {}
        for state, indexes in self._groups(asked):
            try:
                whole = self._whole(asked, indexes, state)
            except UsageError:
                self._one_by_one(asked, indexes, packed, known)
                continue
            if self._fits(whole):
                packed.append(whole)
            else:
                self._split(asked, indexes, packed, known)
        return Packing(packed, known)

    def _groups(self, asked: Sequence[Asked]) -> list[tuple[dict[str, Any], list[int]]]:
        """First fit: the states and the members of each request."""
        groups: list[tuple[dict[str, Any], list[int]]] = []
        for index, one in enumerate(asked):
            state = one.state
            for merged, members in () if self._isolate else groups:
                for key, value in state.items():
                    if key in merged and merged[key] is not value and not agree(merged[key], value):
                        break
                else:
                    merged.update(state)
                    members.append(index)
                    break
            else:
                groups.append((dict(state), [index]))
        return groups

    def _whole(self, asked: Sequence[Asked], indexes: Sequence[int], state: Mapping[str, Any]) -> Packed:
        """One request of these members. Raises `UsageError` where the state is not JSON."""
        size = len(tokens.encode(state))
        plan = self._plan(asked, indexes)
        return Packed(Request(state, plan.questions), plan.parts, size)

    def _plan(self, asked: Sequence[Asked], indexes: Sequence[int]) -> _Plan:
        key = tuple([v for i in indexes for v in (i, asked[i].name, id(asked[i].questions))])
        plan = self._plans.get(key)
        if plan is None:
            sources = [asked[index].questions for index in indexes]
            parts = [self._part(index, asked[index]) for index in indexes]
            merged = {wire: source[own] for part, source in zip(parts, sources, strict=True) for own, wire in part.ids}
            if len(self._plans) >= _KEPT:
                self._plans.clear()
            plan = self._plans[key] = _Plan(parts, merged, sources)
        return plan

    def _part(self, index: int, one: Asked) -> Part:
        prefix = self._prefixes[one.name]
        return Part(index, [(id, f"{prefix}.{id}") for id in one.questions])

    def _fits(self, packed: Packed) -> bool:
        limits, questions = self.limits, packed.request.questions
        if limits.questions is not None and len(questions) > limits.questions:
            return False
        if limits.options < 255 or limits.levels < 10:
            from yb_eval_decision.splitting import too_wide

            if any(too_wide(question, limits) for question in questions.values()):
                return False
        if limits.request_tokens is None and limits.body_bytes is None:
            return True
        # Whatever the questions' ids and the frame of the request take is small beside what `tokens` errs by.
        size = packed.state_bytes + sum(map(tokens.question_bytes, questions.values()))
        if limits.body_bytes is not None and size + 64 * len(questions) > limits.body_bytes:
            return False
        return limits.request_tokens is None or packed.input_tokens <= limits.request_tokens

    def _split(
        self,
        asked: Sequence[Asked],
        indexes: Sequence[int],
        packed: list[Packed],
        known: dict[tuple[int, str], NoAnswer],
    ) -> None:
        from yb_eval_decision.splitting import split_evals

        split = split_evals(asked, indexes, self.limits, self._part)
        packed.extend(split.packed)
        known.update(split.known)

    def _one_by_one(
        self,
        asked: Sequence[Asked],
        indexes: Sequence[int],
        packed: list[Packed],
        known: dict[tuple[int, str], NoAnswer],
    ) -> None:
        """The members whose own state is JSON; the others' questions are errors."""
        sound: list[int] = []
        for index in indexes:
            try:
                tokens.encode(asked[index].state)
                sound.append(index)
            except UsageError as error:
                known.update({(index, id): NoAnswer("error", f"state: {error}") for id in asked[index].questions})
        if sound:
            state: dict[str, Any] = {}
            for index in sound:
                state = {**asked[index].state, **state}
            whole = self._whole(asked, sound, state)
            if self._fits(whole):
                packed.append(whole)
            else:
                self._split(asked, sound, packed, known)


#: Combinations of questions whose plans are kept.
_KEPT = 128


def unpack(
    asked: Sequence[Asked], packing: Packing, responses: Sequence[Response]
) -> tuple[list[dict[str, Answer]], list[Usage]]:
    """For each `Asked` its answers by its own ids, in the order of its questions, and its share of the usage.

    `responses` are those to `packing.packed`, in order. A request's usage is divided by the number of questions; the shares
    sum to it exactly.
    """
    if len(packing.packed) == 1 and not packing.known:  # most samples: every eval is whole in the one request
        (packed,), (response,) = packing.packed, responses
        given = response.answers
        whole = [{own: given[wire] for own, wire in part.ids} for part in packed.parts]
        return whole, divided(response.usage, [len(part.ids) for part in packed.parts])
    answers: list[dict[str, Answer] | None] = [None] * len(asked)
    usages: list[Usage | None] = [None] * len(asked)
    for packed, response in zip(packing.packed, responses, strict=True):
        given = response.answers
        shares = divided(response.usage, [len(part.ids) for part in packed.parts])
        for part, share in zip(packed.parts, shares, strict=True):
            index = part.index
            found = {own: given[wire] for own, wire in part.ids}
            before, spent = answers[index], usages[index]
            answers[index] = found if before is None else before | found
            usages[index] = share if spent is None else spent + share
    for (index, id), none in packing.known.items():
        answers[index] = {**(answers[index] or {}), id: none}
    if packing.known or len(packing.packed) > 1:  # an eval that was divided has its answers in the order they came
        answers = [{id: (found or {})[id] for id in one.questions} for one, found in zip(asked, answers, strict=True)]
    return [found or {} for found in answers], [usage or _NOTHING for usage in usages]


_NOTHING = Usage()
