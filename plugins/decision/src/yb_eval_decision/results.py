"""What an eval says of a sample, what it took to find out, and all of it for one sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from attrs import evolve, field, frozen

from yb_eval.errors import nearest
from yb_eval_decision.answers import Answer
from yb_eval_decision.sample import Sample

#: `measured`: there is a score or a verdict. All others are unmeasured, each for its own reason.
Status = Literal["measured", "abstained", "refused", "error", "skipped"]
Action = Literal["allow", "modify", "escalate", "block"]


@frozen(slots=True)
class Usage:
    """What answering took. `cost_usd` is `None` where no price is known; `cost_complete` is false where it is the cost of a
    part only. `retries` counts attempts beyond the first, `cached` questions that were answered from the cache, free.
    Latency is an observation and enters no id."""

    requests: int = 0
    questions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    cost_complete: bool = True
    retries: int = 0
    cached: int = 0
    latency_ms: float = 0.0
    backend: str | None = None

    def __add__(self, other: Usage) -> Usage:
        """Both together; a cost that only one of two with requests knows makes the sum incomplete."""
        mine, others = self.cost_usd, other.cost_usd
        known = others if mine is None else mine if others is None else mine + others
        unknown = (mine is None and self.requests > 0) or (others is None and other.requests > 0)
        return Usage(
            requests=self.requests + other.requests,
            questions=self.questions + other.questions,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=known,
            cost_complete=self.cost_complete and other.cost_complete and (known is None or not unknown),
            retries=self.retries + other.retries,
            cached=self.cached + other.cached,
            latency_ms=self.latency_ms + other.latency_ms,
            backend=self.backend if self.backend == other.backend or other.backend is None else other.backend
            if self.backend is None else "several",
        )  # fmt: skip

    def __str__(self) -> str:
        parts = [_counted(self.requests, "request"), f"{self.input_tokens + self.output_tokens:,} tokens"]
        if self.cost_usd is not None:
            least = "" if self.cost_complete else "at least "
            parts.append(f"{least}${self.cost_usd:.5f}" if self.cost_usd < 0.01 else f"{least}${self.cost_usd:.2f}")
        parts.append(f"{self.latency_ms / 1000:.2f}s")
        return " · ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "requests": self.requests, "questions": self.questions,
            "input_tokens": self.input_tokens, "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd, "cost_complete": self.cost_complete,
            "retries": self.retries, "cached": self.cached, "latency_ms": self.latency_ms, "backend": self.backend,
        }  # fmt: skip


@frozen(slots=True)
class Result:
    """What one eval says of one sample.

    A `measured` result has a `score` (0..1, higher is better) or a `passed`, usually both; any other `status` has neither
    and a `reason`. `probability` is the model's for what the eval asked, `answer` the option it chose. `evidence` and
    `detail` explain; `answers` are the answers by question id. `action` and `value` (a modified payload) are for gates.
    """

    name: str = ""
    score: float | None = None
    passed: bool | None = None
    answer: str | None = None
    probability: float | None = None
    detail: str = ""
    evidence: Mapping[str, Any] = field(factory=dict)
    answers: Mapping[str, Answer] = field(factory=dict)
    action: Action | None = None
    value: Any = None
    status: Status = "measured"
    reason: str = ""
    usage: Usage = Usage()

    @classmethod
    def unmeasured(cls, status: Status, reason: str, **more: Any) -> Result:
        """A result without a score: `skipped`, `abstained`, `refused` or `error`."""
        return cls(status=status, reason=reason, **more)

    @property
    def measured(self) -> bool:
        return self.status == "measured"

    @property
    def skipped(self) -> bool:
        return self.status == "skipped"

    @property
    def error(self) -> str | None:
        """What failed, `None` where nothing did."""
        return self.reason if self.status == "error" else None

    def __bool__(self) -> bool:
        """Whether the eval was measured and passed: what is unmeasured is no pass."""
        if self.status != "measured":
            return False
        return self.passed if self.passed is not None else (self.score or 0.0) >= 0.5

    def named(self, name: str) -> Result:
        return self if self.name == name else evolve(self, name=name)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values; answers and usage apart."""
        return {
            "status": self.status, "score": self.score, "passed": self.passed, "answer": self.answer,
            "probability": self.probability, "detail": self.detail, "reason": self.reason,
            "evidence": dict(self.evidence), "action": self.action, "value": self.value,
        }  # fmt: skip


@frozen(slots=True)
class EvalReport:
    """The results of all evals on one sample, in the order in which the evals were given.

    `report["name"]` and `report.name` give the result of that name; `KeyError` and `AttributeError` name the nearest known
    one. A result whose name is also an attribute of the report (`usage`, `passed`) is reached by item.
    """

    results: Sequence[Result]
    usage: Usage = field(factory=Usage)
    sample: Sample | None = None
    decided_by: Mapping[str, int] = field(factory=dict)
    models: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Result:
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(f"no eval is named {name!r} ({nearest(name, [result.name for result in self.results])})")

    def __getattr__(self, name: str) -> Result:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def passed(self) -> bool | None:
        """False if any measured eval failed, `None` if none failed but something that applies is unmeasured (or nothing was
        measured at all), else true."""
        if any(result.passed is False for result in self.results if result.measured):
            return False
        if any(result.status in ("error", "abstained", "refused") for result in self.results):
            return None
        return True if any(result.measured for result in self.results) else None

    @property
    def failures(self) -> list[Result]:
        return [result for result in self.results if result.measured and result.passed is False]

    @property
    def unmeasured(self) -> list[Result]:
        return [result for result in self.results if not result.measured]

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "results": {result.name: result.to_dict() for result in self.results},
            "usage": self.usage.to_dict(),
            "models": list(self.models),
        }

    def table(self) -> str:
        """The report as a text table, the usage in its last line."""
        from yb_eval_decision.tables import report_table

        return report_table(self)

    def __str__(self) -> str:
        return self.table()


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
