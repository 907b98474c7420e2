"""An eager evaluator is asked while its file is checked; what comes of it counts only if the whole file is good, and is
then what the ordinary way gives."""

from __future__ import annotations

import gzip
import io
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import pytest
from attrs import define, evolve, field, frozen

from yb_eval import Outcome, Plan, Sample, Suite, UsageError, ahead
from yb_eval.ahead import OutcomesAhead
from yb_eval.builtin import yb_eval_executors
from yb_eval.composition import Observer, run
from yb_eval.datasets import RowDataset, source
from yb_eval.digest import identify
from yb_eval.dryrun import foresee
from yb_eval.errors import NOTHING_KEPT, DatasetError, YbEvalError
from yb_eval.executors import ProcessExecutor, ThreadExecutor
from yb_eval.gates import ExpressionGate
from yb_eval.interfaces import Metric
from yb_eval.metrics import Accuracy, Sliced
from yb_eval.model import Measurement
from yb_eval.preparation import Environment
from yb_eval.record import Store
from yb_eval.runoptions import RunOptions, SuiteRequest
from yb_eval.work import BatchWork, Fold, Shard

CHUNK = 2_000
"""Bytes of a block in these tests."""


@frozen(kw_only=True)
class Row:
    text: str
    parity: Literal["even", "odd"] = "even"
    note: str | None = None
    weight: int = 1


class Broken(Exception):
    pass


@define
class Parity:
    """Is a text's length even? `fault` is what goes wrong at a text that begins with `boom`."""

    eager: bool = True
    batch_size: int = 3
    fault: str = ""
    concurrency: Any = "processes"
    asked: list[str] = field(factory=list)
    held: Any = None

    @property
    def fingerprint(self) -> str:
        return identify("evaluator", {"of": "parity"})

    def evaluate(self, samples: Sequence[Sample]) -> Any:
        self.asked += [sample.id for sample in samples]
        outcomes = [self._outcome(sample) for sample in samples]
        if any(_text(sample).startswith("boom") for sample in samples):
            return self._gone_wrong(outcomes)
        return outcomes

    def _outcome(self, sample: Sample) -> Outcome:
        text = _text(sample)
        expected = sample.data["parity"] if isinstance(sample.data, dict) else sample.data.parity
        return Outcome.judged(sample, expected=expected, predicted="odd" if len(text) % 2 else "even")

    def _gone_wrong(self, outcomes: list[Outcome]) -> Any:
        match self.fault:
            case "raises":
                raise Broken("a bug in the suite")
            case "refuses":
                raise UsageError("no such thing", hint="another")
            case "too few":
                return outcomes[:-1]
            case "another's":
                return [evolve(outcomes[0], id="nobody"), *outcomes[1:]]
            case "not finite":
                return [evolve(each, details={"score": float("nan")}) for each in outcomes]
            case "no status":
                return [evolve(each, status="lost") for each in outcomes]
            case "no outcomes":
                return None
            case "interrupted":
                raise KeyboardInterrupt
            case "dies":
                if multiprocessing.parent_process() is not None:
                    os._exit(9)
        return outcomes


def _text(sample: Sample) -> str:
    return str(sample.data["text"] if isinstance(sample.data, dict) else sample.data.text)


def rows(count: int, **texts: str) -> list[dict[str, Any]]:
    """Rows `r0`, `r1`, ..., of which every fifth is answered wrong."""
    made = []
    for i in range(count):
        text = texts.get(f"r{i}", "x" * (i % 7 + 1))
        right = "odd" if len(text) % 2 else "even"
        other = "even" if right == "odd" else "odd"
        made.append({"id": f"r{i}", "text": text, "parity": right if i % 5 else other, "tags": [f"mod:{i % 3}"]})
    return made


def lines(made: list[dict[str, Any]], end: bytes = b"\n") -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + end for row in made)


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK", CHUNK)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two hundred rows in some seven blocks."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows(200)))
    return path


def request_of(evaluator: Parity, dataset: Any, name: str = "parity", metrics: Any = None, **options: Any) -> Any:
    plan = Plan(
        dataset=dataset,
        evaluator=evaluator,
        metrics=[Accuracy(), Sliced(metric=Accuracy())] if metrics is None else metrics,
        gates=[ExpressionGate("accuracy >= 0.5")],
    )
    suite = Suite(name=name, summary="Is a text's length even?", options=_Options, build=lambda options, context: plan)
    made = RunOptions(**options)
    return SuiteRequest(suite=suite, options=_Options(), run=made, name=name, distribution="tests", version="0")


