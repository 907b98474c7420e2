"""Running evals on samples: whatever a sample, an eval or a backend does, every eval has a result that says so."""

import asyncio
import math
import runpy
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from yb_eval import UsageError
from yb_eval_decision.answers import NoAnswer, NoulAnswer
from yb_eval_decision.asking import EvalSet, NoSample
from yb_eval_decision.assessing import aassess, assess
from yb_eval_decision.backends.base import Response
from yb_eval_decision.questions import Noul
from yb_eval_decision.results import Result
from yb_eval_decision.running import aevaluate, aevaluate_dataset, evaluate, evaluate_dataset, made

fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
Asks, FakeBackend, Polite, Short = (fakes[name] for name in ("Asks", "FakeBackend", "Polite", "Short"))

SAMPLE = {"output": "Thank you."}


def one(eval, sample=SAMPLE, backend=None):
    (report,) = assess([sample], [eval], backend or FakeBackend())
    (result,) = report.results
    return result


def eval_with(**methods):
    return type("Own", (Polite,), methods)()


# Before anything is asked


def test_a_missing_field_is_named_and_so_is_the_key_that_was_meant():
    result = one(Polite(), {"ouput": "Thank you."})
    assert result.status == "skipped"
    assert "missing output" in result.reason
    assert "ouput" in result.reason


def test_an_eval_that_does_not_apply_says_why_and_asks_nothing():
    backend = FakeBackend()
    result = one(eval_with(applicable=lambda self, s: (False, "no tool results")), backend=backend)
    assert (result.status, result.reason) == ("skipped", "no tool results")
    assert backend.calls == 0


def test_a_result_that_needs_no_question_is_taken_without_asking():
    backend = FakeBackend()
    result = one(eval_with(pre=lambda self, s: Result(score=1.0)), backend=backend)
    assert (result.score, result.passed, backend.calls) == (1.0, True, 0)


def test_without_questions_the_state_is_not_made_and_nothing_is_asked():
    backend = FakeBackend()

    def state(self, s):
        raise AssertionError

    own = eval_with(
        state=state, questions=lambda self, s: {}, reduce=lambda self, answers, s: Result(score=float(not answers))
    )
    assert one(own, backend=backend).score == 1.0
    assert backend.calls == 0


def test_questions_may_be_written_as_on_the_wire():
    backend = FakeBackend()
    one(eval_with(questions=lambda self, s: {"q": {"type": "noul", "instructions": "polite?"}}), backend=backend)
    assert backend.seen[0].questions["own.q"] == Noul("polite?")


# What goes wrong is an error of one eval


def boom(*_):
    raise ValueError("no\nway \x1b[31m")


@pytest.mark.parametrize("stage", ["applicable", "pre", "questions", "state", "reduce"])
def test_an_exception_is_an_error_of_that_eval_in_one_line(stage):
    report = assess([SAMPLE], [eval_with(**{stage: boom}), Short()], FakeBackend())[0]
    failed, other = report.results
    assert failed.status == "error"
    assert failed.reason.startswith(f"{stage}: ValueError: no")
    assert failed.reason.isprintable()
    assert other.measured


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (Result(score=math.nan), "score is not within 0..1"),
        (Result(score=math.inf), "score is not within 0..1"),
        (Result(score=90), "not within 0..1: 90"),
        (Result(score=-0.1), "not within 0..1"),
        (Result(score=True), "score is not a number"),
        (Result(score="0.9"), "score is not a number"),
        (Result(score=0.9, passed="yes"), "passed is true or false"),
        (Result(score=0.9, passed=1), "passed is true or false"),
        (Result(score=0.9, probability=7), "probability is not within"),
        (Result(score=0.9, action="explode"), "unknown action"),
        (Result(status="fine"), "unknown status"),
        (Result(), "neither a score nor a verdict"),
        (0.9, "a Result is expected, not 0.9"),
        (None, "a Result is expected"),
    ],
)
def test_a_result_that_says_nothing_that_can_be_is_an_error(result, why):
    found = one(eval_with(reduce=lambda self, answers, s: result))
    assert found.status == "error"
    assert why in found.reason
    assert found.passed is None
    assert not found


@pytest.mark.parametrize(
    ("methods", "why"),
    [
        ({"questions": lambda self, s: ["q"]}, "questions by id"),
        ({"questions": lambda self, s: {1: Noul("?")}}, "the id of a question is a text"),
        ({"questions": lambda self, s: {"q": "polite?"}}, "questions.q"),
        ({"state": lambda self, s: "text"}, "names as keys"),
        ({"state": lambda self, s: {1: 2}}, "names as keys"),
        ({"state": lambda self, s: {"x": {1, 2}}}, "not JSON"),
    ],
)
def test_a_state_or_questions_that_cannot_be_sent_are_an_error(methods, why):
    result = one(eval_with(**methods))
    assert result.status == "error"
    assert why in result.reason


def test_the_threshold_decides_where_reduce_does_not():
    assert one(Polite(threshold=0.95)).passed is False
    assert one(Polite(threshold=0.9)).passed is True


