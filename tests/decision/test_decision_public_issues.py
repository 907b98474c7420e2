"""Ten public issues of evaluation libraries that must not be issues here, by number, repository and number there.

They were filed against ragas (vibrantlabsai), deepeval (confident-ai) and others; the symptom is told with each test, and what
is tested is the symptom and its kind, on one sample and on many, sync and async.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib.util
import io
import json
import math
import os
import runpy
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import orjson
import pytest

from yb_eval_decision import (
    MockBackend,
    Noul,
    Request,
    Response,
    aevaluate,
    aevaluate_dataset,
    builtin_evals,
    evaluate,
    evaluate_dataset,
)
from yb_eval_decision.answers import NoulAnswer
from yb_eval_decision.backends.addresses import Address
from yb_eval_decision.backends.base import Backend, Limits, Price
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.systemone import SystemOneBackend
from yb_eval_decision.budget import Budget, estimate
from yb_eval_decision.quality import ContextRecall, Faithfulness, Hallucination, Refusal

kit = runpy.run_path(str(Path(__file__).with_name("decision_traces.py")), run_name="decision_traces")
TRACE, ASKING, Drawn, made = (kit[name] for name in ("TRACE", "ASKING", "Drawn", "made"))
fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
FakeBackend, PRICE = fakes["FakeBackend"], fakes["PRICE"]


def _servers() -> Any:
    spec = importlib.util.spec_from_file_location("decision_servers", Path(__file__).with_name("decision_servers.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault("decision_servers", importlib.util.module_from_spec(spec))
    if not hasattr(module, "Service"):
        spec.loader.exec_module(module)
    return module


servers = _servers()


async def at_once(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def remote(service: Any, **pace: Any) -> SystemOneBackend:
    return SystemOneBackend(Address(service.url), spec="typesafe", pace=Pace(**{"sleep": at_once, **pace}))


def numbers(value: Any) -> Any:
    """All numbers in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, int | float) else []


# 1. ragas 580 (733, 1403): faithfulness is NaN, also in the quickstart; of "I cannot answer" always


@pytest.mark.parametrize("answer", [
    "I cannot answer that from the documents provided.", "I don't know.", "I cannot determine that from the tool results available.", "Sorry, I can't help with that.", "К сожалению, я не знаю.",
    "Я не могу ответить на этот вопрос.", "Hello!", "???", "", "   \n",
])  # fmt: skip
@pytest.mark.parametrize("eval_", [Faithfulness(), Hallucination(), ContextRecall()])
def test_issue_01_ragas_580_an_answer_that_claims_nothing_is_skipped_and_never_nan(eval_: Any, answer: str) -> None:
    sample = {"input": "so?", "output": answer, "expected": answer, "contexts": ["The lamp is lit."]}
    report = evaluate(sample, [eval_], backend=MockBackend())
    (result,) = report.results
    assert (result.status, result.score, result.passed) == ("skipped", None, None)
    dataset = evaluate_dataset(
        [sample, {**sample, "output": "The lamp is lit.", "expected": "The lamp is lit."}],
        [eval_],
        backend=MockBackend(default_noul=0.9),
    )
    tally = dataset[result.name]
    assert (tally.mean, tally.counts["skipped"], tally.counts["measured"]) == (1.0, 1, 1)


@pytest.mark.parametrize("name", ASKING)
def test_issue_01_no_number_of_any_eval_is_nan(name: str) -> None:
    for seed in range(5):
        report = evaluate(TRACE, [made(name)], backend=MockBackend(fn=Drawn(seed)))
        assert all(map(math.isfinite, numbers(orjson.loads(orjson.dumps(report.to_dict())))))
        assert b"null" not in orjson.dumps(report[name].score)


def test_issue_01_an_eval_that_says_nan_is_an_error_and_no_number() -> None:
    class Own(fakes["Polite"]):  # type: ignore[misc, name-defined]
        def reduce(self, answers: Any, s: Any) -> Any:
            from yb_eval_decision import Result

            return Result(score=float("nan"))

    report = evaluate_dataset([{"output": "x"}] * 2, [Own()], backend="mock")
    assert (report["own"].mean, report["own"].counts["error"]) == (None, 2)


# 2. ragas 2832, 2818: what failed drops out of the mean, so that half the truth looks like nine tenths


