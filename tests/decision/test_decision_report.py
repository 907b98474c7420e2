"""A dataset's report: nothing is dropped in silence, rows stay what they were, and an interrupted run goes on."""

import json
import runpy
from pathlib import Path

import pytest

from yb_eval import StoreError, UsageError
from yb_eval.statistics import wilson
from yb_eval_decision.answers import NoAnswer, NoulAnswer
from yb_eval_decision.dataset_report import KEPT_FAILURES
from yb_eval_decision.results import Result
from yb_eval_decision.running import evaluate_dataset

fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
FakeBackend, Polite, Short = (fakes[name] for name in ("FakeBackend", "Polite", "Short"))


def answer(id, question, state):
    """The answer's text says what happens: a probability, or a state."""
    text = state["final_answer"]
    return NoAnswer(text, f"it {text}") if text in ("abstained", "refused", "error") else NoulAnswer(float(text))


def run(outputs, **more):
    return evaluate_dataset(({"output": text} for text in outputs), [Polite()], backend=FakeBackend(answer), **more)


MIXED = ["0.9", "0.8", "abstained", "error", "refused", "", "0.1"]


def test_each_state_is_counted_and_the_bounds_say_what_was_not_measured():
    tally = run(MIXED)["polite"]
    assert tally.counts == {"measured": 3, "abstained": 1, "refused": 1, "error": 1, "skipped": 1}
    assert tally.n == 6
    assert tally.mean == pytest.approx(0.6)
    assert tally.pass_rate == pytest.approx(2 / 3)
    assert tally.pass_interval == wilson(2, 3)
    assert tally.pass_bounds == (pytest.approx(2 / 6), pytest.approx(5 / 6))
    assert tally.reasons["error"] == "q: it error"


def test_a_dataset_passed_only_where_all_of_it_was_measured():
    assert run(["0.9"]).passed is True
    assert run(["0.9", "0.1"]).passed is False
    assert run(["0.9", "error"]).passed is None
    assert run(["error", "0.1"]).passed is False
    assert run([""]).passed is None
    assert run([]).passed is None


def test_nothing_measured_is_no_number():
    tally = run(["error"])["polite"]
    assert (tally.mean, tally.pass_rate, tally.pass_interval) == (None, None, None)
    assert tally.pass_bounds == (0.0, 1.0)
    assert run([])["polite"].pass_bounds is None


def test_the_table_shows_what_was_measured_of_how_many():
    table = str(run(MIXED))
    assert "3/6" in table
    assert "polite: 1 error (q: it error)" in table
    assert "33.3 to 83.3 % pass, counting what was not measured" in table
    assert "7 samples" in table


def test_the_answers_of_a_choice_are_shares():
    class Kind(Polite):
        def reduce(self, answers, s):
            return Result(score=1.0, answer="a" if answers["q"].probability > 0.5 else "b")

    report = evaluate_dataset(
        [{"output": p} for p in ("0.9", "0.8", "0.7", "0.1")], [Kind()], backend=FakeBackend(answer)
    )
    assert report.summary()["kind"]["answers"] == {"a": 0.75, "b": 0.25}
    assert "kind: a 3, b 1" in report.table()


def test_only_the_first_failures_are_kept_and_all_are_counted():
    report = run(["0.1"] * (KEPT_FAILURES + 20))
    assert report["polite"].failing == KEPT_FAILURES + 20
    assert [index for index, _ in report.failures("polite")] == list(range(KEPT_FAILURES))
    assert len(run(["0.1"] * (KEPT_FAILURES + 20), keep=True).failures("polite")) == KEPT_FAILURES + 20


def test_reports_are_kept_where_asked_for():
    report = run(MIXED, keep=True)
    records = report.to_records()
    assert records[0] == {"index": 0, "id": None, "polite.status": "measured", "polite.score": 0.9, "polite.passed": True,
                          "polite.answer": None, "polite.p": 0.9}  # fmt: skip
    assert [result.status for result in report.results_for("polite")][2:5] == ["abstained", "error", "refused"]
    assert len(report.reports) == len(report) == 7
    with pytest.raises(UsageError, match="keep=True"):
        run(MIXED).to_records()
    with pytest.raises(KeyError, match="polite"):
        report["polit"]


