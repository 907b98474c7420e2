"""Whoever meets the library for the first time gives it anything: each refusal is one clear line, and nothing grows or hangs."""

from __future__ import annotations

import asyncio
import os
import runpy
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision import (
    Choice,
    DeclarativeEval,
    MockBackend,
    Noul,
    Sample,
    Score,
    aevaluate,
    aevaluate_dataset,
    builtin_evals,
    evaluate,
    evaluate_dataset,
    get_eval,
    load_eval,
    load_evals,
    open_backend,
    resolve_evals,
    split_sentences,
)
from yb_eval_decision.agent import Grounded, LoopDetection, ToolCallRisk, ToolChoice
from yb_eval_decision.quality import CustomRubric
from yb_eval_decision.security import PII, TopicAdherence, detect_pii, detect_secrets, redact

kit = runpy.run_path(str(Path(__file__).with_name("decision_traces.py")), run_name="decision_traces")
TRACE, made = kit["TRACE"], kit["made"]
ALL = list(builtin_evals())
STRANGE = [
    None,
    1,
    1.5,
    True,
    b"x",
    object(),
    {1, 2},
    [],
    {},
    "",
    "\n",
    "x" * 10_000,
    float("nan"),
    [None],
    {"a": 1},
    int,
    len,
]


def refused(call: Callable[[], Any]) -> str:
    """The refusal of `call`: a `UsageError` of one line that is not too long to read."""
    with pytest.raises(UsageError) as error:
        call()
    told = str(error.value)
    assert told.strip()
    assert len(told.splitlines()) == 1
    assert len(told) < 1_500
    return told


# What is no sample


@pytest.mark.parametrize("sample", [
    *STRANGE, iter([]), {"messages": 1}, {"messages": {}}, {"messages": "hello"}, {"messages": [1]}, {"messages": [{"role": 1}]},
    {"messages": [{"role": "user", "content": 5}]}, {"messages": [{"role": "assistant", "tool_calls": 5}]},
    {"messages": [{"role": "assistant", "tool_calls": [{"function": 5}]}]}, {**TRACE, "tools": 5}, {**TRACE, "tools": [5]},
    {"output": 5}, {"output": b"x"}, {"output": "a\ud800b"}, {**TRACE, "contexts": 5}, {**TRACE, "contexts": [5]}, {1: 2},
    {**TRACE, "tool_call": 5}, {**TRACE, "tool_call": []}, {**TRACE, "expected_tool_calls": 5}, {**TRACE, "tool_results": 5},
    {**TRACE, "allowed_topics": 5}, {**TRACE, "plan": {}}, {**TRACE, "expected": [1]}, {**TRACE, "goal": object()},
    {**TRACE, "tool_results": [object(), {1: object()}]}, {"messages": [{"role": "tool", "content": "x"}] * 3},
])  # fmt: skip
def test_whatever_a_sample_is_every_eval_has_a_result_in_one_line(sample: Any) -> None:
    evals = [made(name) for name in ALL]
    report = evaluate(sample, evals, backend=MockBackend())
    assert len(report) == len(ALL)
    for result in report:
        assert result.status in ("measured", "abstained", "skipped", "error")
        assert result.measured or result.reason
        assert len((result.reason or "-").splitlines()) == 1
        assert "Traceback" not in result.reason
        # An error of the data is told as one of the data, not as one of the program.
        assert not result.reason.partition(": ")[2].startswith(
            ("TypeError", "AttributeError", "KeyError", "IndexError")
        ), result.reason
    assert report.table()
    assert evaluate_dataset([sample], evals, backend=MockBackend()).n == 1


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
_keys = st.sampled_from(["messages", "tools", "input", "output", "contexts", "expected", "tool_call", "tool_calls", "tool_result",
                         "tool_results", "expected_tool_calls", "goal", "plan", "system_prompt", "allowed_topics", "id"])  # fmt: skip
_messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool", "system", "developer", "x"])},
                          optional={"content": _values, "tool_calls": _values, "tool_call_id": _values, "name": _values}),
    max_size=4,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    sample=_values
    | st.dictionaries(_keys, _values, max_size=6)
    | st.fixed_dictionaries({"messages": _messages}, optional={"tools": _values, "contexts": _values})
)
def test_no_sample_at_all_raises_or_breaks_an_eval(sample: Any) -> None:
    report = evaluate(sample, [made(name) for name in ALL], backend=MockBackend())
    for result in report:
        told = result.reason.partition(": ")[2]
        assert not told.startswith(
            ("TypeError", "AttributeError", "KeyError", "IndexError", "RecursionError", "ZeroDivision")
        ), result


# What is no eval, no backend, no data, no argument


@pytest.mark.parametrize("evals", [
    *[strange for strange in STRANGE if strange != {"a": 1}], {"a": 1}, "grounde", Grounded, [Grounded], [Grounded(), 5], [[Grounded()]], (),
    iter([]), "no.yaml", {"name": "x"}, {"questions": {}}, {"name": "x", "questions": {"a": 1}}, "grounded:", "grounded:x=1",
    "grounded:threshold=x", "grounded:threshold=7", "security.grounded", "agent", "grounded,,pii", "custom_rubric", b"grounded",
])  # fmt: skip
def test_what_is_no_eval_is_refused(evals: Any) -> None:
    refused(lambda: evaluate(TRACE, evals, backend="mock"))


@pytest.mark.parametrize("backend", [
    *[strange for strange in STRANGE if strange is not None], MockBackend, "nope", "mock:x", "kev://", "http://", "https://", "python:",
    "python:no.such:thing", "replay:", "replay:/no/such/file", "llm:", "mock ->", "-> mock", "->", "http://user:secret@host", "kev://host?x=1",
])  # fmt: skip
def test_what_is_no_backend_is_refused_and_shows_no_credentials(backend: Any) -> None:
    assert "secret" not in refused(lambda: evaluate(TRACE, "coherence", backend=backend))


@pytest.mark.parametrize(
    "data", [None, 1, 1.5, True, b"x", object(), {}, TRACE, Sample.of(TRACE), "/no/such.jsonl", int]
)
def test_what_is_no_dataset_is_refused(data: Any) -> None:
    refused(lambda: evaluate_dataset(data, "coherence", backend="mock"))
    refused(lambda: asyncio.run(aevaluate_dataset(data, "coherence", backend="mock")))


@pytest.mark.parametrize("argument", [
    {"limit": -1}, {"limit": "x"}, {"limit": True}, {"batch": 0}, {"batch": "x"}, {"batch": 1.5}, {"concurrency": 0}, {"concurrency": True},
    {"on_result": 5}, {"out": 5}, {"out": b"x"}, {"resume": True}, {"cache": 5}, {"max_cost": -1}, {"max_cost": "x"},
    {"max_cost": float("nan")}, {"max_cost": True},
])  # fmt: skip
def test_an_argument_that_cannot_be_used_is_refused_before_anything_is_asked(argument: dict[str, Any]) -> None:
    backend = MockBackend()
    refused(lambda: evaluate_dataset([TRACE], "coherence", backend=backend, **argument))
    refused(lambda: asyncio.run(aevaluate_dataset([TRACE], "coherence", backend=backend, **argument)))
    assert not backend.calls


