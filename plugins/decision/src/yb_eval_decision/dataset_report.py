"""What a dataset looks like through its evals: counts of every state, means, pass rates with their intervals.

Only sums are kept, so the memory does not grow with the data; `keep=True` also keeps the reports. What was not measured is
never dropped in silence: it is counted, and `pass_bounds` say what the pass rate would be if all of it failed, or passed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson
from attrs import Factory, define, evolve, frozen

from yb_eval import UsageError
from yb_eval.errors import nearest
from yb_eval.statistics import wilson
from yb_eval_decision.exact import ExactSum
from yb_eval_decision.results import EvalReport, Result, Usage

#: Failures of one eval that are kept where reports are not: the first ones. All are counted.
KEPT_FAILURES = 100
_STATUSES = ("measured", "abstained", "refused", "error", "skipped")
#: Latencies are counted in classes that are so much wider from one to the next: percentiles are right to 2.5 %.
_CLASS = 1.05
_Key = TypeVar("_Key", str, int)


@frozen(slots=True)
class RowReport:
    """One row of a dataset: its place, id, what stood beside its sample, and its report."""

    index: int
    id: str | None
    metadata: Mapping[str, Any]
    report: EvalReport

    def to_dict(self) -> dict[str, Any]:
        beside = {"metadata": dict(self.metadata)} if self.metadata else {}
        return {"index": self.index, "id": self.id, **beside, **self.report.to_dict()}


@define(slots=True)
class Tally:
    """One eval over a dataset."""

    name: str
    counts: dict[str, int] = Factory(lambda: dict.fromkeys(_STATUSES, 0))
    scored: int = 0
    total: ExactSum = Factory(ExactSum)
    judged: int = 0
    passes: int = 0
    answers: dict[str, int] = Factory(dict)
    failing: int = 0
    failures: list[tuple[int, Result]] = Factory(list)
    reasons: dict[str, str] = Factory(dict)
    #: How many failures are kept where reports are not.
    keeps: int = KEPT_FAILURES

    def add(self, index: int, result: Result, keep_all: bool) -> None:
        status = result.status
        self.counts[status] += 1
        if status != "measured":
            self.reasons.setdefault(status, result.reason)
            return
        if result.score is not None:
            self.scored += 1
            self.total.add(result.score)
        if result.answer is not None:
            self.answers[result.answer] = self.answers.get(result.answer, 0) + 1
        if result.passed is None:
            return
        self.judged += 1
        if result.passed:
            self.passes += 1
            return
        self.failing += 1
        if keep_all or len(self.failures) < self.keeps:
            self.failures.append((index, result if keep_all else evolve(result, answers={})))

    def merge(self, later: Tally, keep_all: bool) -> None:
        """Counts in what was counted of rows that come after these."""
        _count_in(self.counts, later.counts)
        _count_in(self.answers, later.answers)
        self.scored += later.scored
        self.total.merge(later.total)
        self.judged += later.judged
        self.passes += later.passes
        self.failing += later.failing
        room = None if keep_all else self.room
        self.failures += later.failures[:room]
        for status, reason in later.reasons.items():
            self.reasons.setdefault(status, reason)

    @property
    def room(self) -> int:
        """How many more failures are kept where reports are not."""
        return max(0, self.keeps - len(self.failures))

    @property
    def n(self) -> int:
        """The samples that the eval applies to: all that were not skipped."""
        return sum(self.counts.values()) - self.counts["skipped"]

    @property
    def mean(self) -> float | None:
        """The mean score of those that have one."""
        return self.total.over(self.scored) if self.scored else None

    @property
    def pass_rate(self) -> float | None:
        """The share of passes among those with a verdict."""
        return self.passes / self.judged if self.judged else None

    @property
    def pass_interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of `pass_rate`."""
        return wilson(self.passes, self.judged) if self.judged else None

    @property
    def pass_bounds(self) -> tuple[float, float] | None:
        """The pass rate over all that the eval applies to, if what was not measured had failed, and if it had passed."""
        unmeasured = self.n - self.counts["measured"]
        together = self.judged + unmeasured
        return (self.passes / together, (self.passes + unmeasured) / together) if together else None

    def to_dict(self) -> dict[str, Any]:
        answered = sum(self.answers.values())
        return {
            "n": self.n, **self.counts, "mean": self.mean, "pass_rate": self.pass_rate,
            "pass_interval": None if self.pass_interval is None else list(self.pass_interval),
            "pass_bounds": None if self.pass_bounds is None else list(self.pass_bounds),
            "answers": {name: count / answered for name, count in sorted(self.answers.items())},
            "reasons": dict(self.reasons),
        }  # fmt: skip


