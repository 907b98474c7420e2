"""A batch of samples, all evals on each, one call to the backend: what every way of running evals stands on.

It raises for nothing that a sample, an eval or a backend does; every eval has a result for every sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any, cast

from attrs import define, evolve

from yb_eval import UsageError
from yb_eval.errors import printable, shorten
from yb_eval_decision.asking import EvalSet, NoSample, told
from yb_eval_decision.backends.base import Backend, Request, Response
from yb_eval_decision.packing import Asked, Packing, unpack
from yb_eval_decision.results import EvalReport, Result, Usage
from yb_eval_decision.sample import Sample
from yb_eval_decision.validation import read_answers

if TYPE_CHECKING:
    from yb_eval_decision.eval import Eval


def assess(
    samples: Sequence[Any],
    evals: EvalSet | Sequence[Eval],
    backend: Backend,
    *,
    isolate: bool = False,
    repeat: int = 0,
    keep_sample: bool = False,
) -> list[EvalReport]:
    """A report for each sample, in order: all evals on each, asked together.

    `samples` are `Sample`s or what `Sample.of` reads; one that cannot be read is an error of every eval. `evals` that are
    asked of many batches are best given as one `EvalSet`. `isolate` asks each eval in a request of its own. `repeat` tells a
    cache that the same is asked anew. Does not raise for what samples, evals or the backend do.
    """
    batch = Batch(samples, evals, backend, isolate=isolate, repeat=repeat, keep_sample=keep_sample)
    return batch.reports(answered(backend, batch.requests))


def answered(backend: Backend, requests: Sequence[Request]) -> list[Response]:
    """A checked response to each of `requests`, whatever `backend` does."""
    if not requests:
        return []
    try:
        responses: Any = backend.decide(requests)
    except Exception as error:
        return _broken(requests, error)
    return checked(requests, responses)


async def aassess(
    samples: Sequence[Any],
    evals: EvalSet | Sequence[Eval],
    backend: Backend,
    *,
    isolate: bool = False,
    repeat: int = 0,
    keep_sample: bool = False,
) -> list[EvalReport]:
    """`assess`, in a running event loop, which goes on while the backend answers."""
    batch = Batch(samples, evals, backend, isolate=isolate, repeat=repeat, keep_sample=keep_sample)
    if not batch.requests:
        return batch.reports([])
    try:
        responses: Any = await backend.adecide(batch.requests)
    except Exception as error:
        return batch.reports(_broken(batch.requests, error))
    return batch.reports(checked(batch.requests, responses))


@define(slots=True)
class _Row:
    """One sample: what each eval asks or has as its result, and where its requests are among those of the batch."""

    sample: Sample | None
    pieces: list[Result | Asked]
    asked: Sequence[Asked]
    packing: Packing
    first: int


class Batch:
    """What is asked of a batch of samples, and the way back from the responses."""

    def __init__(
        self,
        samples: Sequence[Any],
        evals: EvalSet | Sequence[Eval],
        backend: Backend,
        *,
        isolate: bool = False,
        repeat: int = 0,
        keep_sample: bool = False,
    ) -> None:
        self._repeat = repeat
        self._evals = EvalSet.of(evals)
        self._packer = self._evals.packer(backend.limits, isolate=isolate)
        self._keep = keep_sample
        self._spec = backend.spec
        self.requests: list[Request] = []
        read = [_sample(given) for given in samples]
        pieces = iter(self._evals.ask_each([sample for sample in read if not isinstance(sample, str)]))
        self._rows = [
            _Row(None, [*self._evals.failed(sample)], (), _NOTHING, 0)
            if isinstance(sample, str)
            else self._row(sample, next(pieces))
            for sample in read
        ]

    def _row(self, sample: Sample, pieces: list[Result | Asked]) -> _Row:
        asked = [piece for piece in pieces if type(piece) is Asked]
        packing = self._packer.pack(asked)
        first = len(self.requests)
        for packed in packing.packed:
            request = packed.request
            self.requests.append(Request(request.state, request.questions, self._repeat) if self._repeat else request)
        return _Row(sample, pieces, asked, packing, first)

    def reports(self, responses: Sequence[Response]) -> list[EvalReport]:
        given = [responses[row.first : row.first + len(row.packing.packed)] for row in self._rows]
        answered = [
            zip(*unpack(row.asked, row.packing, mine), strict=True) for row, mine in zip(self._rows, given, strict=True)
        ]
        for index in range(len(self._evals.names)):  # eval by eval, as they are asked
            for row, left in zip(self._rows, answered, strict=True):
                if row.sample is not None and type(row.pieces[index]) is Asked:
                    answers, usage = next(left)
                    row.pieces[index] = self._evals.conclude(index, answers, row.sample, usage)
        return [self._report(row, mine) for row, mine in zip(self._rows, given, strict=True)]

    def _report(self, row: _Row, mine: Sequence[Response]) -> EvalReport:
        results = cast("list[Result]", row.pieces)
        sample = row.sample if self._keep else None
        if not mine:
            return EvalReport(results, _FREE, sample)
        return EvalReport(
            results,
            mine[0].usage if len(mine) == 1 else sum_of(response.usage for response in mine),
            sample,
            self._deciders(mine),
            tuple(dict.fromkeys([response.model for response in mine if response.model])),
        )

    def _deciders(self, responses: Sequence[Response]) -> dict[str, int]:
        """How many questions each backend decided."""
        decided: dict[str, int] = {}
        for response in responses:
            by = response.decided_by
            if not by:
                decided[self._spec] = decided.get(self._spec, 0) + len(response.answers)
                continue
            for id in response.answers:
                name = by.get(id, self._spec)
                decided[name] = decided.get(name, 0) + 1
        return decided


def _sample(given: Any) -> Sample | str:
    """The sample, or why there is none."""
    try:
        if isinstance(given, NoSample):
            raise UsageError(given.reason)
        return Sample.of(given)
    except Exception as error:
        return told("sample", error)


def sum_of(usages: Iterable[Usage]) -> Usage:
    """The sum of usages; nothing for none."""
    total: Usage | None = None
    for usage in usages:
        total = usage if total is None else total + usage
    return total or Usage()


_NOTHING = Packing()
_FREE = Usage()


def _broken(requests: Sequence[Request], error: Exception) -> list[Response]:
    """A backend that raises, which backends do not, has answered nothing."""
    return [Response.without(request, "error", told("backend", error), retry_later=True) for request in requests]


def checked(requests: Sequence[Request], responses: Any) -> list[Response]:
    """The responses with every answer held against the rules, whatever backend they come from."""
    if not isinstance(responses, Sequence) or len(responses) != len(requests):
        got = f"{len(responses)} responses" if isinstance(responses, Sequence) else printable(shorten(responses))
        reason = f"backend: {len(requests)} requests got {got}"
        return [Response.without(request, "error", reason, retry_later=True) for request in requests]
    checked: list[Response] = []
    for request, response in zip(requests, responses, strict=True):
        if not isinstance(response, Response):
            reason = f"backend: a Response is expected, not {printable(shorten(response))}"
            checked.append(Response.without(request, "error", reason))
            continue
        given, answers = response.answers, read_answers(request.questions, response.answers)
        same = isinstance(given, Mapping) and all(map(is_, map(given.get, answers), answers.values()))
        checked.append(response if same else evolve(response, answers=answers))
    return checked