@pytest.mark.parametrize("lost", [0, 1, 4, 9, 10])
def test_issue_02_ragas_2832_what_failed_is_counted_and_bounds_the_rate(lost: int) -> None:
    def answer(id: str, question: Any, state: Any) -> Any:
        return NoulAnswer(0.9)

    def fail(request: Request) -> str:
        return "timed out" if int(request.state["final_answer"]) < lost else ""

    rows = [{"output": str(index)} for index in range(10)]
    report = evaluate_dataset(rows, [fakes["Polite"]()], backend=FakeBackend(answer, fail=fail))
    tally = report["polite"]
    assert (tally.n, tally.counts["measured"], tally.counts["error"]) == (10, 10 - lost, lost)
    assert tally.pass_bounds == ((10 - lost) / 10, 1.0)
    assert report.passed is (True if not lost else None)
    table = report.table()
    assert f"{10 - lost}/10" in table
    assert ("timed out" in table) is (lost > 0)
    if 0 < lost < 10:
        assert f"{100 - 10 * lost:.1f} to 100.0 % pass, counting what was not measured" in table


# 3. ragas 1850 (1667): timeouts in jobs make every metric NaN, whatever the configuration


def test_issue_03_ragas_1850_one_slow_request_costs_its_own_sample_only() -> None:
    """The service hangs on one sample: it is an error after the deadline, with its cause, and the others are measured."""

    def wire(handler: Any) -> None:
        slow = "slow" in handler.asked["state"]["final_answer"]
        (servers.hang if slow else servers.system_one())(handler)

    rows = [{"output": "slow" if index == 2 else f"quick {index}"} for index in range(6)]
    with servers.serving(wire) as service, remote(service, timeout=0.5) as backend:
        report = evaluate_dataset(rows, [fakes["Polite"]()], backend=backend, keep=True)
    statuses = [result.status for result in report.results_for("polite")]
    assert statuses == ["measured", "measured", "error", "measured", "measured", "measured"]
    reason = report.results_for("polite")[2].reason
    assert "0.5" in reason or "time" in reason.lower()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_issue_03_a_deadline_holds_for_all_attempts_together(asynchronous: bool) -> None:
    with servers.serving(servers.hang) as service, remote(service, timeout=0.3) as backend:
        if asynchronous:
            report = asyncio.run(aevaluate({"output": "x"}, "coherence", backend=backend))
        else:
            report = evaluate({"output": "x"}, "coherence", backend=backend)
        assert len(service.seen) == 1  # no second attempt of what had all of its time
    assert (report.coherence.status, report.passed) == ("error", None)


# 4. ragas 240 (deepeval 1146, 1265, 3110): other scores in another run, or in another order


@pytest.mark.parametrize("name", sorted(builtin_evals()))
def test_issue_04_ragas_240_the_same_sample_gives_the_same_request_and_result_every_time(name: str) -> None:
    first, second = MockBackend(fn=Drawn(7)), MockBackend(fn=Drawn(7))
    one = evaluate(json.loads(json.dumps(TRACE)), [made(name)], backend=first)
    two = evaluate(json.loads(json.dumps(TRACE)), [made(name)], backend=second)
    assert [result.to_dict() for result in one] == [result.to_dict() for result in two]
    assert list(first.calls) == list(second.calls)


def test_issue_04_the_order_of_evals_and_rows_changes_no_result() -> None:
    names = list(builtin_evals())
    rows = [{**TRACE, "id": str(index), "contexts": [f"context {index}"]} for index in range(5)]

    def results(names: list[str], rows: list[Any], **more: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = {}

        def taken(index: int, report: Any) -> None:
            found.update({(rows[index]["id"], result.name): result.to_dict() for result in report})

        backend = MockBackend(fn=Drawn(3))
        backend.waits = "concurrency" in more  # `Drawn` is of no module that another process could import: threads
        evaluate_dataset(rows, [made(name) for name in names], backend=backend, on_result=taken, **more)
        return found

    plain = results(names, rows)
    assert len(plain) == 5 * 37
    assert results(names[::-1], rows) == plain
    assert results(names, rows[::-1]) == plain
    assert results(names, rows, batch=1, concurrency=4) == plain
    assert results(names, rows, isolate=True) == plain


def test_issue_04_nothing_depends_on_the_hash_seed() -> None:
    code = (
        "import json, runpy, sys; kit = runpy.run_path(sys.argv[1])\n"
        "from yb_eval_decision import MockBackend, builtin_evals, evaluate\n"
        "backend = MockBackend(fn=kit['Drawn'](3))\n"
        "report = evaluate(kit['TRACE'], [kit['made'](name) for name in builtin_evals()], backend=backend)\n"
        "call = backend.calls[0]\n"
        "print(json.dumps([call['state'], {k: repr(q) for k, q in call['questions'].items()}, report.to_dict()['results']]))\n"
    )
    kit_path = str(Path(__file__).with_name("decision_traces.py"))
    said = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code, kit_path],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(said) == 1


