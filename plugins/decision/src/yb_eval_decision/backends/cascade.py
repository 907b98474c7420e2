"""A cascade: `local -> kev://localhost:8009 -> llm:gpt-6-luna`. Cheap backends first; what they leave undecided goes on.

A question is undecided where its answer lies within a band: a noul whose probability is above `low` and below `high`, a choice
or score whose likeliest option is less than `margin` ahead of the next. An abstention always goes on. Failures (errors and
refusals) go on only after `~>` in place of `->`. The answer of the last backend that could be asked stands, undecided or not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from attrs import define, field, frozen

from yb_eval import UsageError
from yb_eval.digest import identifiable, identify
from yb_eval.errors import shorten
from yb_eval_decision.answers import Answer, NoAnswer, NoulAnswer
from yb_eval_decision.backends.base import Backend, Price, Request, Response
from yb_eval_decision.packing import Asked, Packer
from yb_eval_decision.questions import Question, paths_read
from yb_eval_decision.results import Usage
from yb_eval_decision.splitting import project


def _share(_: object, attribute: Any, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"{attribute.name} is a number within 0..1, not {shorten(value)}")


@frozen(slots=True)
class Band:
    """Where an answer is undecided; all within 0..1. The default margin is what the default band is for two options: 0.65 is
    0.3 ahead of 0.35."""

    low: float = field(default=0.35, validator=_share)
    high: float = field(default=0.65, validator=_share)
    margin: float = field(default=0.3, validator=_share)

    def __attrs_post_init__(self) -> None:
        if self.low > self.high:
            raise UsageError(f"a band goes from its lower end to its higher one, not from {self.low} to {self.high}")

    def holds(self, answer: Answer) -> bool:
        """Whether `answer` is undecided."""
        if isinstance(answer, NoulAnswer):
            return self.low < answer.probability < self.high
        if isinstance(answer, NoAnswer):
            return answer.state == "abstained"
        given = answer.probabilities
        shares = sorted(given.values() if isinstance(given, Mapping) else given)
        return len(shares) > 1 and shares[-1] - shares[-2] < self.margin


#: The band of a question (its id, itself, the backend that answered and the model that this one named), where one is known.
FindBand = Callable[[str, Question, Backend, str | None], Band | tuple[float, float] | None]
Bands = Mapping[str, Band | tuple[float, float]] | FindBand


class CascadeBackend(Backend):
    """`stages`, asked in their order. `bands` gives the band of each question: by id or pattern (`grounded.*`), or as a
    function (a saved calibration); without one it is `Band()`. `on_failure` says for each stage but the last whether failures
    go on as well.

    Only undecided questions are sent on, with the part of the state that they read. `limits` are the first stage's; what is
    too large for a later one is divided for it, and what it cannot take at all skips it. A response's `decided_by` names the
    stage whose answer stands, question by question; usage is that of all stages together. `price` is that of asking all
    stages everything: the most that a request may cost.
    """

    def __init__(
        self,
        stages: Sequence[Backend],
        *,
        bands: Bands | None = None,
        on_failure: Sequence[bool] | bool = False,
        spec: str | None = None,
    ) -> None:
        if len(stages) < 2:
            raise UsageError("a cascade has at least two backends", hint="local -> kev://localhost:8009")
        self.stages = tuple(stages)
        last = len(stages) - 1
        flags = [on_failure] * last if isinstance(on_failure, bool) else list(on_failure)
        if len(flags) != last:
            raise UsageError(f"on_failure has a value for each of {last} stages, not {len(flags)}")
        self._on_failure = tuple(flags)
        arrows = ["~>" if flag else "->" for flag in flags]
        self.spec = spec or "".join(f"{stage.spec} {arrow} " for stage, arrow in zip(stages, arrows)) + stages[-1].spec
        self._bands = _checked(bands)
        self.limits = stages[0].limits
        self.batch = stages[0].batch
        self.waits = any(stage.waits for stage in stages)
        # What a question costs depends on how many go on; a limit on the cost must reckon with all.
        self.price = _most(stages)
        self.fingerprint = identify(
            "decision-backend",
            {
                "class": "CascadeBackend",
                "stages": [stage.fingerprint for stage in stages],
                "on_failure": list(self._on_failure),
                "bands": _identity(self._bands),
            },
        )

    @property
    def notes(self) -> list[str]:
        """The notes of all stages."""
        return [note for stage in self.stages for note in getattr(stage, "notes", ())]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered at any stage."""
        return tuple(dict.fromkeys(model for stage in self.stages for model in getattr(stage, "models", ())))

    def reckon(self, price: Price) -> None:
        for stage in self.stages:
            stage.reckon(price)
        self.price = _most(self.stages)

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        steps = self._steps(requests)
        try:
            stage, asked = next(steps)
            while True:
                stage, asked = steps.send(stage.decide(asked))
        except StopIteration as done:
            return list(done.value)

    async def adecide(self, requests: Sequence[Request]) -> list[Response]:
        steps = self._steps(requests)
        try:
            stage, asked = next(steps)
            while True:
                responses = await stage.adecide(asked)
                stage, asked = steps.send(responses)
        except StopIteration as done:
            return list(done.value)

    def close(self) -> None:
        for stage in self.stages:
            stage.close()

    def _steps(
        self, requests: Sequence[Request]
    ) -> Generator[tuple[Backend, list[Request]], list[Response], list[Response]]:
        """Yields who is to be asked what, is sent the responses, and returns those of the cascade."""
        progress = [_Progress(request) for request in requests]
        for place, stage in enumerate(self.stages):
            asked: list[tuple[_Progress, Request]] = []
            for one in progress:
                asked += [(one, part) for part in (one.open_questions(stage) if place else [one.request])]
            asked = [(one, part) for one, part in asked if part.questions]
            if not asked:
                break
            responses = yield stage, [part for _, part in asked]
            on_failure = place < len(self._on_failure) and self._on_failure[place]
            for (one, part), response in zip(asked, responses, strict=True):
                one.take(stage, part, response)
                for id, question in part.questions.items():
                    one.undecided[id] = self._undecided(id, question, stage, response, on_failure)
        return [one.response() for one in progress]

    def _undecided(self, id: str, question: Question, stage: Backend, response: Response, on_failure: bool) -> bool:
        answer = response.answers[id]
        if isinstance(answer, NoAnswer):
            return answer.state == "abstained" or on_failure
        return self._band(id, question, stage, response.model).holds(answer)

    def _band(self, id: str, question: Question, stage: Backend, model: str | None) -> Band:
        bands = self._bands
        if callable(bands):
            return _band(bands(id, question, stage, model))
        if id in bands:
            return _band(bands[id])
        return next((_band(band) for pattern, band in bands.items() if fnmatchcase(id, pattern)), _DEFAULT)


