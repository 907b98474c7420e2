"""Backends that answer here: the mock, recordings, Python callables, Laya; and how all of them are opened."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

import pytest

from yb_eval import StoreError, UsageError
from yb_eval.digest import HEX_ID
from yb_eval.targets import Settings
from yb_eval_decision import evaluate
from yb_eval_decision.answers import ChoiceAnswer, NoAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.backends import opening
from yb_eval_decision.backends.base import Backend, Request, Response
from yb_eval_decision.backends.mock import MockBackend
from yb_eval_decision.backends.opening import open_backend, register
from yb_eval_decision.backends.replay import RecordingBackend, ReplayBackend
from yb_eval_decision.questions import Choice, Noul, Question, Score, Task

N = Noul("Is it?")
C = Choice("Which?", ["x", "y", "z"])
S = Score("How?", ["low", "mid", "high"])


def one(backend: Backend, questions: Any, state: Any = None, repeat: int = 0) -> Response:
    response = backend.decide([Request(state or {}, questions, repeat)])[0]
    assert list(response.answers) == list(questions)
    return response


# Mock


def test_a_mock_answers_by_id_then_pattern_then_tail() -> None:
    backend = MockBackend({"grounded.c0": 0.1, "grounded.*": 0.2, "c0": 0.3, "*.c?": 0.4})
    asked = dict.fromkeys(["grounded.c0", "grounded.c1", "c0", "other.c0", "other.c10", "c1"], N)
    found = {id: answer.probability for id, answer in one(backend, asked).answers.items()}  # type: ignore[union-attr]
    assert found == {"grounded.c0": 0.1, "grounded.c1": 0.2, "c0": 0.3, "other.c0": 0.4, "other.c10": 0.5, "c1": 0.5}
    tail = MockBackend({"c0": 0.3})
    assert one(tail, {"faithful.c0": N}).answers["faithful.c0"] == NoulAnswer(0.3)


@pytest.mark.parametrize(
    ("answers", "p"),
    [
        ({"quality.*": 2}, 0.5), ({"*": 2}, 0.5), ({"quality.*": 2, "enough": 0.9}, 0.9), ({"quality.enough": 0.8}, 0.8),
        ({"quality.*": 2, "*.enough": 0.1}, 0.1), ({"*enough": 0.1, "quality.*": 2}, 0.1),
    ],
)  # fmt: skip
def test_a_mocks_pattern_answers_an_eval_and_not_whether_there_is_enough_to_tell(
    answers: dict[str, Any], p: float
) -> None:
    assert one(MockBackend(answers), {"quality.q": S, "quality.enough": N}).answers["quality.enough"] == NoulAnswer(p)


def test_a_mocks_pattern_leaves_out_whether_a_part_can_be_judged() -> None:
    found = one(MockBackend({"toxicity.*": 0}), {"toxicity.part_0": S, "toxicity.part_0.enough": N}).answers
    assert found == {
        "toxicity.part_0": ScoreAnswer(0.0, (1.0, 0.0, 0.0), S.criteria),
        "toxicity.part_0.enough": NoulAnswer(0.5),
    }


def test_an_eval_whose_pattern_is_answered_is_measured() -> None:
    asked = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hello."}]
    mock = MockBackend({"goal_completion.*": 3, "stayed_in_scope.*": False})
    report = evaluate(asked, ["goal_completion", "stayed_in_scope"], backend=mock)
    assert (report.goal_completion.score, report.stayed_in_scope.passed) == (1.0, False)


@pytest.mark.parametrize(
    ("question", "value", "answer"),
    [
        (N, True, NoulAnswer(0.95)), (N, False, NoulAnswer(0.05)), (N, 0.3, NoulAnswer(0.3)), (N, 1, NoulAnswer(1.0)),
        (C, "y", ChoiceAnswer("y", {"x": pytest.approx(0.05), "y": 0.9, "z": pytest.approx(0.05)})),
        (C, {"x": 3, "z": 1}, ChoiceAnswer("x", {"x": 0.75, "y": 0.0, "z": 0.25})),
        (S, 2, ScoreAnswer(2.0, (0.0, 0.0, 1.0), S.criteria)),
        (S, [1, 1, 2], ScoreAnswer(1.25, (0.25, 0.25, 0.5), S.criteria)),
        (S, {0: 1, "2": 1}, ScoreAnswer(1.0, (0.5, 0.0, 0.5), S.criteria)),
        (Choice("?", ["only"]), "only", ChoiceAnswer("only", {"only": 1.0})),
        (N, NoAnswer("abstained", "no idea"), NoAnswer("abstained", "no idea")),
        (N, ValueError("broken"), NoAnswer("error", "mock: ValueError: broken")),
        (C, None, ChoiceAnswer("x", {name: pytest.approx(1 / 3) for name in "xyz"})),
        (N, None, NoulAnswer(0.5)),
    ],
)  # fmt: skip
def test_values_of_a_mock(question: Any, value: Any, answer: Any) -> None:
    assert one(MockBackend({"q": value}), {"q": question}).answers["q"] == answer


@pytest.mark.parametrize(
    ("question", "value"),
    [(N, 90), (N, "yes"), (C, "w"), (C, {"w": 1}), (C, {"x": 0}), (S, 3), (S, -1), (S, [1]), (S, 1.5), (S, {"x": 1}),
     (N, ScoreAnswer(0.0, (1.0, 0.0), ("a", "b"))), (C, {"x": -1, "y": 2}), (N, float("nan"))],
)  # fmt: skip
def test_a_value_that_does_not_fit_its_question_is_an_error(question: Any, value: Any) -> None:
    answer = one(MockBackend({"q": value}), {"q": question}).answers["q"]
    assert isinstance(answer, NoAnswer)
    assert answer.state == "error"


def test_a_mocks_function_is_asked_first_and_sees_the_state() -> None:
    def answer(id: str, question: Any, state: Any) -> Any:
        if state["n"] == 3:
            raise RuntimeError("no three")
        return state["n"] / 10 if id == "a" else None

    backend = MockBackend({"b": 0.7}, fn=answer)
    for n in (1, 2, 1):
        response = one(backend, {"a": N, "b": N}, {"n": n})
        assert response.answers == {"a": NoulAnswer(n / 10), "b": NoulAnswer(0.7)}
    assert one(backend, {"a": N}, {"n": 3}).answers["a"] == NoAnswer("error", "mock: RuntimeError: no three")


def test_a_mock_keeps_its_latest_calls_and_counts_tokens() -> None:
    backend = MockBackend(keep=2)
    for n in range(3):
        usage = one(backend, {"q": N}, {"n": n, "text": "x" * 100}).usage
    assert [call["state"]["n"] for call in backend.calls] == [1, 2]
    assert backend.calls[-1]["questions"] == {"q": N}
    assert (usage.requests, usage.questions, usage.cost_usd) == (1, 1, 0.0)
    assert 25 <= usage.input_tokens <= 35


def test_a_mock_answers_each_question_by_what_it_is_and_not_by_what_was_there_before() -> None:
    backend = MockBackend({"q": 0})
    for _ in range(50):  # questions that come and go may have the same place in memory
        assert one(backend, {"q": Noul("?")}).answers["q"] == NoulAnswer(0.0)
        assert one(backend, {"q": Score("?", ["a", "b"])}).answers["q"] == ScoreAnswer(0.0, (1.0, 0.0), ("a", "b"))


def test_a_mocks_identity_is_what_it_answers() -> None:
    made = [MockBackend(), MockBackend({"q": 1}), MockBackend({"q": True}), MockBackend({"q": 0.2}), MockBackend(default_noul=0.1),
            MockBackend(model="m2"), MockBackend({"q": NoAnswer("error", "x")})]  # fmt: skip
    assert len({backend.fingerprint for backend in made}) == len(made)
    assert MockBackend({"q": 1}).fingerprint == MockBackend({"q": 1}).fingerprint
    copy = pickle.loads(pickle.dumps(made[3]))
    assert one(copy, {"q": N}).answers["q"] == NoulAnswer(0.2)


@pytest.mark.parametrize("wrong", [1.5, -0.1, True, float("nan")])
def test_a_default_that_is_no_probability_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError):
        MockBackend(default_noul=wrong)


# Recordings

TEXT = "the private words of a sample"
MIXED: dict[str, Question] = {
    "a.q": N,
    "b": Choice("Which?", {"y": "why", "x": None}, abstain="x"),
    "c": S,
    "d": Noul("?", task=Task("support", {"claim": "claims.c0"})),
    "e": Noul("Another?"),
}
ANSWERS = {"a.q": 0.7, "b": "y", "c": 1, "d": NoAnswer("abstained", "cannot tell"), "e": NoAnswer("refused", "no")}


def record(path: Path, backend: Backend | None = None, state: Any = None, repeats: int = 1) -> list[Response]:
    with RecordingBackend(backend or MockBackend(ANSWERS), path) as recording:
        return [one(recording, MIXED, state or {"text": TEXT}, repeat) for repeat in range(repeats)]


def test_what_was_recorded_is_replayed_however_it_is_packed(tmp_path: Path) -> None:
    recorded = record(tmp_path / "answers.jsonl")[0]
    replay = open_backend("replay:answers.jsonl", settings=Settings(base=tmp_path))
    assert one(replay, MIXED, {"text": TEXT}).answers == recorded.answers
    for id, question in MIXED.items():
        response = one(replay, {"another name": question}, {"text": TEXT})
        assert response.answers["another name"] == recorded.answers[id]
        assert response.model == "mock"
        assert (response.usage.requests, response.usage.cached, response.usage.cost_usd) == (0, 1, 0.0)


def test_a_recording_holds_no_text_of_a_sample(tmp_path: Path) -> None:
    record(tmp_path / "r")
    assert TEXT not in (tmp_path / "r").read_text()
    assert "Which?" in (tmp_path / "r").read_text()


def test_a_recording_is_the_same_file_in_any_order(tmp_path: Path) -> None:
    states = [{"n": n} for n in range(5)]
    for name, order in (("one", states), ("two", states[::-1] + states)):
        with RecordingBackend(MockBackend(ANSWERS), tmp_path / name) as recording:
            recording.decide([Request(state, MIXED) for state in order])
            asyncio.run(recording.adecide([Request(states[0], MIXED)]))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert ReplayBackend(tmp_path / "one").fingerprint == ReplayBackend(tmp_path / "two").fingerprint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_what_is_not_recorded_is_an_error_of_its_question(tmp_path: Path) -> None:
    record(tmp_path / "r")
    replay = ReplayBackend(tmp_path / "r")
    other = {"a": N, "b": Noul("Something else?"), "c": Noul("?", task=Task("support", {"claim": "claims.c1"}))}
    response = one(replay, other, {"text": TEXT})
    assert isinstance(response.answers["a"], NoulAnswer)
    assert response.answers["b"] == response.answers["c"] == NoAnswer("error", "not recorded in r")
    assert isinstance(one(replay, {"a": N}, {"text": TEXT + "!"}).answers["a"], NoAnswer)
    assert isinstance(one(replay, {"a": N}, {"text": TEXT}, repeat=1).answers["a"], NoAnswer)
    # The same options in another order are another question.
    turned = Choice("Which?", {"x": None, "y": "why"}, abstain="x")
    assert isinstance(one(replay, {"b": turned}, {"text": TEXT}).answers["b"], NoAnswer)


def test_repeats_are_recorded_apart(tmp_path: Path) -> None:
    values = iter([0.1, 0.2])
    record(tmp_path / "r", MockBackend(fn=lambda id, q, s: next(values) if id == "a.q" else None), repeats=2)
    replay = ReplayBackend(tmp_path / "r")
    assert [one(replay, {"q": N}, {"text": TEXT}, repeat).answers["q"] for repeat in (0, 1)] == [
        NoulAnswer(0.1),
        NoulAnswer(0.2),
    ]


def test_a_failure_of_the_backend_itself_is_not_recorded(tmp_path: Path) -> None:
    class Flaky(Backend):
        spec, fingerprint = "flaky", "0" * 64

        def decide(self, requests: Any) -> list[Response]:
            return [Response.without(request, "error", "down", retry_later=True) for request in requests]

    record(tmp_path / "r", Flaky())
    with pytest.raises(UsageError, match="nothing is recorded"):
        ReplayBackend(tmp_path / "r")


def test_who_decided_is_recorded(tmp_path: Path) -> None:
    with RecordingBackend(open_backend("mock -> mock"), tmp_path / "r") as recording:
        one(recording, {"q": N})
    assert one(ReplayBackend(tmp_path / "r"), {"q": N}).decided_by == {"q": "mock"}


def test_a_recording_that_cannot_be_written_is_known_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        RecordingBackend(MockBackend(), tmp_path / "nowhere" / "r")


def test_a_cassette_of_core_is_replayed_too(tmp_path: Path) -> None:
    from yb_eval.targets.callables import CallableTarget
    from yb_eval.targets.record import RecordingTarget

    def answer(request: Any) -> Any:
        answers = {"a.q": {"type": "noul", "noul": 0.7}, "b": {"type": "none", "state": "abstained", "reason": "?"}}
        return {"answers": answers, "model": "m1"}

    wire = {"a.q": {"type": "noul", "instructions": "Is it?"}, "b": {"type": "noul", "instructions": "Another?"}}
    target = CallableTarget(answer, fingerprint="0" * 64)
    recording = RecordingTarget(target, tmp_path / "c.jsonl", resume=False, private=frozenset({"state"}))
    recording.ask([{"state": {"text": TEXT}, "questions": wire}])
    recording.close()
    response = one(ReplayBackend(tmp_path / "c.jsonl"), {"q": N, "r": Noul("Another?")}, {"text": TEXT})
    assert response.answers == {"q": NoulAnswer(0.7), "r": NoAnswer("abstained", "?")}
    assert response.model == "m1"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer": {"type": "noul", "probability": 7}}, "not within 0..1"),
        ({"answer": None}, "an answer is an object"),
        ({"question": {"type": "nul", "instructions": "?"}}, "did you mean 'noul'"),
        ({"state": 5}, "are texts"),
        ({"repeat": -1}, "repeat"),
        ({"anser": {}}, "did you mean 'answer'"),
    ],
)
def test_a_line_that_is_no_entry_is_refused_with_its_place(tmp_path: Path, change: Any, said: str) -> None:
    good = {
        "answer": {"type": "noul", "probability": 0.5}, "id": "q", "model": None, "decided_by": None, "repeat": 0,
        "question": {"type": "noul", "instructions": "Is it?"}, "state": "0" * 64,
    }  # fmt: skip
    (tmp_path / "r").write_text(json.dumps(good) + "\n\n" + json.dumps({**good, **change}) + "\n")
    with pytest.raises(UsageError, match=said) as caught:
        ReplayBackend(tmp_path / "r")
    assert "r:3" in str(caught.value)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"a": 1, "a": 2}', '{"request": 5}', '{"request": {}, "answer": 1}', "NaN"]
)
def test_a_line_that_is_nothing_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "r").write_text(line)
    with pytest.raises(UsageError, match="r:1"):
        ReplayBackend(tmp_path / "r")


def test_lines_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    record(tmp_path / "r")
    line = next(line for line in (tmp_path / "r").read_text().splitlines() if '"probability":0.7' in line)
    (tmp_path / "r").write_text(line + "\n" + line.replace("0.7", "0.2") + "\n")
    with pytest.raises(UsageError, match="answers the question of line 1 otherwise"):
        ReplayBackend(tmp_path / "r")
    with pytest.raises(UsageError, match="cannot be read"):
        ReplayBackend(tmp_path / "nothing")
    with pytest.raises(UsageError, match="names no file"):
        open_backend("replay:")


# Python

MODULE = """
import asyncio, threading

