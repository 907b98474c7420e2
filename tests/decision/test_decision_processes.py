"""A dataset on several processes: the same in every way as on one, or a clear line that says why it cannot be."""

import runpy
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision import MockBackend, Result, Usage
from yb_eval_decision.dataset_report import KEPT_FAILURES, DatasetReport, RowReport
from yb_eval_decision.exact import ExactSum
from yb_eval_decision.registry import builtin_evals, resolve_evals
from yb_eval_decision.results import EvalReport
from yb_eval_decision.running import evaluate_dataset

fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")

#: What a script of a user's holds: evals and backend in a module that other processes can import.
MODULE = '''
import os
from yb_eval_decision import Eval, MockBackend, NoAnswer, Noul, Result


class Polite(Eval):
    """Is it?"""

    requires = ("output",)

    def state(self, s):
        return {"output": s.output}

    def questions(self, s):
        return {"q": Noul("Is it polite?")}

    def reduce(self, answers, s):
        p = answers["q"].probability
        return Result(score=p, passed=p > 0.5, probability=p, answer="yes" if p > 0.5 else None, evidence={"text": s.output})


class Where(Polite):
    """Which process?"""

    def reduce(self, answers, s):
        return Result(score=1.0, answer=str(os.getpid()))


class Odd(Polite):
    """Gives what cannot be sent."""

    def reduce(self, answers, s):
        return Result(score=0.0, evidence={"f": lambda: None})


def answer(id, question, state):
    text = state["output"]
    return NoAnswer(text, f"it {text}") if text in ("abstained", "refused", "error") else float(text)


def backend():
    return MockBackend(fn=answer)
'''
EVERY = ["0.9", "0.8", "abstained", "error", "0.1", "refused", "0.7"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "decision_own.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "decision_own", raising=False)
    import decision_own

    yield decision_own
    sys.modules.pop("decision_own", None)


@pytest.fixture
def data(tmp_path):
    lines = [f'{{"id": {n}, "output": "{EVERY[n % 7]}", "tags": ["t{n % 2}"]}}'.encode() for n in range(40)]
    lines[3:3] = [b"{broken", b"", b"17"]
    lines[20] = b'{"output": ""}'
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    return path


def told(report):
    """All that a report says, but the time it took."""
    return (
        report.to_dict(), report.table(), report.usage, report.latency(0.5),
        {tally.name: (tally.mean, tally.pass_bounds, tally.failures) for tally in report},
        None if report.kept is None else report.kept,
    )  # fmt: skip


def test_the_report_is_that_of_one_process(own, data):
    one, two = (evaluate_dataset(data, [own.Polite()], backend=own.backend(), concurrency=n, batch=7) for n in (1, 2))
    assert told(one) == told(two)
    assert one["polite"].counts["error"] > 2


def test_it_is_other_processes_that_work_and_mock_calls_stay_there(own):
    import os

    backend = own.backend()
    report = evaluate_dataset([{"output": "0.9"}] * 9, [own.Where()], backend=backend, concurrency=2, batch=2)
    assert sum(report["where"].answers.values()) == 9
    assert str(os.getpid()) not in report["where"].answers
    assert not backend.calls


def test_what_is_written_called_and_kept_is_the_same_to_the_byte_and_in_order(own, data, tmp_path):
    seen = {}
    for n in (1, 2):
        report = evaluate_dataset(
            data, [own.Polite()], backend=own.backend(), concurrency=n, batch=4, keep=True, limit=30,
            out=tmp_path / f"{n}.jsonl", on_result=lambda index, report, n=n: seen.setdefault(n, []).append((index, report)),
        )  # fmt: skip
        seen[n, "report"] = told(report)
        assert len(report) == 30
    assert [index for index, _ in seen[2]] == list(range(30))
    assert seen[1] == seen[2]
    assert seen[1, "report"] == seen[2, "report"]
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


class Stop(Exception):
    pass


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(own, data, tmp_path):
    def stop(index, report):
        if index == 17:
            raise Stop

    more = {"backend": own.backend(), "concurrency": 2, "batch": 4}
    out = tmp_path / "out.jsonl"
    with pytest.raises(Stop):
        evaluate_dataset(data, [own.Polite()], out=out, on_result=stop, **more)
    assert not out.exists() and len((tmp_path / "out.jsonl.part").read_bytes().splitlines()) == 18
    report = evaluate_dataset(data, [own.Polite()], out=out, resume=True, **more)
    whole = evaluate_dataset(data, [own.Polite()], out=tmp_path / "whole.jsonl", backend=own.backend())
    assert 0 < report.resumed < 18
    assert report.summary() == whole.summary()
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    again = evaluate_dataset(data, [own.Polite()], out=out, resume=True, **more)
    assert again.resumed == len(whole) - whole["polite"].counts["error"]
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_samples_are_read_as_far_as_the_limit_and_the_error_of_their_source_is_raised(own):
    taken = []

    def samples(end):
        for index in range(end):
            taken.append(index)
            yield {"output": "0.9"}
        raise Stop

    more = {"backend": own.backend(), "concurrency": 2, "batch": 4}
    assert evaluate_dataset(samples(99), [own.Polite()], limit=10, **more).n == len(taken) == 10
    with pytest.raises(Stop):
        evaluate_dataset(samples(30), [own.Polite()], **more)
    with pytest.raises(UsageError, match="cannot be read"):
        evaluate_dataset("no such file.jsonl", [own.Polite()], **more)
    with pytest.raises(UsageError, match="a dataset is"):
        evaluate_dataset(3, [own.Polite()], **more)


def test_every_eval_of_the_library_can_be_sent():
    rows = [{"input": "Where is it?", "output": f"It arrives on day {n}.", "contexts": [f"Day {n}."]} for n in range(6)]
    evals = resolve_evals([name for name in builtin_evals() if name not in ("custom_rubric", "boolean_criterion")])
    one, two = (evaluate_dataset(rows, evals, backend=MockBackend(), concurrency=n, batch=2) for n in (1, 2))
    assert told(one) == told(two)


# What cannot be sent


def test_a_backend_that_cannot_be_sent_is_refused_before_any_file_is_touched(own, tmp_path):
    backend = MockBackend(fn=lambda id, question, state: 0.5)
    with pytest.raises(UsageError, match=r"backend cannot be sent to other processes: .*concurrency=1") as caught:
        evaluate_dataset([{"output": "0.9"}], [own.Polite()], backend=backend, concurrency=2, out=tmp_path / "o.jsonl")
    assert len(str(caught.value).splitlines()) == 1
    assert not list(tmp_path.glob("o.jsonl*"))
    assert evaluate_dataset([{"output": "0.9"}], [own.Polite()], backend=backend).n == 1


def test_samples_and_results_that_cannot_be_sent_are_refused(own):
    with pytest.raises(UsageError, match=r"samples cannot be sent .*concurrency=1"):
        evaluate_dataset([{"output": threading.Lock()}], [own.Polite()], backend=own.backend(), concurrency=2)
    with pytest.raises(UsageError, match=r"results cannot be sent .*concurrency=1"):
        evaluate_dataset([{"output": "0.9"}], [own.Odd()], backend=own.backend(), concurrency=2)


def test_a_backend_that_waits_and_what_all_batches_share_stay_on_threads(own, tmp_path):
    waiting = fakes["FakeBackend"](lambda id, question, state: fakes["sure"](question), waits=True)
    assert (
        evaluate_dataset([{"output": "0.9"}] * 9, [own.Polite()], backend=waiting, concurrency=2)["polite"].passes == 9
    )
    assert waiting.calls == 3
    for more in ({"cache": tmp_path / "answers.sqlite"}, {"max_cost": 1.0}):
        backend = own.backend()
        evaluate_dataset(
            [{"output": f"0.{n}"} for n in range(9)], [own.Polite()], backend=backend, concurrency=2, **more
        )
        assert len(backend.calls) == 9


SCRIPT = """
import sys
from decision_own import Polite, backend
from yb_eval_decision import evaluate_dataset

def main():
    rows = [{{"output": "0.9"}}] * 9
    print(evaluate_dataset(rows, [Polite()], backend=backend(), concurrency=2, batch=2, out=sys.argv[1]).summary()["polite"]["measured"])

{start}
"""


def script(tmp_path, start):
    (tmp_path / "script.py").write_text(SCRIPT.format(start=start), "utf-8")
    command = [sys.executable, "script.py", "out.jsonl"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)


def test_a_script_starts_its_run_under_a_guard(own, tmp_path):
    ran = script(tmp_path, "if __name__ == '__main__':\n    main()")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "9\n", "")