_DEFAULT = Band()


@define(slots=True)
class _Progress:
    """How far one request has come."""

    request: Request
    answers: dict[str, Answer] = field(factory=dict)
    decided_by: dict[str, str] = field(factory=dict)
    undecided: dict[str, bool] = field(factory=dict)
    retry: dict[str, bool] = field(factory=dict)
    models: dict[str, None] = field(factory=dict)
    usage: Usage = field(factory=Usage)

    def open_questions(self, stage: Backend) -> list[Request]:
        """What is undecided, in requests that `stage` can take."""
        questions = {id: asked for id, asked in self.request.questions.items() if self.undecided.get(id)}
        if not questions:
            return []
        reads = [paths_read(question) for question in questions.values()]
        state = self.request.state
        if None not in reads:
            state = project(state, [path for paths in reads for path in paths or ()])
        packing = Packer(["cascade"], stage.limits).pack([Asked("cascade", state, questions)])
        return [
            Request(
                one.request.state,
                {own: questions[own] for part in one.parts for own, _ in part.ids},
                self.request.repeat,
            )
            for one in packing.packed
        ]

    def take(self, stage: Backend, asked: Request, response: Response) -> None:
        for id in asked.questions:
            self.answers[id] = response.answers[id]
            self.decided_by[id] = response.decided_by.get(id, stage.spec)
            self.retry[id] = response.retry_later
        if response.model is not None:
            self.models[response.model] = None
        self.usage = self.usage + response.usage

    def response(self) -> Response:
        # A failure that may pass counts where it is what stands.
        later = any(self.retry[id] for id, answer in self.answers.items() if isinstance(answer, NoAnswer))
        return Response(
            answers={id: self.answers[id] for id in self.request.questions},
            usage=self.usage,
            model=" -> ".join(self.models) or None,
            decided_by=self.decided_by,
            retry_later=later,
        )


def _most(stages: Sequence[Backend]) -> Price | None:
    """The price of asking every stage; `None` where that of one is unknown. What computes here is free."""
    prices = [stage.price or (None if stage.waits else Price(input=0.0)) for stage in stages]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    return Price(input=sum(price.input for price in known), output=sum(price.output for price in known))


def _checked(bands: Bands | None) -> Bands:
    if bands is None:
        return {}
    return bands if callable(bands) else {pattern: _band(band) for pattern, band in bands.items()}


def _band(band: Band | tuple[float, float] | None) -> Band:
    if band is None:
        return _DEFAULT
    return band if isinstance(band, Band) else Band(*band)


def _identity(bands: Bands) -> Any:
    if not callable(bands):
        return identifiable({name: [b.low, b.high, b.margin] for name, b in ((n, _band(v)) for n, v in bands.items())})
    told = getattr(bands, "fingerprint", None)
    return (
        told if isinstance(told, str) else f"{bands.__module__}.{getattr(bands, '__qualname__', type(bands).__name__)}"
    )


def parse(spec: str) -> list[tuple[str, bool]]:
    """The stages that a spec names, each with whether its failures go on. `a -> (b ~> c)` is `a -> b ~> c`.

    Raises `UsageError` for an arrow that leads from or to nothing, and for parentheses without their partners.
    """
    pieces = _pieces(spec)
    stages: list[tuple[str, bool]] = []
    for piece, on_failure in pieces:
        inner = piece[1:-1] if piece.startswith("(") and piece.endswith(")") else None
        if piece == "" or (inner is not None and not inner.strip()):
            raise UsageError(
                "an arrow leads from or to nothing", where=shorten(spec), hint="local -> kev://localhost:8009"
            )
        if inner is None:
            stages.append((piece, on_failure))
        else:
            within = parse(inner)
            stages += [*within[:-1], (within[-1][0], on_failure)]
    return stages


def _pieces(spec: str) -> list[tuple[str, bool]]:
    """`spec`, divided at the arrows outside of parentheses."""
    pieces: list[tuple[str, bool]] = []
    depth = start = place = 0
    while place < len(spec):
        sign = spec[place]
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
        if depth == 0 and spec[place : place + 2] in ("->", "~>"):
            pieces.append((spec[start:place].strip(), sign == "~"))
            place += 1
            start = place + 1
        place += 1
    if depth != 0:
        raise UsageError("a parenthesis has no partner", where=shorten(spec))
    return [*pieces, (spec[start:].strip(), False)]