def test_records_become_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = run(MIXED, keep=True).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["polite.status"]) == [
        "measured",
        "measured",
        "abstained",
        "error",
        "refused",
        "skipped",
        "measured",
    ]


# Rows


LINES = [
    b'\xef\xbb\xbf{"id": 7, "output": "0.9", "tags": ["lang:en"], "metadata": {"a": 1}}',
    b"",
    b'{"id": "x", "sample": {"output": "0.8"}, "labels": {"polite": true}}',
    b"{broken",
    b"[1, 2]",
    b'"0.7"',
    b"17",
    b'{"output": "0.6"}',
]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\n".join(LINES))
    return path


def test_a_bad_line_is_an_error_row_with_its_number_and_the_run_goes_on(data):
    report = evaluate_dataset(data, [Polite()], backend=FakeBackend(answer), keep=True)
    results = report.results_for("polite")
    assert [result.status for result in results] == [
        "measured",
        "measured",
        "error",
        "error",
        "measured",
        "error",
        "measured",
    ]
    assert results[2].reason.startswith("sample: line 4: not JSON")
    assert "line 7" in results[5].reason
    assert [row.id for row in report.kept][:2] == ["7", "x"]
    assert report.kept[0].metadata == {"tags": ["lang:en"], "metadata": {"a": 1}}
    assert report.kept[1].metadata == {"labels": {"polite": True}}


def test_data_that_is_none_is_refused(tmp_path):
    for data in ({"output": "x"}, 3, None):
        with pytest.raises(UsageError, match="a dataset is"):
            evaluate_dataset(data, [Polite()], backend=FakeBackend())
    with pytest.raises(UsageError, match="cannot be read"):
        evaluate_dataset(tmp_path / "no.jsonl", [Polite()], backend=FakeBackend())
    for name in ("limit", "batch", "concurrency"):
        with pytest.raises(UsageError, match=name):
            evaluate_dataset([], [Polite()], backend=FakeBackend(), **{name: -1})


def test_an_iterable_is_read_as_it_is_asked_for_and_no_further():
    taken = []

    def samples():
        for index in range(10**9):
            taken.append(index)
            yield {"output": "0.9"}

    report = evaluate_dataset(samples(), [Polite()], backend=FakeBackend(answer), limit=10, batch=4)
    assert report.n == 10
    assert len(taken) == 10


def test_results_come_in_the_order_of_the_rows_with_several_batches_under_way():
    seen = []
    outputs = [str(i / 100) for i in range(50)]
    report = evaluate_dataset(
        [{"output": text} for text in outputs], [Polite()], backend=FakeBackend(answer, waits=True), batch=3, concurrency=4,
        on_result=lambda index, report: seen.append((index, report.polite.score)),
    )  # fmt: skip
    assert seen == [(i, i / 100) for i in range(50)]
    assert report.usage.requests == 50


# Files


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_results_are_written_as_they_come_under_a_name_of_their_own_until_all_are_there(tmp_path):
    out = tmp_path / "deep" / "results.jsonl"
    seen = []

    def watch(index, report):
        seen.append((out.exists(), len(lines(out.with_name("results.jsonl.part")))))

    run(MIXED, out=out, on_result=watch)
    assert seen == [(False, n + 1) for n in range(len(MIXED))]
    found = lines(out)
    assert [line["index"] for line in found] == list(range(7))
    assert found[0]["results"]["polite"]["score"] == 0.9
    assert found[0]["usage"]["input_tokens"] == 120
    assert found[3]["passed"] is None
    assert [path.name for path in out.parent.iterdir()] == ["results.jsonl"]


class Stop(Exception):
    pass


def stop_at(row):
    def on_result(index, report):
        if index == row:
            raise Stop

    return on_result


