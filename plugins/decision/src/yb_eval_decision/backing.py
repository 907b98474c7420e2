"""The backend of a run of the suite, as core sees it: a target.

`--backend` opens one of this plugin's backends; `--target` one of core's targets, which is then asked System One requests. Either
way core's `--record` and `--replay` work: a recording holds a state as its sha256 only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from yb_eval import Answer, Context, Target, UsageError
from yb_eval.interfaces import Concurrency
from yb_eval_decision.answers import NoAnswer
from yb_eval_decision.backends.base import Backend, Price, Request, Response
from yb_eval_decision.questions import Question, read_question, wire_question
from yb_eval_decision.results import Usage
from yb_eval_decision.validation import read_answers

if TYPE_CHECKING:
    from yb_eval_decision.calibration import Calibration

#: The fields of a request that no recording may hold.
PRIVATE = frozenset({"state"})


def run_backend(
    spec: str | None,
    context: Context,
    *,
    most: float | None = None,
    price: Price | None = None,
    saved: Calibration | None = None,
) -> tuple[Backend, Target]:
    """The backend of a run, and the target it is or stands behind. It may cost `most` US dollars, reckoned at `price` where
    its own is not known. A `saved` calibration says where a cascade's answers are undecided.

    Raises `UsageError` where two systems are named, and for what cannot be opened.
    """
    if spec is not None and context.target != "builtin":
        raise UsageError(f"--backend {spec} and --target {context.target} name two systems", hint="choose one")
    made: list[BackendTarget] = []

    def builtin() -> Target:
        made.append(BackendTarget(_opened(spec, context, most, price, saved)))
        return made[-1]

    target = context.open_target({"builtin": builtin}, private=PRIVATE)
    # What core wrapped (to record it) is asked as core asks; what it did not wrap need not be turned to JSON and back.
    if made:
        return made[0].backend if target is made[0] else TargetBackend(target), target
    return _limited(TargetBackend(target), most, price), target


def _opened(
    spec: str | None, context: Context, most: float | None, price: Price | None, saved: Calibration | None
) -> Backend:
    from yb_eval_decision.backends.opening import open_backend

    backend = _limited(open_backend(spec, settings=context.settings, store=saved), most, price)
    cache: Path | None = getattr(context.settings, "cache", None)
    if cache is None:
        return backend
    from yb_eval_decision.cache import CachedBackend, place_in

    # Outside the limit: what is known already costs nothing.
    return CachedBackend(backend, place_in(context.settings.base / cache))


def _limited(backend: Backend, most: float | None, price: Price | None) -> Backend:
    if price is not None:
        backend.reckon(price)
    if most is None:
        return backend
    from yb_eval_decision.budget import MaxCost

    if backend.price is None and backend.waits:
        raise UsageError(
            f"the price of {backend.spec} is not known, so --max-cost cannot be kept", hint="--input-price"
        )
    return MaxCost(backend, most)


def notes_of(backend: Any) -> list[str]:
    """What a backend and those it stands before have to tell of the run: a model that changed, a cache not written."""
    found: list[str] = []
    while backend is not None:
        found += [note for note in getattr(backend, "notes", ()) if note not in found]
        backend = getattr(backend, "inner", None)
    return found


class BackendTarget:
    """A backend as a target of core: System One requests in, System One answers out.

    Where the backend keeps its answers itself, `hits` and `misses` count questions."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.spec = backend.spec
        self.fingerprint = backend.fingerprint
        self.batch_size = backend.batch
        self.concurrency: Concurrency = "threads" if backend.waits else "processes"

    #: The cache is the backend's own, question by question.
    keeps_answers = True

    @property
    def hits(self) -> int:
        return getattr(self.backend, "hits", 0)

    @property
    def misses(self) -> int:
        return getattr(self.backend, "misses", 0)

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        read = [
            Request(
                request["state"],
                {name: read_question(asked) for name, asked in request["questions"].items()},
                repeat,
            )
            for request in requests
        ]
        return [_answer(response) for response in self.backend.decide(read)]

    def close(self) -> None:
        self.backend.close()


def _answer(response: Response) -> Answer:
    usage = response.usage
    value = {
        "answers": {name: wire_answer(answer) for name, answer in response.answers.items()},
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost_usd": usage.cost_usd},
        "model": response.model,
    }
    if response.retry_later:
        first = next((a for a in response.answers.values() if isinstance(a, NoAnswer)), None)
        return Answer(failure="the backend is down" if first is None else first.reason)
    return Answer(value)


def wire_answer(answer: Any) -> dict[str, Any]:
    """An answer in the System One form."""
    said: dict[str, Any] = answer.to_dict()
    if answer.type == "noul":
        return {"type": "noul", "noul": answer.probability}
    if answer.type == "score":
        said["probabilities"] = {str(level): p for level, p in enumerate(answer.probabilities)}
    return said


class TargetBackend(Backend):
    """A target of core as a backend: whatever answers System One requests, in Python, as a process or over HTTP."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.spec = target.spec
        self.fingerprint = target.fingerprint
        self.batch = target.batch_size
        self.waits = target.concurrency == "threads"

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        repeats = sorted({request.repeat for request in requests})
        responses: dict[int, Response] = {}
        for repeat in repeats:
            places = [place for place, request in enumerate(requests) if request.repeat == repeat]
            asked = [_wire(requests[place]) for place in places]
            for place, answer in zip(places, self.target.ask(asked, repeat=repeat), strict=True):
                responses[place] = _response(requests[place], answer, self.price)
        return [responses[place] for place in range(len(requests))]

    def close(self) -> None:
        self.target.close()


def _wire(request: Request) -> dict[str, Any]:
    return {
        "state": dict(request.state),
        "questions": {name: _full_question(question) for name, question in request.questions.items()},
    }


def _full_question(question: Question) -> dict[str, Any]:
    """The question with what is not on the System One wire: a target that does not know these fields leaves them alone."""
    wire = wire_question(question)
    if question.task is not None:
        wire["task"] = {"name": question.task.name, "parts": dict(question.task.parts)}
    abstain = getattr(question, "abstain", None)
    return {**wire, "abstain": abstain} if abstain is not None else wire


def _response(request: Request, answer: Answer, price: Price | None = None) -> Response:
    usage = Usage(requests=1, questions=len(request.questions))
    if answer.failure is not None:
        return Response.without(request, "error", answer.failure, usage=usage)
    said = answer.value
    if not isinstance(said, Mapping) or not isinstance(said.get("answers"), Mapping):
        return Response.without(request, "error", "the answer is no object with answers", usage=usage)
    counted = said.get("usage")
    if isinstance(counted, Mapping):
        usage = evolve(
            usage, input_tokens=_tokens(counted, "input_tokens"), output_tokens=_tokens(counted, "output_tokens")
        )
        cost = counted.get("cost_usd")
        if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0:
            usage = evolve(usage, cost_usd=float(cost))
        elif price is not None:
            usage = evolve(usage, cost_usd=price.of(usage.input_tokens, usage.output_tokens))
    model = said.get("model")
    return Response(
        answers=read_answers(request.questions, said["answers"]),
        usage=usage,
        model=model if isinstance(model, str) else None,
    )


def _tokens(usage: Mapping[str, Any], name: str) -> int:
    count = usage.get(name)
    return count if type(count) is int and count >= 0 else 0