@pytest.mark.parametrize("call", [
    lambda: Noul(""), lambda: Noul(5), lambda: Noul(None), lambda: Noul("x", criteria=5), lambda: Noul("x", criteria={"yes": "x"}),
    lambda: Noul("x", reads="abc"), lambda: Noul("x", reads=5), lambda: Noul("x", reads=(5,)), lambda: Noul("x", task="support"),
    lambda: Choice("x"), lambda: Choice("x", 5), lambda: Choice("x", {}), lambda: Choice("x", ["a", "a"]), lambda: Choice("x", "ab"),
    lambda: Choice("x", {"a", "b"}), lambda: Choice("x", {"a": 5}), lambda: Choice("x", {1: "x"}), lambda: Choice("x", [["a"]]),
    lambda: Choice("x", ["a"], abstain="b"), lambda: Choice("x", ["a"], abstain=["a"]), lambda: Choice("x", ["a"], options=["b"]),
    lambda: Choice("x", [str(i) for i in range(256)]), lambda: Choice("x", ["a"], reads="abc"), lambda: Choice("x", ["a"], task="x"),
    lambda: Score("x"), lambda: Score("x", 5), lambda: Score("x", ["a"]), lambda: Score("x", ["a", 5]), lambda: Score("x", {"a": 1, "b": 2}),
    lambda: Score("x", {"a", "b"}), lambda: Score("x", "ab"), lambda: Score("x", [str(i) for i in range(11)]),
    lambda: MockBackend(5), lambda: MockBackend({5: 1}), lambda: MockBackend(default_noul="x"), lambda: MockBackend(default_noul=7),
    lambda: MockBackend(default_noul=float("nan")), lambda: MockBackend(fn=5), lambda: MockBackend(keep=-1),
    lambda: load_eval(5), lambda: load_eval(None), lambda: load_eval(""), lambda: load_eval("/no/such.yaml"), lambda: load_eval("/"),
    lambda: load_evals(5), lambda: load_evals("/no/such/folder"), lambda: get_eval(5), lambda: get_eval("nope"), lambda: get_eval(""),
    lambda: get_eval("grounded", x=5), lambda: resolve_evals(5), lambda: resolve_evals(None), lambda: open_backend(5), lambda: open_backend(b"x"),
    lambda: DeclarativeEval(5), lambda: DeclarativeEval({}), lambda: DeclarativeEval(None), lambda: DeclarativeEval({"name": 5, "questions": 5}),
    lambda: split_sentences(5), lambda: split_sentences(["x"]), lambda: Sample(5), lambda: Sample.of(5), lambda: Sample.of_traces(5),
    lambda: detect_pii(5), lambda: detect_secrets(None), lambda: detect_pii("x", entities=5), lambda: detect_pii("x", entities=["NAME"]),
    lambda: redact(5, []), lambda: redact("x", 5), lambda: redact("x", [5]), lambda: redact("x", [], "no"),
    lambda: CustomRubric(), lambda: CustomRubric(instructions="x"), lambda: CustomRubric(instructions="x", levels=["a"]),
    lambda: CustomRubric(instructions=5, levels=["a", "b"]), lambda: CustomRubric(instructions="x", levels=["a", "b"], fields=5),
    lambda: CustomRubric(instructions="x", levels=["a", "b"], fields=["outptu"]), lambda: CustomRubric(instructions="x", levels={"a", "b"}),
    lambda: Grounded(threshold=None), lambda: Grounded(threshold="0.5"), lambda: Grounded(threshold=float("nan")), lambda: Grounded(threshold=True),
    lambda: Grounded(max_claims=1.5), lambda: Grounded(max_claims=0), lambda: Grounded(name="X Y"), lambda: Grounded(name=5),
    lambda: PII(surface=[]), lambda: PII(surface=None), lambda: PII(entities=5), lambda: PII(entities=[]), lambda: PII(detector="x"),
    lambda: PII(send_values="yes"), lambda: TopicAdherence(topics=5), lambda: TopicAdherence(topics=[5]), lambda: ToolChoice(options=5),
    lambda: ToolChoice(options={"a": "b"}), lambda: ToolChoice(options=[]), lambda: ToolChoice(good=5), lambda: ToolChoice(good="correct"),
    lambda: LoopDetection(window=1), lambda: LoopDetection(window=3, min_repeats=4), lambda: ToolCallRisk(approve_at=2),
    lambda: ToolCallRisk(recent=0), lambda: ToolCallRisk(threshold=0.5, approve_at=0.6),
])  # fmt: skip
def test_whatever_is_made_wrong_is_refused_in_one_line(call: Callable[[], Any]) -> None:
    refused(call)