def test_an_unmeasured_result_keeps_no_score():
    result = one(
        eval_with(reduce=lambda self, answers, s: Result.unmeasured("abstained", "cannot tell", score=1.0, passed=True))
    )
    assert (result.status, result.score, result.passed) == ("abstained", None, None)


@pytest.mark.parametrize(
    "sample", [None, 7, {"messages": 3}, {"messages": [{"role": "user"}, 5]}, NoSample("line 3: not JSON")]
)
def test_a_bad_sample_is_an_error_of_every_eval_and_the_others_go_on(sample):
    bad, good = assess([sample, SAMPLE], [Polite(), Short()], FakeBackend())
    assert [result.status for result in bad.results] in (["error", "error"], ["skipped", "skipped"])
    assert good.passed is True


# Unanswered questions


def answering(**states):
    return lambda id, question, state: states.get(id.partition(".")[2]) or NoulAnswer(0.9)


def test_one_question_without_an_answer_makes_the_eval_unmeasured_the_worst_state_first():
    three = eval_with(questions=lambda self, s: {id: Noul(f"{id}?") for id in "abc"})
    error, refused, abstained = (NoAnswer(state, f"why {state}") for state in ("error", "refused", "abstained"))
    assert one(three, backend=FakeBackend(answering(a=abstained))).reason == "a: why abstained"
    result = one(three, backend=FakeBackend(answering(a=abstained, c=refused)))
    assert (result.status, result.reason) == ("refused", "c: why refused")
    result = one(three, backend=FakeBackend(answering(a=error, b=refused, c=error)))
    assert (result.status, result.reason) == ("error", "a, c: why error")
    assert list(result.answers) == ["a", "b", "c"]


def test_a_partial_eval_sees_unanswered_questions_in_their_places():
    seen = []

    def reduce(self, answers, s):
        seen.append({id: answer.type for id, answer in answers.items()})
        return Result(score=0.5)

    own = eval_with(questions=lambda self, s: {id: Noul(f"{id}?") for id in "abc"}, partial=True, reduce=reduce)
    assert one(own, backend=FakeBackend(answering(b=NoAnswer("error", "lost")))).score == 0.5
    assert seen == [{"a": "noul", "b": "none", "c": "noul"}]


@pytest.mark.parametrize(
    ("decide", "why"),
    [
        (lambda requests: 1 / 0, "ZeroDivisionError"),
        (lambda requests: [], "1 requests got 0 responses"),
        (lambda requests: None, "got None"),
        (lambda requests: ["yes"] * len(requests), "a Response is expected"),
        (lambda requests: [Response(answers={})] * len(requests), "no answer came back"),
        (lambda requests: [Response(answers=None)] * len(requests), "answers by id are expected"),
        (lambda requests: [Response(answers={"polite.q": NoulAnswer(9.0)})] * len(requests), "not within 0..1"),
    ],
)
def test_a_backend_that_breaks_its_contract_is_an_error_of_what_it_was_asked(decide, why):
    backend = FakeBackend()
    backend.decide = decide
    result = one(Polite(), backend=backend)
    assert result.status == "error"
    assert why in result.reason


def test_wire_answers_of_a_users_own_backend_are_read():
    backend = FakeBackend()
    backend.decide = lambda requests: [Response(answers={"polite.q": {"noul": 0.7}}) for _ in requests]
    assert one(Polite(), backend=backend).score == 0.7


# Reports


def test_results_come_in_the_order_of_the_evals_whatever_was_asked():
    skipped = eval_with(applicable=lambda self, s: (False, "no"))
    report = assess([SAMPLE], [Short(), skipped, Polite()], FakeBackend())[0]
    assert [result.name for result in report.results] == ["short", "own", "polite"]
    assert report.passed is True
    assert report.models == ("fake-1",)
    assert report.decided_by == {"fake": 3}


def test_names_that_are_also_attributes_are_reached_by_item():
    report = assess([SAMPLE], [Polite(name="usage"), Polite(name="passed")], FakeBackend())[0]
    assert report["usage"].score == 0.9
    assert report.usage.requests == 1
    with pytest.raises(KeyError, match="politt"):
        report["politt"]
    with pytest.raises(AttributeError, match="polite2"):
        report.polite2  # noqa: B018


def test_the_sample_is_kept_where_asked_for():
    assert assess([SAMPLE], [Polite()], FakeBackend(), keep_sample=True)[0].sample["output"] == "Thank you."
    assert assess([SAMPLE], [Polite()], FakeBackend())[0].sample is None


def test_a_repeat_is_said_on_every_request():
    backend = FakeBackend()
    assess([SAMPLE], [Polite()], backend, repeat=2)
    assert [request.repeat for request in backend.seen] == [2]


def test_a_table_is_one_line_for_each_eval_whatever_the_data_holds():
    own = eval_with(reduce=lambda self, answers, s: Result(score=0.1, detail="evil\n\x1b[2J"))
    report = assess([SAMPLE], [own, Polite(), eval_with(applicable=lambda self, s: (False, "no"))], FakeBackend())[0]
    lines = str(report).splitlines()
    assert len(lines) == 4
    assert "FAILED" in lines[0]
    assert all(line.isprintable() for line in lines)
    assert "skipped" in lines[2]


