"""The values that flow through a run: samples, outcomes, measurements, verdicts.

All are frozen and hold nothing but JSON values, so that they can cross a process boundary and be written as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Protocol

from attrs import evolve, field, frozen

Status = Literal["scored", "error", "skipped"]
VerdictWord = Literal["pass", "fail", "unmeasured"]
Severity = Literal["block", "warn"]

#: How two runs over the same samples are compared for a measurement: by whether each sample was `correct`
#: (exact McNemar) or by its `score` (paired bootstrap).
Pairing = Literal["correct", "score"]


@frozen(slots=True)
class Sample:
    """One labelled row. `data` is the row as the suite reads it: a dict, or the suite's own attrs class.

    `line` (1-based) says where the row stands, for messages and annotations only: it never enters an id.
    `repeat` counts from 0 when a run asks for several outcomes of each sample.
    """

    id: str
    data: Any
    tags: tuple[str, ...] = ()
    line: int | None = None
    repeat: int = 0

    def again(self, repeat: int) -> Sample:
        return evolve(self, repeat=repeat)


class Judged(Protocol):
    """What an outcome and a judgement have in common; metrics fold either."""

    @property
    def status(self) -> Status: ...
    @property
    def correct(self) -> bool | None: ...
    @property
    def expected(self) -> Any: ...
    @property
    def predicted(self) -> Any: ...
    @property
    def score(self) -> float | None: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def details(self) -> Mapping[str, Any]: ...


@frozen(slots=True)
class Judgement:
    """One named judgement of an outcome that has several (a triage outcome has `label`, `severity`, `escalate`).

    `score` is a graded result on the suite's own scale, `confidence` the system's probability (0..1) that its
    prediction is right. `reason` is required for `error` and `skipped`.
    """

    status: Status = "scored"
    correct: bool | None = None
    expected: Any = None
    predicted: Any = None
    score: float | None = None
    confidence: float | None = None
    reason: str | None = None
    details: Mapping[str, Any] = field(factory=dict)


@frozen(slots=True)
class Outcome:
    """What became of one sample: judged once, or by several named judgements.

    A suite with one judgement fills the outcome itself and never sees `judgements`; a suite with several uses
    `Outcome.of`, which derives the summary. Values must be JSON: finite numbers, strings, booleans, null, lists,
    objects."""

    id: str
    status: Status = "scored"
    correct: bool | None = None
    expected: Any = None
    predicted: Any = None
    score: float | None = None
    confidence: float | None = None
    reason: str | None = None
    tags: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(factory=dict)
    judgements: Mapping[str, Judgement] = field(factory=dict)
    repeat: int = 0

    @classmethod
    def of(
        cls, sample: Sample, judgements: Mapping[str, Judgement], *, details: Mapping[str, Any] | None = None
    ) -> Outcome:
        """The outcome of `sample` under several judgements.

        It is an `error` if any judgement is one, `scored` if any is scored, else `skipped`; it is `correct` only if
        every scored judgement that can be right or wrong is right.
        """
        status: Status = "skipped"
        correct: bool | None = None
        expected: dict[str, Any] = {}
        predicted: dict[str, Any] = {}
        reasons: list[tuple[Status, str]] = []
        # One pass: this is made for every sample.
        for name, judgement in judgements.items():
            own = judgement.status
            if own == "error" or (own == "scored" and status == "skipped"):
                status = own
            if own == "scored" and judgement.correct is not None:
                correct = judgement.correct and correct is not False
            expected[name], predicted[name] = judgement.expected, judgement.predicted
            if judgement.reason:
                reasons.append((own, f"{name}: {judgement.reason}"))
        reason = "; ".join(text for own, text in reasons if own == status) if reasons else ""
        return cls(
            sample.id,
            status,
            correct if status == "scored" else None,
            expected,
            predicted,
            reason=reason or (None if status == "scored" else "no judgement"),
            tags=sample.tags,
            details=details or {},
            judgements=dict(judgements),
            repeat=sample.repeat,
        )

    @classmethod
    def judged(cls, sample: Sample, *, expected: Any, predicted: Any, **more: Any) -> Outcome:
        """The scored outcome of `sample`: correct if the prediction equals what is expected, unless `correct` is among
        `more`, which are further fields."""
        correct = more.pop("correct", predicted == expected)
        # By position: this is made for every sample, and keywords cost a third more.
        return cls(sample.id, "scored", correct, expected, predicted, tags=sample.tags, repeat=sample.repeat, **more)

    @classmethod
    def error(
        cls, sample: Sample, reason: str, *, expected: Any = None, details: Mapping[str, Any] | None = None
    ) -> Outcome:
        """The system or the harness failed on `sample`: neither a miss nor a pass nor a skip."""
        return cls(
            id=sample.id, status="error", expected=expected, reason=reason, tags=sample.tags,
            details=details or {}, repeat=sample.repeat,
        )  # fmt: skip

    @classmethod
    def skipped(cls, sample: Sample, reason: str) -> Outcome:
        return cls(id=sample.id, status="skipped", reason=reason, tags=sample.tags, repeat=sample.repeat)

    def judgement(self, name: str | None) -> Judged | None:
        """The judgement called `name`, the outcome itself for `None`; `None` where this outcome has no such judgement.

        An outcome that failed as a whole has no judgements: each of them is then that same error.
        """
        if name is None:
            return self
        found = self.judgements.get(name)
        if found is None and not self.judgements and self.status != "scored":
            return self
        return found


@frozen(slots=True)
class Measurement:
    """A number with what is needed to believe it.

    `value` is `None` with a `reason` where nothing could be measured. `n` is the denominator the metric's docstring
    states. `interval` is a 95 % interval (Wilson for rates). `details` is a JSON object shown beside the number
    (a confusion table, bins, a curve).
    """

    name: str
    value: float | int | None
    n: int = 0
    interval: tuple[float, float] | None = None
    reason: str | None = None
    details: Mapping[str, Any] = field(factory=dict)


@frozen(slots=True)
class Declared:
    """What a metric says of a measurement before the run, so that gates can be read and refused early.

    `low` and `high` bound the possible values (`None`: unbounded); a threshold outside them is refused.
    `pairing` says how two runs are compared sample by sample (of the judgement called `judgement`), `None` where
    they cannot be. `better` says which direction is an improvement, where one is. `sliced` allows `name["key"]`.
    """

    name: str
    help: str
    low: float | None = 0.0
    high: float | None = 1.0
    better: Literal["higher", "lower"] | None = "higher"
    pairing: Pairing | None = None
    judgement: str | None = None
    sliced: bool = False


class Measurements(Mapping[str, Measurement]):
    """The measurements of a run by name, in the order in which they were made."""

    __slots__ = ("_by_name",)

    def __init__(self, measurements: Iterable[Measurement] = ()) -> None:
        self._by_name: dict[str, Measurement] = {}
        for measurement in measurements:
            if measurement.name in self._by_name:
                raise ValueError(f"two metrics measure {measurement.name!r}")
            self._by_name[measurement.name] = measurement

    def __getitem__(self, name: str) -> Measurement:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Measurements({list(self._by_name.values())!r})"


@frozen(slots=True)
class Verdict:
    """What one gate says. `unmeasured` is not a pass."""

    gate: str
    verdict: VerdictWord
    reason: str
    severity: Severity = "block"


@frozen(slots=True)
class FileDigest:
    """One file of a dataset: its role in it, its size in bytes and the hex sha256 of its bytes."""

    role: str
    size: int
    sha256: str


@frozen(slots=True)
class Flip:
    """A sample on which two runs differ in one judgement (`None`: the outcome itself)."""

    id: str
    kind: Literal["broken", "fixed", "changed"]
    before: Any
    after: Any
    judgement: str | None = None


@frozen(slots=True)
class Paired:
    """One judgement of two runs over the samples they share.

    `n` counts pairs in which both sides are scored; `broken` (right before, wrong now), `fixed` (the reverse) and
    `changed` (another prediction, whether or not it matters) are counts among them; `lost` counts samples that were
    scored before and are an error or skipped now. `p_value` is McNemar's exact one, `interval` the 95 % interval of
    the change of the rate of correct samples. `score_change` and `score_interval` are the mean paired difference of
    scores and its bootstrap interval, `None` where no pair has scores. `adjusted_p` is Holm's, where the run tests several
    suites or judgements against a baseline.
    """

    n: int
    broken: int
    fixed: int
    changed: int
    lost: int
    p_value: float
    interval: tuple[float, float] | None
    score_change: float | None = None
    score_interval: tuple[float, float] | None = None
    adjusted_p: float | None = None


@frozen(slots=True)
class Comparison:
    """Two runs of a suite, sample by sample.

    `comparable` is false, with the `reason`, where nothing can be said (another suite, no shared sample).
    `judgements` maps each judgement's name (`""`: the outcome itself) to its paired view. `added` and `removed` are
    ids."""

    comparable: bool
    reason: str | None
    baseline_run_id: str | None
    same_revision: bool
    shared: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    judgements: Mapping[str, Paired]
    flips: tuple[Flip, ...]