def test_what_an_own_eval_declares_wrong_is_refused_when_it_is_declared() -> None:
    base = type(Grounded()).__mro__[2]
    refused(lambda: type("Own", (base,), {"requires": "messages"}))


# Where it runs


def test_a_long_iterable_is_read_as_it_goes_and_takes_no_more_memory() -> None:
    rows = 4_000
    ahead = 0
    peak: list[int] = []

    def samples() -> Iterator[dict[str, Any]]:
        nonlocal ahead
        for index in range(rows):
            ahead = index
            yield {"output": f"Answer number {index} is fine."}

    def taken(index: int, report: Any) -> None:
        assert ahead - index < 1_000  # no more than a few batches are read ahead
        if index in (rows // 2, rows - 1):
            peak.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        report = evaluate_dataset(samples(), ["coherence", "bias"], backend=MockBackend(keep=0), on_result=taken)
    finally:
        tracemalloc.stop()
    assert report.n == rows
    assert peak[1] - peak[0] < 100_000, peak


def test_an_endless_iterable_may_be_limited() -> None:
    def endless() -> Iterator[dict[str, Any]]:
        while True:
            yield {"output": "x"}

    assert evaluate_dataset(endless(), "coherence", backend="mock", limit=10).n == 10
    assert asyncio.run(aevaluate_dataset(endless(), "coherence", backend="mock", limit=10)).n == 10


def test_an_iterable_that_breaks_says_so_itself_and_leaves_no_whole_file(tmp_path: Path) -> None:
    def breaking() -> Iterator[dict[str, Any]]:
        yield {"output": "x"}
        raise OSError("the disk is gone")

    out = tmp_path / "results.jsonl"
    with pytest.raises(OSError, match="the disk is gone"):
        evaluate_dataset(breaking(), "coherence", backend="mock", out=out)
    assert not out.exists()


def test_threads_may_share_evals_backends_and_samples() -> None:
    evals = [made(name) for name in ALL]
    backend, sample = MockBackend(default_noul=0.7), Sample.of(TRACE)
    wanted = [result.to_dict() for result in evaluate(sample, evals, backend=backend)]
    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(lambda _: evaluate(sample, evals, backend=backend), range(40)))
    assert all([result.to_dict() for result in report] == wanted for report in reports)


def test_many_tasks_in_one_loop_share_them_too() -> None:
    evals = [made(name) for name in ALL]
    backend = MockBackend(default_noul=0.7)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(aevaluate(TRACE, evals, backend=backend) for _ in range(20)))

    reports = asyncio.run(all_at_once())
    assert len({str([result.to_dict() for result in report]) for report in reports}) == 1


def test_a_notebook_cell_needs_nothing_special() -> None:
    async def cell() -> Any:
        sync = evaluate(TRACE, "coherence", backend="mock")
        dataset = evaluate_dataset([TRACE] * 3, "coherence", backend="mock")
        return (
            sync.coherence.score,
            (await aevaluate(TRACE, "coherence", backend="mock")).coherence.score,
            dataset["coherence"].mean,
        )

    assert len(set(asyncio.run(cell()))) == 1


def test_nothing_warns_and_the_import_is_light() -> None:
    code = (
        "import sys, yb_eval_decision\n"
        "heavy = {'httpx', 'numpy', 'yaml', 'openai', 'anthropic', 'jinja2', 'sqlite3'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from yb_eval_decision import *\n"
        "report = evaluate({'messages': [{'role': 'user', 'content': 'hi'}, {'role': 'assistant', 'content': 'Hello.'}]}, 'all', backend='mock')\n"
        "assert len(report) == 36\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=dict(os.environ), timeout=60
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_every_public_name_is_there_and_documented() -> None:
    import yb_eval_decision

    for name in yb_eval_decision.__all__:
        assert getattr(yb_eval_decision, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = yb_eval_decision.no_such_name