def plain(request):
    assert set(request) == {"state", "questions"}
    return {"answers": {id: {"type": "noul", "noul": request["state"]["p"]} for id in request["questions"]}, "model": "mine-1"}

def short(request):
    return {id: request["state"]["p"] for id in request["questions"]}

async def slowly(request):
    await asyncio.sleep(0)
    return short(request)

def together(requests):
    return [short(request) for request in requests]
together.batch = True

def broken(request):
    raise ValueError("it broke")

def wrong(request):
    return {"q": 7}

def said(request):
    return "yes"

class Model:
    def __call__(self, request):
        return short(request)

model = Model()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    (tmp_path / "decision_backend_of_a_test.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "decision_backend_of_a_test", raising=False)
    return Settings(base=tmp_path)


def opened(module: Settings, name: str) -> Backend:
    return open_backend(f"python:decision_backend_of_a_test:{name}", settings=module)


@pytest.mark.parametrize("name", ["plain", "short", "slowly", "together", "model"])
def test_a_callable_is_a_backend(module: Settings, name: str) -> None:
    with opened(module, name) as backend:
        assert HEX_ID.match(backend.fingerprint)
        responses = backend.decide([Request({"p": p}, {"q": N}) for p in (0.1, 0.9)])
        assert [response.answers["q"] for response in responses] == [NoulAnswer(0.1), NoulAnswer(0.9)]
        assert responses[0].model == ("mine-1" if name == "plain" else None)
        assert backend.decide([]) == []


@pytest.mark.parametrize("name", ["short", "slowly", "together"])
def test_a_callable_answers_inside_a_running_loop(module: Settings, name: str) -> None:
    async def run() -> list[Any]:
        with opened(module, name) as backend:
            asked = [Request({"p": 0.25}, {"q": N})]
            return [(await backend.adecide(asked))[0].answers["q"], backend.decide(asked)[0].answers["q"]]

    assert asyncio.run(run()) == [NoulAnswer(0.25)] * 2


@pytest.mark.parametrize(
    ("name", "said"),
    [("broken", "ValueError: it broke"), ("wrong", "not within 0..1"), ("said", "answers by id are expected")],
)
def test_what_a_callable_does_wrong_is_an_error_of_its_request(module: Settings, name: str, said: str) -> None:
    with opened(module, name) as backend:
        answer = one(backend, {"q": N}, {"p": 0.5}).answers["q"]
    assert isinstance(answer, NoAnswer)
    assert answer.state == "error"
    assert said in answer.reason


def test_a_callable_that_is_not_there_is_refused(module: Settings) -> None:
    with pytest.raises(UsageError, match=r"has no 'plan'.*plain"):
        opened(module, "plan")
    with pytest.raises(UsageError, match="there is no module"):
        open_backend("python:there_is_no_such_module:x", settings=module)


def test_another_source_is_another_backend(module: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(module, "plain") as backend:
        first = backend.fingerprint
    path = module.base / "decision_backend_of_a_test.py"
    path.write_text(path.read_text() + "\nX = 1\n")
    monkeypatch.delitem(sys.modules, "decision_backend_of_a_test")
    with opened(module, "plain") as backend:
        assert backend.fingerprint != first
        assert one(pickle.loads(pickle.dumps(backend)), {"q": N}, {"p": 0.5}).answers["q"] == NoulAnswer(0.5)


# Laya


@pytest.fixture
def laya(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A package of Laya's shape: `load(model)` gives what has `predict(state, questions)`."""
    made = types.ModuleType("laya_mlx")

    class Agent:
        def __init__(self, name: str) -> None:
            if name == "missing":
                raise OSError("no such model")

        def predict(self, state: Any, questions: Any) -> Any:
            if state.get("fail"):
                raise RuntimeError("out of memory")
            assert all(isinstance(question["instructions"], str) for question in questions.values())
            answers = {id: {"type": "noul", "noul": 0.8123} for id in questions}
            return {"answers": answers, "action": {"act_probability": 0.5}}

    made.load = Agent  # type: ignore[attr-defined]
    made.__version__ = "0.1.2"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "laya_mlx", made)
    return made


def test_laya_answers_in_this_process(laya: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_backend("laya:some/model") as backend:
        response = one(backend, {"a": N, "b": Noul({"ask": "Is it?"})}, {"x": 1})
        assert response.answers == {"a": NoulAnswer(0.8123), "b": NoulAnswer(0.8123)}
        assert response.model == "some/model"
        assert response.usage.cost_usd == 0.0
        assert "out of memory" in one(backend, {"a": N}, {"fail": True}).answers["a"].reason  # type: ignore[union-attr]
        assert backend.limits.request_tokens == 480
        first = backend.fingerprint
    monkeypatch.setenv("YB_EVAL_DECISION_LAYA_MODEL", "some/model")
    assert open_backend("laya").fingerprint == first
    monkeypatch.setattr(laya, "__version__", "0.1.3")
    assert open_backend("laya").fingerprint != first
    with pytest.raises(UsageError, match="no such model"):
        open_backend("laya:missing")


def test_laya_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "laya_mlx", None)
    with pytest.raises(UsageError, match=r"yb-eval-decision\[laya\]"):
        open_backend("laya")


# Opening


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("moc", "did you mean 'mock'"), ("typsafe:x", "did you mean 'typesafe'"), ("", "text that can be printed"),
        ("mock:x", "takes no argument"), ("ftp://x", "unknown backend"), ("kev://", "no http address"),
        ("http://", "no http address"), ("openai:", "names no model"), ("llm:", "names no model"), ("a\nb", "printed"),
    ],
)  # fmt: skip
def test_a_spec_that_means_nothing_is_refused_with_what_would(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        open_backend(spec)


def test_a_backend_is_given_back_as_it_is() -> None:
    backend = MockBackend()
    assert open_backend(backend) is backend


def test_a_key_in_the_environment_opens_no_network_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    for scheme in opening.SCHEMES:
        monkeypatch.setitem(opening.SCHEMES, scheme, lambda spec, settings: opened.append(spec) or MockBackend())  # type: ignore[index, func-returns-value]
    for name in ("TYPESAFE_API_KEY", "AI_GATEWAY_API_KEY", "OPENROUTER_API_KEY", "OPENAI_API_KEY", "KEV_BASE_URL"):
        monkeypatch.setenv(name, "test-" + "value-000")
    monkeypatch.delenv("YB_EVAL_DECISION_BACKEND", raising=False)
    open_backend()
    monkeypatch.setenv("YB_EVAL_DECISION_BACKEND", "typesafe:jev-1.13.0")
    open_backend()
    open_backend("mock")
    assert opened == ["local", "typesafe:jev-1.13.0", "mock"]
    monkeypatch.setenv("YB_EVAL_DECISION_BACKEND", "typsafe")
    with pytest.raises(UsageError, match="YB_EVAL_DECISION_BACKEND: unknown backend 'typsafe'"):
        open_backend()


def test_a_third_party_registers_a_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_registered", {})
    seen = []

    def factory(spec: str, settings: Settings | None) -> Backend:
        seen.append(spec)
        return MockBackend({"*": 0.9}, spec=spec)

    register("acme", factory)
    with open_backend("mock -> acme://host") as backend:
        assert one(backend, {"q": N}).decided_by == {"q": "acme://host"}
    assert seen == ["acme://host"]
    assert "acme" in opening.schemes()
    for name in ("mock", "Acme", "a:b", ""):
        with pytest.raises(UsageError):
            register(name, factory)


def test_importing_the_openers_imports_nothing_heavy() -> None:
    import subprocess

    script = textwrap.dedent("""
        import sys
        import yb_eval_decision.backends.opening, yb_eval_decision.backends.mock, yb_eval_decision.backends.cascade
        print([name for name in ("httpx", "openai", "anthropic", "numpy", "yaml", "laya_mlx") if name in sys.modules])
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