# Arguments


@pytest.mark.parametrize(
    ("evals", "why"), [([], "no evals"), ([Polite], "not an eval"), ([3], "not an eval"), (Polite, "not an eval")]
)
def test_evals_that_are_none_are_refused(evals, why):
    with pytest.raises(UsageError, match=why):
        evaluate(SAMPLE, evals, backend=FakeBackend())


@pytest.mark.parametrize("backend", [3, FakeBackend])
def test_what_is_no_backend_is_refused(backend):
    with pytest.raises(UsageError, match="not a backend"):
        evaluate(SAMPLE, [Polite()], backend=backend)


def test_evals_may_be_given_by_name_and_one_alone():
    assert made("agent.goal_completion").names == ("goal_completion",)
    assert made(["goal_completion", Polite()]).names == ("goal_completion", "polite")
    assert made(Polite()).names == ("polite",)
    ready = EvalSet([Polite()])
    assert made(ready) is ready


def test_a_backend_that_was_given_is_not_closed():
    backend = FakeBackend()
    evaluate(SAMPLE, [Polite()], backend=backend)
    assert not backend.closed


def test_a_backend_named_by_its_spec_is_opened_once_and_can_be_closed(monkeypatch):
    from yb_eval_decision import opened
    from yb_eval_decision.backends import opening

    specs, backends = [], []

    def open_backend(spec=None, **_):
        specs.append(spec)
        backends.append(FakeBackend())
        return backends[-1]

    opened.close_shared()
    monkeypatch.setattr(opening, "open_backend", open_backend)
    for _ in range(3):
        evaluate(SAMPLE, [Polite()], backend="kev://localhost:1")
        evaluate_dataset([SAMPLE], [Polite()], backend="kev://localhost:1")
    assert specs == ["kev://localhost:1"]
    evaluate(SAMPLE, [Polite()])
    assert specs == ["kev://localhost:1", None]
    assert not any(backend.closed for backend in backends)
    opened.close_shared()
    assert all(backend.closed for backend in backends)


# Loops and threads


def test_the_sync_functions_work_inside_a_running_loop():
    async def main():
        report = evaluate(SAMPLE, [Polite()], backend=FakeBackend())
        whole = evaluate_dataset([SAMPLE] * 9, [Polite()], backend=FakeBackend(waits=True), concurrency=2)
        return report.polite.score, whole["polite"].passes

    assert asyncio.run(main()) == (0.9, 9)


def test_the_async_functions_let_the_loop_go_on_while_a_backend_waits():
    async def main():
        loop_went_on = asyncio.Event()
        released = threading.Event()
        backend = FakeBackend(waits=True)
        decide = backend.decide
        backend.decide = lambda requests: decide(requests) if released.wait(30) else []

        async def other():
            loop_went_on.set()
            released.set()

        report, _ = await asyncio.gather(aevaluate(SAMPLE, [Polite()], backend=backend), other())
        assert loop_went_on.is_set()
        return report

    assert asyncio.run(main()).polite.measured


def test_one_backend_serves_one_loop_after_another():
    backend = FakeBackend()
    for _ in range(3):
        assert asyncio.run(aevaluate(SAMPLE, [Polite()], backend=backend)).passed is True


def test_an_async_backend_that_raises_is_an_error():
    class Broken(FakeBackend):
        async def adecide(self, requests):
            raise RuntimeError("gone")

    (report,) = asyncio.run(aassess([SAMPLE], [Polite()], Broken()))
    assert "RuntimeError: gone" in report.polite.reason


def test_nothing_is_asked_of_the_backend_where_no_eval_asks():
    backend = FakeBackend()
    (report,) = asyncio.run(aassess([{}], [Polite()], backend))
    assert (report.polite.status, backend.calls) == ("skipped", 0)


def test_threads_share_evals_and_backend():
    evals, backend = EvalSet([Polite(), Short()]), FakeBackend()
    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(lambda i: evaluate({"output": f"{i}"}, evals, backend=backend), range(64)))
    assert all(report.passed for report in reports)
    assert len(backend.seen) == 64


def test_the_async_dataset_gives_the_same_as_the_sync_one():
    samples = [{"output": f"{i}"} for i in range(23)]
    answer = lambda id, question, state: NoulAnswer(int(state["final_answer"]) / 23)  # noqa: E731
    order = []
    sync = evaluate_dataset(samples, [Polite()], backend=FakeBackend(answer), keep=True)
    via_loop = asyncio.run(
        aevaluate_dataset(
            samples, [Polite()], backend=FakeBackend(answer, waits=True), keep=True, batch=3, concurrency=4,
            on_result=lambda index, report: order.append(index),
        )
    )  # fmt: skip
    assert via_loop.summary() == sync.summary()
    assert via_loop.to_records() == sync.to_records()
    assert order == list(range(23))