# 5. deepeval 929 (872): "invalid JSON, use a better model" ends the metric


@pytest.mark.parametrize("text", [
    "Sure! Here is the JSON: {", '{"q1": 0.9', " ", "null", '{"q1": "very likely"}', '{"q1": {"0": 0.5}}', "[0.9]", '{"q1": NaN}', "```json\n{}\n```",
])  # fmt: skip
def test_issue_05_deepeval_929_what_a_model_writes_wrong_is_an_error_of_that_question_only(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "test-" + "0" * 12)

    def wire(handler: Any) -> None:
        state = handler.asked["messages"][-1]["content"]
        servers.openai_chat(text=text if "odd one" in state else None)(handler)

    with servers.serving(wire) as service:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{service.url}/v1")
        from yb_eval_decision.backends.chat_openai import openai_chat

        with openai_chat("gpt-x", "openai:gpt-x", Pace(sleep=at_once)) as backend:
            rows = [{"output": "Fine."}, {"output": "the odd one"}, {"output": "Fine too."}]
            report = evaluate_dataset(rows, "coherence", backend=backend, keep=True)
    assert [result.status for result in report.results_for("coherence")] == ["measured", "error", "measured"]
    assert report["coherence"].mean is not None
    assert len(report.results_for("coherence")[1].reason.splitlines()) == 1


# 6. deepeval 3234: NaN counts as failing, and makes the mean of the run NaN


def test_issue_06_deepeval_3234_what_is_unmeasured_is_neither_a_failure_nor_in_the_mean() -> None:
    answers = {"a": 3, "b": ValueError("down"), "c": 3}
    backend = MockBackend(fn=lambda id, q, s: answers[s["final_answer"]])
    report = evaluate_dataset([{"output": one} for one in "abc"], "coherence", backend=backend, keep=True)
    tally = report["coherence"]
    assert (tally.mean, tally.pass_rate, tally.failing, report.failures("coherence")) == (1.0, 1.0, 0, [])
    assert tally.counts["error"] == 1
    assert report.passed is None
    lines = [orjson.loads(orjson.dumps(row)) for row in report.to_records()]
    assert [line["coherence.score"] for line in lines] == [1.0, None, 1.0]
    assert "nan" not in report.table().lower().replace("unmeasured", "")


# 7. deepeval 2952 (821): the sync function in a running loop fails, and prints noise


@pytest.mark.parametrize("kind", ["one", "dataset"])
def test_issue_07_deepeval_2952_the_sync_functions_work_in_a_notebook_and_a_server_and_print_nothing(kind: str) -> None:
    async def cell() -> Any:
        if kind == "one":
            return evaluate({"output": "x"}, "coherence", backend=backend).coherence.measured
        return (
            evaluate_dataset([{"output": "x"}] * 5, "coherence", backend=backend)["coherence"].counts["measured"] == 5
        )

    said = io.StringIO()
    with (
        servers.serving(servers.system_one()) as service,
        remote(service) as backend,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        assert asyncio.run(cell())
        assert asyncio.run(cell())  # another loop
        assert evaluate({"output": "x"}, "coherence", backend=backend).coherence.measured  # none
    assert said.getvalue() == ""


@pytest.mark.parametrize("kind", ["one", "dataset"])
def test_issue_07_the_async_functions_let_the_loop_go_on(kind: str) -> None:
    gone_on = threading.Event()

    def wire(handler: Any) -> None:
        assert gone_on.wait(10)  # answers only once the loop has done something else meanwhile
        servers.system_one()(handler)

    async def server() -> bool:
        async def other() -> None:
            gone_on.set()

        if kind == "one":
            report, _ = await asyncio.gather(aevaluate({"output": "x"}, "coherence", backend=backend), other())
            return report.coherence.measured
        dataset, _ = await asyncio.gather(
            aevaluate_dataset([{"output": "x"}] * 3, "coherence", backend=backend), other()
        )
        return dataset["coherence"].counts["measured"] == 3

    with servers.serving(wire) as service, remote(service) as backend:
        assert asyncio.run(server())


# 8. deepeval 3120: a client that is never closed for each call; "Event loop is closed" later


def test_issue_08_deepeval_3120_no_client_is_left_and_no_loop_is_missed() -> None:
    before = threading.active_count()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with servers.serving(servers.system_one()) as service:
            for _ in range(3):
                with remote(service) as backend:
                    evaluate({"output": "x"}, "coherence", backend=backend)
                    asyncio.run(aevaluate({"output": "x"}, "coherence", backend=backend))
            peers = len(service.peers)
        gc.collect()
    assert peers == 3  # a connection a backend, not one a call
    assert threading.active_count() <= before
    assert [str(one.message) for one in warned if issubclass(one.category, ResourceWarning)] == []


def test_issue_08_a_script_that_closes_nothing_ends_cleanly() -> None:
    code = (
        "import asyncio, sys\n"
        "from yb_eval_decision import aevaluate, evaluate\n"
        "spec = sys.argv[1]\n"
        "assert evaluate({'output': 'x'}, 'coherence', backend=spec).coherence.measured\n"
        "assert asyncio.run(aevaluate({'output': 'x'}, 'coherence', backend=spec)).coherence.measured\n"
    )
    with servers.serving(servers.system_one()) as service:
        spec = f"kev://127.0.0.1:{service.port}"
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, spec], capture_output=True, text=True, timeout=60
        )
        assert len(service.peers) == 1
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