class DatasetReport:
    """All evals over all rows. `report["name"]` is the `Tally` of an eval."""

    def __init__(self, names: Sequence[str], *, keep: bool = False) -> None:
        self.tallies = {name: Tally(name) for name in names}
        self.n = 0
        #: Rows whose results were read from an earlier, interrupted run; `usage` holds nothing of them.
        self.resumed = 0
        self._usage = Usage()
        self._cost, self._latency = ExactSum(), ExactSum()
        self.models: tuple[str, ...] = ()
        self.decided_by: dict[str, int] = {}
        self.wall_ms = 0.0
        self.kept: list[RowReport] | None = [] if keep else None
        self._latencies: dict[int, int] = {}

    def add(self, row: RowReport, *, resumed: bool = False) -> None:
        """Counts a row in. A resumed one took nothing now."""
        report = row.report
        self.n += 1
        for result in report.results:
            self.tallies[result.name].add(row.index, result, self.kept is not None)
        if self.kept is not None:
            self.kept.append(row)
        if report.models and report.models != self.models:
            self.models = tuple(dict.fromkeys((*self.models, *report.models)))
        if resumed:
            self.resumed += 1
            return
        self._usage += report.usage
        self._latency.add(report.usage.latency_ms)
        if report.usage.cost_usd:
            self._cost.add(report.usage.cost_usd)
        for name, count in report.decided_by.items():
            self.decided_by[name] = self.decided_by.get(name, 0) + count
        if report.usage.requests:
            place = _class_of(report.usage.latency_ms / report.usage.requests)
            self._latencies[place] = self._latencies.get(place, 0) + 1

    def merge(self, later: DatasetReport) -> None:
        """Counts in the report of the rows that come after these, made with the same evals and the same `keep`. The outcome
        is that of all rows one by one, to the last bit, however they were divided; `wall_ms` stays."""
        self.n += later.n
        self.resumed += later.resumed
        for name, tally in self.tallies.items():
            tally.merge(later.tallies[name], self.kept is not None)
        if self.kept is not None:
            self.kept += later._rows()
        self.models = tuple(dict.fromkeys((*self.models, *later.models)))
        self._usage += later._usage
        self._cost.merge(later._cost)
        self._latency.merge(later._latency)
        _count_in(self.decided_by, later.decided_by)
        _count_in(self._latencies, later._latencies)

    @property
    def usage(self) -> Usage:
        """What all rows took that were asked now."""
        cost = None if self._usage.cost_usd is None else float(self._cost)
        return evolve(self._usage, cost_usd=cost, latency_ms=float(self._latency))

    def __getitem__(self, name: str) -> Tally:
        if name not in self.tallies:
            raise KeyError(f"no eval is named {name!r} ({nearest(name, self.tallies)})")
        return self.tallies[name]

    def __iter__(self) -> Iterator[Tally]:
        return iter(self.tallies.values())

    def __len__(self) -> int:
        return self.n

    @property
    def passed(self) -> bool | None:
        """False if anything failed, `None` if nothing did but something that applies was not measured, else true."""
        if any(tally.failing for tally in self):
            return False
        if any(tally.n > tally.counts["measured"] for tally in self):
            return None
        return True if any(tally.counts["measured"] for tally in self) else None

    @property
    def reports(self) -> list[EvalReport]:
        """The reports of all rows. Raises `UsageError` where they were not kept."""
        return [row.report for row in self._rows()]

    def results_for(self, name: str) -> list[Result]:
        """All results of one eval, in the order of the rows, whatever their status. Raises `UsageError` without `keep`."""
        self[name]
        return [row.report[name] for row in self._rows()]

    def failures(self, name: str) -> list[tuple[int, Result]]:
        """The failures of one eval as (row, result): the first 100 of them, or all where reports are kept."""
        return list(self[name].failures)

    def latency(self, share: float) -> float | None:
        """The milliseconds that a request took, on the average of its sample, in `share` of the samples (0.5: the median)."""
        wanted = math.ceil(share * sum(self._latencies.values()))
        for place, count in sorted(self._latencies.items()):
            wanted -= count
            if wanted <= 0:
                return float(0.01 * _CLASS**place)
        return None

    def summary(self) -> dict[str, dict[str, Any]]:
        """By eval: n (samples it applies to), how many of each status, mean, pass rate with interval and bounds, shares of
        answers, and the first reason for each status but measured."""
        return {tally.name: tally.to_dict() for tally in self}

    def to_dict(self) -> dict[str, Any]:
        return {
            "n": self.n, "resumed": self.resumed, "passed": self.passed, "evals": self.summary(),
            "usage": self.usage.to_dict(), "models": list(self.models), "decided_by": dict(self.decided_by),
        }  # fmt: skip

    def table(self) -> str:
        """The report as a text table."""
        from yb_eval_decision.tables import dataset_table

        return dataset_table(self)

    __str__ = table

    def to_records(self) -> list[dict[str, Any]]:
        """A flat object for each row: `index`, `id`, and `NAME.status`, `.score`, `.passed`, `.answer`, `.p` for each eval.
        Raises `UsageError` where reports were not kept."""
        return [_flat(row) for row in self._rows()]

    def to_pandas(self) -> Any:
        """`to_records` as a `pandas.DataFrame`. Needs the extra `pandas`."""
        try:
            import pandas  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            hint = "pip install 'yb-eval-decision[pandas]'"
            raise UsageError("to_pandas needs pandas, which is not installed", hint=hint) from None
        return pandas.DataFrame(self.to_records())

    def write_jsonl(self, path: str | Path) -> None:
        """One line for each row. Raises `UsageError` where reports were not kept: then `out=` writes them as they come."""
        from yb_eval_decision.results_file import whole_file

        with whole_file(Path(path)) as file:
            for row in self._rows():
                file.write(line_of(row.to_dict()))

    def _rows(self) -> list[RowReport]:
        if self.kept is None:
            raise UsageError(
                "the reports were not kept", hint="evaluate_dataset(..., keep=True), or out='results.jsonl'"
            )
        return self.kept


def line_of(value: Any) -> bytes:
    """A line of JSON. What an eval's evidence holds that is not JSON is written as its text, NaN as null."""
    option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    try:
        return orjson.dumps(value, default=str, option=option)
    except TypeError:  # integers beyond 64 bits, lone surrogates
        return orjson.dumps(_plain(value), default=str, option=option)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _count_in(counts: dict[_Key, int], more: Mapping[_Key, int]) -> None:
    for key, count in more.items():
        counts[key] = counts.get(key, 0) + count


def _class_of(ms: float) -> int:
    return round(math.log(ms / 0.01, _CLASS)) if ms > 0.01 else 0


def _flat(row: RowReport) -> dict[str, Any]:
    flat: dict[str, Any] = {"index": row.index, "id": row.id}
    for result in row.report.results:
        flat[f"{result.name}.status"] = result.status
        flat[f"{result.name}.score"] = result.score
        flat[f"{result.name}.passed"] = result.passed
        flat[f"{result.name}.answer"] = result.answer
        flat[f"{result.name}.p"] = result.probability
    return flat