def test_an_interrupted_run_goes_on_where_it_stopped(data, tmp_path):
    out = tmp_path / "results.jsonl"
    with pytest.raises(Stop):
        evaluate_dataset(data, [Polite()], backend=FakeBackend(answer), out=out, on_result=stop_at(1))
    assert not out.exists()
    backend = FakeBackend(answer)
    report = evaluate_dataset(data, [Polite()], backend=backend, out=out, resume=True)
    assert report.resumed == 2
    assert len(backend.seen) == 2
    fresh = tmp_path / "fresh.jsonl"
    whole = evaluate_dataset(data, [Polite()], backend=FakeBackend(answer), out=fresh)
    assert report.summary() == whole.summary()
    assert out.read_bytes() == fresh.read_bytes()
    assert report.usage.requests == 2


def test_a_run_that_is_interrupted_twice_loses_nothing(tmp_path):
    out, outputs = tmp_path / "r.jsonl", ["0.9"] * 12
    with pytest.raises(Stop):
        run(outputs, out=out, on_result=stop_at(7))
    with pytest.raises(Stop):
        run(outputs, out=out, resume=True, on_result=stop_at(2))
    report = run(outputs, out=out, resume=True)
    assert report.resumed == 8
    assert [line["index"] for line in lines(out)] == list(range(12))
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_line_that_was_cut_off_is_asked_again(tmp_path):
    out = tmp_path / "r.jsonl"
    with pytest.raises(Stop):
        run(["0.9"] * 5, out=out, on_result=stop_at(2))
    part = tmp_path / "r.jsonl.part"
    part.write_bytes(part.read_bytes()[:-20])
    assert run(["0.9"] * 5, out=out, resume=True).resumed == 2


def test_rows_with_errors_and_rows_that_changed_are_asked_again(tmp_path):
    out = tmp_path / "r.jsonl"
    run(["0.9", "error", "0.8", "0.7"], out=out)
    report = run(["0.9", "error", "0.2", "0.7"], out=out, resume=True)
    assert report.resumed == 2
    assert [line["results"]["polite"]["score"] for line in lines(out)] == [0.9, None, 0.2, 0.7]


def test_results_of_other_evals_or_another_backend_are_not_taken_over(tmp_path):
    out, samples = tmp_path / "r.jsonl", [{"output": "0.9"}] * 3
    evaluate_dataset(samples, [Polite()], backend=FakeBackend(answer), out=out)
    for evals, backend in (
        ([Polite(threshold=0.95)], FakeBackend(answer)),
        ([Polite()], FakeBackend(answer, fingerprint="e" * 64)),
    ):
        assert evaluate_dataset(samples, evals, backend=backend, out=out, resume=True).resumed == 0


def test_evidence_that_is_no_json_is_written_all_the_same(tmp_path):
    class Odd(Polite):
        def reduce(self, answers, s):
            return Result(
                score=1.0, evidence={"set": {1}, "nan": float("nan"), "big": 10**30, "half": "\ud800", 3: object}
            )

    out = tmp_path / "r.jsonl"
    evaluate_dataset([{"output": "0.9"}], [Odd()], backend=FakeBackend(answer), out=out)
    evidence = lines(out)[0]["results"]["odd"]["evidence"]
    assert (evidence["set"], evidence["nan"], evidence["big"]) == ("{1}", None, str(10**30))


def test_files_that_cannot_be_written_are_one_line(tmp_path):
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        run(["0.9"], out=tmp_path / "file" / "r.jsonl")
    with pytest.raises(UsageError, match="resume"):
        run(["0.9"], resume=True)
    with pytest.raises(StoreError, match="cannot be written"):
        run(["0.9"], keep=True).write_jsonl(tmp_path / "file" / "r.jsonl")


def test_kept_reports_can_be_written_later(tmp_path):
    run(MIXED, keep=True).write_jsonl(tmp_path / "r.jsonl")
    assert [line["results"]["polite"]["status"] for line in lines(tmp_path / "r.jsonl")][:3] == [
        "measured",
        "measured",
        "abstained",
    ]