@frozen(kw_only=True)
class _Options:
    pass


def environment(folder: Path) -> Environment:
    return Environment(Store(folder), executors=yb_eval_executors())


@define
class Ran:
    """What became of a run: how many questions had been asked when the plan was fixed, and in all."""

    report: dict[str, Any]
    before: int | None
    asked: int

    @property
    def suite(self) -> dict[str, Any]:
        return self.report["suites"][0]

    @property
    def result(self) -> tuple[Any, ...]:
        suite = self.suite
        return tuple(suite[key] for key in ("plan_id", "run_id", "outcomes", "measurements", "counts", "gates"))


def ran(store: Path, evaluator: Parity, dataset: Any, *, whole: Any = None, **options: Any) -> Ran:
    before: list[int] = []
    watch = Observer(planned=lambda plan_id, prepared: before.append(len(evaluator.asked)))
    request = request_of(evaluator, dataset, **options)
    report = run([request], environment(store), watch, **(whole or {})).report
    return Ran(report, before[0], len(evaluator.asked))


def told(store: Path, evaluator: Parity, dataset: Any, **options: Any) -> Any:
    """The result of a run, or the error that it ends with."""
    try:
        done = ran(store, evaluator, dataset, **options)
    except Exception as error:
        return type(error), str(error), getattr(error, "exit_code", None)
    return done.report["exit_code"], done.suite["verdict"], done.suite["gates"], done.suite["run_id"]


def files(store: Path) -> list[Path]:
    return [path for path in store.rglob("*") if path.is_file()]


# Who is asked when


def test_each_row_is_asked_about_once_and_before_the_plan_is_fixed(file: Path, tmp_path: Path) -> None:
    evaluator = Parity()
    done = ran(tmp_path / "store", evaluator, RowDataset(file, row=Row))
    assert (done.before, done.asked) == (200, 200)
    assert evaluator.asked == [f"r{i}" for i in range(200)]