# 9. ragas 2696 (540, 2473): no estimate before, surprising bills, slow


def test_issue_09_ragas_2696_what_a_run_takes_is_told_before_and_a_limit_holds() -> None:
    rows = [{"output": f"Answer number {index} of the run."} for index in range(20)]
    evals = [fakes["Polite"](), fakes["Short"]()]
    backend = FakeBackend(price=PRICE)
    told = estimate(rows, evals, backend)
    assert not backend.seen
    assert (told.samples, told.requests, told.questions) == (20, 20, 60)
    assert told.cost_usd is not None
    assert told.cost_usd == pytest.approx(told.input_tokens * 1000 / 1_000_000)
    budget = Budget(told.cost_usd / 2)
    report = evaluate_dataset(rows, evals, backend=backend, max_cost=budget)
    assert 0 < len(backend.seen) < 20
    tally = report["polite"]
    assert tally.counts["measured"] == len(backend.seen)
    assert tally.counts["error"] == 20 - len(backend.seen)
    assert "max cost" in tally.reasons["error"]
    assert report.passed is not True


def test_issue_09_a_limit_holds_for_requests_under_way_together_and_needs_a_price() -> None:
    from yb_eval import UsageError

    backend = FakeBackend(price=Price(input=1000.0), cost=0.5, waits=True)
    budget = Budget(2.0)
    evaluate_dataset(
        [{"output": str(i)} for i in range(40)],
        [fakes["Polite"]()],
        backend=backend,
        max_cost=budget,
        concurrency=8,
        batch=2,
    )
    assert budget.spent <= 2.0 + 0.5
    with pytest.raises(UsageError, match="price"):
        evaluate({"output": "x"}, "coherence", backend=FakeBackend(waits=True), max_cost=1.0)


def test_issue_09_a_429_is_waited_out_as_told() -> None:
    pauses: list[float] = []

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    busy = servers.status(429, "slow down", Retry_After="7")
    with servers.serving(servers.system_one(), busy, busy) as service, remote(service, sleep=noted) as backend:
        report = evaluate({"output": "x"}, "coherence", backend=backend)
    assert report.coherence.measured
    assert report.usage.retries == 2
    assert min(pauses) >= 7


# 10. ragas 597 (53, 1120): one long context, and the evaluation ends with context_length_exceeded


class Narrow(Backend):
    """A model with a window of 6,000 tokens, which refuses what is longer."""

    spec, fingerprint = "narrow", "b" * 64
    limits = Limits(request_tokens=6_000)

    def __init__(self) -> None:
        self.refused = self.asked = 0

    def decide(self, requests: Any) -> list[Response]:
        return [self._one(request) for request in requests]

    def _one(self, request: Request) -> Response:
        from yb_eval_decision.budget import request_tokens

        self.asked += 1
        if request_tokens(request) > 6_000:
            self.refused += 1
            return Response.without(request, "error", "context_length_exceeded")
        return Response(
            answers={id: self._answer(question, request.state) for id, question in request.questions.items()}
        )

    def _answer(self, question: Any, state: Any) -> Any:
        sees = "The lamp in the hall is lit." in json.dumps(state, default=dict)
        return NoulAnswer(0.95 if sees else 0.05) if isinstance(question, Noul) else fakes["sure"](question)