def test_a_script_without_the_guard_is_told_of_it_and_nothing_is_written_over(own, tmp_path):
    ran = script(tmp_path, "main()")
    assert ran.returncode == 1
    last = ran.stderr.strip().splitlines()[-1]
    assert "a worker process died" in last and "if __name__ == '__main__':" in last
    assert "imported by a process that it started" in ran.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_a_class_that_another_process_does_not_find_is_told(tmp_path):
    code = MODULE + (
        "from yb_eval_decision import evaluate_dataset\n"
        "try:\n    evaluate_dataset([{'output': '0.9'}], [Polite()], backend=MockBackend(), concurrency=2)\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.stdout.startswith("UsageError another process cannot read what it was sent")
    assert "Polite" in ran.stdout and "define classes and functions in a module" in ran.stdout


# Reports of parts


NUMBERS = st.floats(0, 1) | st.sampled_from([0.1, 0.3, 1e-300, 1.0])
RESULTS = st.one_of(
    st.builds(
        Result, name=st.just("e"), score=st.none() | NUMBERS, passed=st.booleans() | st.none(),
        answer=st.sampled_from([None, "a", "b"]),
    ),
    st.builds(Result.unmeasured, st.sampled_from(["abstained", "refused", "error", "skipped"]), st.sampled_from("xyz"),
              name=st.just("e")),
)  # fmt: skip
USAGES = st.builds(
    Usage, requests=st.integers(0, 2), questions=st.integers(0, 5), input_tokens=st.integers(0, 99),
    cost_usd=st.none() | st.floats(0, 5), cost_complete=st.booleans(), latency_ms=st.floats(0, 1e4),
    backend=st.sampled_from([None, "a", "b"]),
)  # fmt: skip
REPORTS = st.builds(
    lambda result, usage, decided, models: EvalReport([result], usage, None, decided, models),
    RESULTS, USAGES, st.dictionaries(st.sampled_from("pq"), st.integers(1, 3)),
    st.sampled_from([(), ("m",), ("n", "m")]),
)  # fmt: skip


def counted(rows, keep):
    report = DatasetReport(["e"], keep=keep)
    for row, resumed in rows:
        report.add(row, resumed=resumed)
    return report


@settings(max_examples=200)
@given(
    st.lists(st.tuples(REPORTS, st.booleans()), max_size=30), st.lists(st.integers(0, 30), max_size=5), st.booleans()
)
def test_the_report_of_parts_is_that_of_the_whole_however_it_was_divided(reports, cuts, keep):
    rows = [(RowReport(index, None, {}, report), resumed) for index, (report, resumed) in enumerate(reports)]
    ends = [*sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    merged, start = DatasetReport(["e"], keep=keep), 0
    for end in ends:
        merged.merge(counted(rows[start:end], keep))
        start = end
    whole = counted(rows, keep)
    assert told(merged) == told(whole)
    assert [*merged["e"].reasons] == [*whole["e"].reasons]
    assert [*merged["e"].answers] == [*whole["e"].answers]


def test_as_many_failures_are_kept_of_parts_as_of_the_whole():
    rows = [(RowReport(n, None, {}, EvalReport([Result("e", 0.0, False)])), False) for n in range(KEPT_FAILURES + 30)]
    merged = counted(rows[:90], False)
    merged.merge(counted(rows[90:], False))
    assert merged["e"].failing == KEPT_FAILURES + 30
    assert [index for index, _ in merged.failures("e")] == list(range(KEPT_FAILURES))


def test_a_sum_is_exact_and_what_cannot_be_counted_is_not_lost():
    total = ExactSum()
    for number in [0.1] * 10 + [1e16, -1e16]:
        total.add(number)
    assert float(total) == 1.0
    total.add(float("inf"))
    assert float(total) == float("inf")