@pytest.mark.parametrize(
    "options",
    [
        {"filter": "'mod:1' in tags"},
        {"limit": 7},
        {"executor": "threads"},
        {"executor": "threads", "jobs": 2},
        {"whole": {"fail_fast": True}},
        {"whole": {"suite_jobs": 2}},
    ],
    ids=str,
)
def test_nothing_is_asked_ahead_where_not_all_rows_may_be_wanted(
    file: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    evaluator, dataset = Parity(), RowDataset(file, row=Row)
    done = ran(tmp_path / "store", evaluator, dataset, **options)
    assert done.before == 0 < done.asked
    assert done.result == ran(tmp_path / "other", Parity(eager=False), dataset, **options).result


def test_an_evaluator_that_does_not_say_it_is_eager_is_not_asked_ahead(file: Path, tmp_path: Path) -> None:
    assert ran(tmp_path / "store", Parity(eager=False), RowDataset(file, row=Row)).before == 0


def test_a_dry_run_asks_nothing(file: Path, tmp_path: Path) -> None:
    evaluator = Parity()
    foresee([request_of(evaluator, RowDataset(file, row=Row))], environment(tmp_path / "store"))
    assert evaluator.asked == [] and not (tmp_path / "store").exists()


def test_a_run_to_resume_is_not_evaluated_ahead(file: Path, tmp_path: Path) -> None:
    """Its first part has been evaluated already."""
    whole = ran(tmp_path / "whole", Parity(), RowDataset(file, row=Row))
    evaluator, store = Parity(eager=False), tmp_path / "store"

    def stop(name: str, done: int, total: int | None) -> None:
        if done >= 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([request_of(evaluator, RowDataset(file, row=Row))], environment(store), Observer(progress=stop))
    evaluator = Parity()
    resumed = ran(store, evaluator, RowDataset(file, row=Row), resume=True)
    assert resumed.before == 0 and evaluator.asked[-1] == "r199" and resumed.asked <= 100
    assert resumed.result == whole.result


def test_a_run_interrupted_as_it_writes_what_was_made_ahead_is_resumed_to_the_same_id(
    file: Path, tmp_path: Path
) -> None:
    whole = ran(tmp_path / "whole", Parity(), RowDataset(file, row=Row), repeats=2)

    def stop(name: str, done: int, total: int | None) -> None:
        if total is not None and done >= 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(
            [request_of(Parity(), RowDataset(file, row=Row), repeats=2)], environment(tmp_path), Observer(progress=stop)
        )
    resumed = ran(tmp_path, Parity(), RowDataset(file, row=Row), repeats=2, resume=True)
    assert 0 < resumed.asked <= 200 and resumed.result == whole.result


@pytest.mark.parametrize("repeats", [1, 3])
def test_what_is_done_ahead_is_told_while_the_total_is_unknown(file: Path, tmp_path: Path, repeats: int) -> None:
    told: list[tuple[str, int, int | None]] = []
    watch = Observer(
        planned=lambda plan_id, prepared: told.append(("planned", 0, 0)), progress=lambda *said: told.append(said)
    )
    run([request_of(Parity(), RowDataset(file, row=Row), repeats=repeats)], environment(tmp_path / "store"), watch)
    ahead, after = told[: told.index(("planned", 0, 0))], told[told.index(("planned", 0, 0)) + 1 :]
    done = [each for _, each, _ in ahead]
    assert len(done) > 1 and done == sorted(set(done)) and done[-1] == 200
    assert {(name, total) for name, _, total in ahead} == {("parity", None)}
    assert after[-1] == ("parity", 200, 200) and all(total == 200 for _, _, total in after)


def test_a_run_interrupted_ahead_leaves_nothing_behind(file: Path, tmp_path: Path) -> None:
    def stop(name: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupted:
        run([request_of(Parity(), RowDataset(file, row=Row))], environment(tmp_path / "store"), Observer(progress=stop))
    assert interrupted.value.__notes__ == [NOTHING_KEPT]
    assert files(tmp_path / "store") == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_work_is_left_to_who_was_chosen_for_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """A check in this process, or on other threads, must not take work from the processes that were asked for."""
    done: list[int] = []

    def elsewhere(self: ProcessExecutor, work: Any, items: Iterator[Any]) -> Iterator[Any]:
        done.append(self.jobs)
        return map(work, items)

    monkeypatch.setattr(ProcessExecutor, "map", elsewhere)
    for spread in (None, ThreadExecutor(2), ProcessExecutor(3)):
        dataset = RowDataset(file, row=Row, executor=spread)
        evaluator = Parity()
        assert ran(tmp_path / "store", evaluator, dataset, executor="processes", jobs=jobs).before == 0
        assert done.pop() == jobs


def test_an_evaluation_in_this_process_is_not_spread_because_the_check_is(file: Path, tmp_path: Path) -> None:
    """This one could not be sent to a process."""
    evaluator = Parity(held=lambda: None)
    dataset = RowDataset(file, row=Row, executor=ProcessExecutor(2), memory_limit=0)
    done = ran(tmp_path / "store", evaluator, dataset)
    assert (done.before, done.asked) == (0, 200)


def test_a_dataset_that_opens_itself_in_its_own_way_is_opened_so(file: Path, tmp_path: Path) -> None:
    class Own(RowDataset):
        def open(self) -> Any:  # type: ignore[override]
            return RowDataset(self.path, row=Row).open()

    assert ran(tmp_path / "store", Parity(), Own(file)).before == 0


# What comes of it


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"repeats": 3},
        {"batch_size": 1},
        {"batch_size": 10_000},
        {"repeats": 2, "batch_size": 7},
        {"executor": "serial", "jobs": 2},
        {"gate": ("accuracy >= 0.9",)},
    ],
    ids=str,
)
def test_the_result_is_that_of_the_ordinary_way(file: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    dataset = RowDataset(file, row=Row)
    early = ran(tmp_path / "store", Parity(), dataset, **options)
    assert early.before == early.asked == 200 * options.get("repeats", 1)
    assert early.result == ran(tmp_path / "other", Parity(eager=False), dataset, **options).result
    assert not any((tmp_path / "store" / "partial").rglob("*"))


MIXED = [
    {key: value for key, value in row.items() if not (key == "tags" and i % 4 == 0)}
    | ({"note": None} if i % 3 == 0 else {"note": 'a \\ " b'} if i % 3 == 1 else {})
    | ({"weight": i} if i % 2 else {})
    for i, row in enumerate(rows(200))
]
ONE_WITHOUT = [row if i != 90 else {k: v for k, v in row.items() if k != "id"} for i, row in enumerate(rows(200))]


@pytest.mark.parametrize("row", [Row, None], ids=["class", "no class"])
@pytest.mark.parametrize(
    ("name", "content", "by_block"),
    [
        ("rows.jsonl", lines(rows(200), b"\r\n"), True),
        ("rows.jsonl", lines(rows(200))[:-1], True),
        ("rows.jsonl", b"\xef\xbb\xbf" + lines(rows(200)), True),
        ("rows.jsonl.gz", gzip.compress(lines(rows(200)), mtime=0), True),
        ("rows.jsonl", lines(MIXED), True),
        ("rows.jsonl", lines(list(reversed(rows(200)))), True),
        ("rows.jsonl", lines(ONE_WITHOUT), False),
        ("rows.jsonl", lines(rows(100)) + b"\n" + lines(rows(200)[100:]), False),
        ("rows.json", json.dumps({"samples": rows(20)}).encode(), False),
    ],
    ids=[
        "CRLF",
        "no last feed",
        "BOM",
        "gzip",
        "fields here and there",
        "descending",
        "no id",
        "blank line",
        "document",
    ],
)
def test_every_kind_of_file_gives_the_result_of_the_ordinary_way(
    tmp_path: Path, name: str, content: bytes, by_block: bool, row: Any
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    dataset = RowDataset(path, row=row)
    early = ran(tmp_path / "store", Parity(), dataset)
    plain = ran(tmp_path / "other", Parity(eager=False), dataset)
    assert early.result == plain.result
    assert (early.before == early.asked) is by_block


def test_standard_input_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for eager in (True, False):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(rows(50))), encoding="utf-8"))
        results.append(ran(tmp_path / str(eager), Parity(eager=eager), RowDataset("-", row=Row)).result)
    assert results[0] == results[1]