@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize("kind", ["one long", "many"])
def test_issue_10_ragas_597_long_contexts_are_divided_and_none_of_them_is_lost(kind: str, where: str) -> None:
    padding = "Nothing else is known of the house and its rooms. " * 1500
    at = {"start": 0, "middle": len(padding) // 2, "end": len(padding)}[where]
    text = f"{padding[:at]} The lamp in the hall is lit. {padding[at:]}"
    contexts = [text] if kind == "one long" else [text[start : start + 3000] for start in range(0, len(text), 2900)]
    backend = Narrow()
    sample = {
        "input": "Is it lit?",
        "output": "The hall's lamp is lit.",
        "contexts": contexts,
        "expected": "It is lit in the hall.",
    }
    report = evaluate(sample, [Faithfulness(), ContextRecall(), Refusal()], backend=backend)
    assert backend.refused == 0
    assert backend.asked > 3
    assert [result.status for result in report] == ["measured"] * 3
    assert report.faithfulness.score == report.context_recall.score == 1.0
    # And without the sentence nothing supports the claim: the parts are looked at, not waved through.
    without = {**sample, "contexts": [context.replace("The lamp in the hall is lit.", "") for context in contexts]}
    assert evaluate(without, [Faithfulness()], backend=Narrow()).faithfulness.score == 0.0


# The others


@pytest.mark.parametrize("p", [90, 1.5, -0.1, math.nan, math.inf, "1.0", None, True])
def test_issue_also_rubric_llm_4_langfuse_17733_ninety_is_no_perfect_score(p: Any) -> None:
    class Off(Backend):
        spec, fingerprint = "off", "c" * 64

        def decide(self, requests: Any) -> list[Response]:
            return [Response(answers={id: {"noul": p} for id in request.questions}) for request in requests]

    report = evaluate({"output": "x"}, [fakes["Polite"]()], backend=Off())
    assert (report.polite.status, report.polite.score) == ("error", None)


def test_issue_also_evalscope_1575_autoevals_28_a_judge_that_is_out_is_seen_and_no_zero() -> None:
    rows = [{"output": str(index)} for index in range(4)]
    report = evaluate_dataset(rows, "coherence", backend=FakeBackend(fail=lambda request: "HTTP 500"), keep=True)
    assert (report["coherence"].mean, report["coherence"].pass_rate, report.passed) == (None, None, None)
    assert "4 error" in report.table()
    assert [result.score for result in report.results_for("coherence")] == [None] * 4


def test_issue_also_autoevals_129_every_eval_that_is_documented_can_be_made_and_asked() -> None:
    asked = set()
    for name in builtin_evals():
        report = evaluate(TRACE, [made(name)], backend=MockBackend(fn=Drawn(1)))
        assert report[name].measured, report[name]
        asked.add(name)
    assert len(asked) == 37


def test_issue_also_mlflow_11087_a_chat_judge_is_sent_no_sampling_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "test-" + "0" * 12)
    with servers.serving(servers.openai_chat()) as service:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{service.url}/v1")
        from yb_eval_decision.backends.chat_openai import openai_chat

        with openai_chat("gpt-x", "openai:gpt-x", Pace(sleep=at_once)) as backend:
            assert evaluate({"output": "x"}, "coherence", backend=backend).coherence.measured
        ((_, _, body),) = service.seen
    assert not {"temperature", "top_p", "max_tokens", "seed"} & set(body)


@pytest.mark.parametrize("n", [1, 130])
def test_issue_also_deepeval_1147_1450_a_lost_connection_ends_no_run_and_a_run_ends(n: int) -> None:
    """A connection that breaks again and again costs the rows it breaks on, at most; and the process ends after the last."""
    faults = [servers.drop if index % 7 == 0 else servers.system_one() for index in range(n)]
    rows = [{"output": f"answer {index}"} for index in range(n)]
    with servers.serving(servers.system_one(), *faults) as service, remote(service) as backend:
        report = evaluate_dataset(rows, [fakes["Polite"]()], backend=backend)
    assert report.n == n
    counts = report["polite"].counts
    # Which request meets a broken connection is chance, and so is that one meets them with all its attempts.
    assert counts["measured"] + counts["error"] == n
    assert counts["error"] <= n // 50
    assert report.usage.retries >= 1


def test_issue_also_every_report_names_the_model_and_what_was_not_measured() -> None:
    with servers.serving(servers.system_one(model="jev-1.13.0")) as service, remote(service) as backend:
        report = evaluate({"output": "x"}, ["coherence", "grounded"], backend=backend)
        dataset = evaluate_dataset([{"output": "x"}], ["coherence", "grounded"], backend=backend)
    assert report.models == dataset.models == ("jev-1.13.0",)
    assert [result.name for result in report.unmeasured] == ["grounded"]
    assert dataset.summary()["grounded"]["skipped"] == 1
    assert dataset.to_dict()["models"] == ["jev-1.13.0"]