def test_several_suites_are_one_run_as_they_are_in_the_ordinary_way(file: Path, tmp_path: Path) -> None:
    reports = []
    for eager in (True, False):
        requests = [request_of(Parity(eager=eager), RowDataset(file, row=Row), name) for name in ("one", "two")]
        reports.append(run(requests, environment(tmp_path / str(eager))).report)
    assert reports[0]["run_id"] == reports[1]["run_id"] is not None


# What is not good


@pytest.mark.parametrize(
    "last",
    [
        b'{"id": "r200", "text": 3, "parity": "odd"}',
        b'{"id": "r200", "text": "x", "parity": "odd"',
        b'{"id": "r17", "text": "x", "parity": "odd"}',
        b'{"id": "r200", "text": "\xff", "parity": "odd"}',
    ],
    ids=["type", "syntax", "repeated id", "encoding"],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("in_memory", [1 << 20, 0])
def test_a_fault_in_the_last_line_refuses_the_run_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: bytes, end: bytes, in_memory: int
) -> None:
    monkeypatch.setattr(ahead, "_IN_MEMORY", in_memory)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows(200), end) + last + end)
    dataset = RowDataset(path, row=Row)
    evaluator = Parity()
    early = told(tmp_path / "store", evaluator, dataset)
    assert early == told(tmp_path / "other", Parity(eager=False), dataset)
    assert early[0] is DatasetError and f"{path}:201" in early[1]
    assert evaluator.asked and files(tmp_path / "store") == []


FAULTS = ["raises", "refuses", "too few", "another's", "not finite", "no status", "no outcomes"]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("where", ["r0", "r199"])
def test_an_evaluator_that_goes_wrong_is_told_of_as_in_the_ordinary_way(tmp_path: Path, fault: str, where: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows(200, **{where: "boom"})))
    dataset = RowDataset(path, row=Row)
    early = told(tmp_path / "store", Parity(fault=fault), dataset)
    assert early == told(tmp_path / "other", Parity(fault=fault, eager=False), dataset)
    assert "pass" not in early


def test_a_dataset_fault_comes_before_an_evaluator_that_goes_wrong(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows(200, r0="boom")) + b"{}\n")
    with pytest.raises(DatasetError):
        ran(tmp_path / "store", Parity(fault="raises"), RowDataset(path, row=Row))


@pytest.mark.parametrize("kind", ["a fault of the evaluator", "a row without an id"])
def test_what_cannot_count_any_more_is_not_asked_for(tmp_path: Path, kind: str) -> None:
    made = rows(200, r0="boom")
    if kind == "a row without an id":
        del made[0]["id"]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(made))
    evaluator = Parity(fault="raises" if kind == "a fault of the evaluator" else "")
    told(tmp_path / "store", evaluator, RowDataset(path, row=Row))
    in_a_block = CHUNK // 50
    assert len(evaluator.asked) <= 200 + in_a_block


def test_samples_are_right_after_the_work_ahead_was_given_up(tmp_path: Path) -> None:
    """Nothing that the check kept of later blocks may be taken for the earlier ones'."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows(200, r50="boom")))
    evaluator = Parity(fault="raises")
    told(tmp_path / "store", evaluator, RowDataset(path, row=Row))

    class GivesUp:
        work = staticmethod(list)
        batch_size = 5

        def __init__(self, after: int) -> None:
            self.left = after

        def take(self, results: Any) -> bool:
            self.left -= 1
            return self.left > 0

    plain = [sample for batch in RowDataset(path, row=Row).open().samples(9) for sample in batch]
    for after in (1, 2, 5):
        snapshot = RowDataset(path, row=Row).open(GivesUp(after))
        assert [sample for batch in snapshot.samples(9) for sample in batch] == plain


@frozen
class Unmergeable:
    """A metric whose parts cannot be put together."""

    inner: Metric[Any] = field(factory=Accuracy)

    @property
    def declares(self) -> Any:
        return self.inner.declares

    def start(self) -> Any:
        return self.inner.start()

    def add(self, state: Any, outcomes: Sequence[Outcome]) -> Any:
        return self.inner.add(state, outcomes)

    def merge(self, left: Any, right: Any) -> Any:
        raise Broken("cannot be merged")

    def finish(self, state: Any) -> Sequence[Measurement]:
        return self.inner.finish(state)


def test_a_metric_that_fails_is_told_of_as_in_the_ordinary_way(file: Path, tmp_path: Path) -> None:
    dataset = RowDataset(file, row=Row)
    early = told(tmp_path / "store", Parity(), dataset, metrics=[Unmergeable()])
    assert early == told(tmp_path / "other", Parity(eager=False), dataset, metrics=[Unmergeable()])
    assert early[0] is Broken


def test_an_interrupt_while_rows_are_asked_about_ends_the_run_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spools = spied(monkeypatch)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows(200, r150="boom")))
    with pytest.raises(KeyboardInterrupt):
        ran(tmp_path / "store", Parity(fault="interrupted"), RowDataset(path, row=Row))
    assert files(tmp_path / "store") == [] and spools and all(spool.closed for spool in spools)


# Where the outcomes wait


def spied(monkeypatch: pytest.MonkeyPatch) -> list[IO[bytes]]:
    """Has everything wait in a file; the list of those that are opened."""
    monkeypatch.setattr(ahead, "_IN_MEMORY", 0)
    opened: list[IO[bytes]] = []

    def remembered(self: OutcomesAhead, real: Any = OutcomesAhead._open) -> IO[bytes]:
        opened.append(real(self))
        return opened[-1]

    monkeypatch.setattr(OutcomesAhead, "_open", remembered)
    return opened


def test_what_does_not_fit_into_memory_waits_in_a_file_without_a_name(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, store = RowDataset(file, row=Row), tmp_path / "store"
    plain = ran(tmp_path / "other", Parity(eager=False), dataset)
    spools = spied(monkeypatch)
    seen: list[Path] = []
    watch = Observer(planned=lambda plan_id, prepared: seen.extend(files(store)))
    report = run([request_of(Parity(), dataset)], environment(store), watch).report
    assert report["suites"][0]["run_id"] == plain.suite["run_id"]
    assert seen == [] and len(spools) == 1 and spools[0].closed


def test_a_disk_without_room_for_what_waits_costs_nothing_but_time(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = RowDataset(file, row=Row)
    plain = ran(tmp_path / "other", Parity(eager=False), dataset)
    monkeypatch.setattr(ahead, "_IN_MEMORY", 0)
    monkeypatch.setattr(OutcomesAhead, "_open", lambda self: open("/dev/full", "w+b"))  # noqa: SIM115
    evaluator = Parity()
    assert ran(tmp_path / "store", evaluator, dataset).result == plain.result
    assert len(evaluator.asked) > 200


@pytest.mark.parametrize("in_memory", [1 << 20, 0])
def test_a_store_that_cannot_be_written_is_told_of_as_in_the_ordinary_way(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int
) -> None:
    monkeypatch.setattr(ahead, "_IN_MEMORY", in_memory)
    (tmp_path / "a file").write_bytes(b"")
    dataset, store = RowDataset(file, row=Row), tmp_path / "a file" / "store"
    early = told(store, Parity(), dataset)
    assert early == told(store, Parity(eager=False), dataset) and issubclass(early[0], YbEvalError)


def test_nothing_is_evaluated_while_a_later_suite_may_be_refused(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spools = spied(monkeypatch)
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_bytes(b"{}\n")
    requests = [request_of(Parity(), RowDataset(path, row=Row), path.stem) for path in (file, wrong)]
    with pytest.raises(DatasetError):
        run(requests, environment(tmp_path / "store"))
    assert spools == [] and files(tmp_path / "store") == []
    run(requests[:1], environment(tmp_path / "store"))
    assert [spool.closed for spool in spools] == [True]


def test_batches_of_one_sample_are_not_remembered_one_by_one(tmp_path: Path) -> None:
    fold = Fold(each=(Accuracy(),), across=())
    early = OutcomesAhead(BatchWork(Parity(), fold), 1, tmp_path, lambda done: None)
    shards = [Shard(b"{}\n", fold.start(), 1, i % 2) for i in range(1_000)]
    assert early.take(shards[:600]) and early.take(shards[600:]) and early.count == 1_000
    kept = list(early.shards())
    assert [(len(shard.log), shard.count, shard.wrong) for shard in kept] == [(1_800, 600, 300), (1_200, 400, 200)]


def test_outcomes_of_which_some_are_missing_are_none(tmp_path: Path) -> None:
    fold = Fold(each=(Accuracy(),), across=())
    early = OutcomesAhead(BatchWork(Parity(), fold), 1, tmp_path, lambda done: None)
    shards = [Shard(b"{}\n", fold.start(), 1, 0)]
    assert early.take(shards) and not early.take(None) and not early.take(shards)
    assert early.count is None


# On processes


def on_processes(path: Path) -> RowDataset:
    return RowDataset(path, row=Row, executor=ProcessExecutor(2), memory_limit=0)


def test_processes_that_check_a_large_file_evaluate_it_with_the_same_result(file: Path, tmp_path: Path) -> None:
    evaluator = Parity()
    early = ran(tmp_path / "store", evaluator, on_processes(file), jobs=2, repeats=2, batch_size=4)
    assert early.asked == 0, "others were asked"
    plain = ran(tmp_path / "other", Parity(eager=False), RowDataset(file, row=Row), repeats=2)
    assert early.result == plain.result


def test_a_process_that_dies_at_a_row_is_told_of_as_in_the_ordinary_way(tmp_path: Path) -> None:
    """The suite is not measured, and those beside it are."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows(200, r70="boom")))
    reports = []
    for eager in (True, False):
        broken = request_of(Parity(fault="dies", eager=eager), on_processes(path), "broken", jobs=2)
        good = request_of(Parity(eager=eager), RowDataset(path, row=Row), "good")
        reports.append(run([broken, good], environment(tmp_path / str(eager))).report)
    early, plain = reports
    assert early["exit_code"] == 3 and early["suites"] == plain["suites"]
    assert [suite["verdict"] for suite in early["suites"]] == ["unmeasured", "pass"]


def test_an_evaluator_that_cannot_be_sent_to_processes_is_refused_in_the_same_words(file: Path, tmp_path: Path) -> None:
    early, plain = (
        told(tmp_path / str(eager), Parity(eager=eager, held=lambda: None), on_processes(file), jobs=2)
        for eager in (True, False)
    )
    assert early == plain and early[0] is UsageError
