"""The known weaknesses of evaluation with decision models, by their numbers: results that are wrong (15 to 21).

Each weakness is tested with its kind: the other evals, formats, languages, one sample and many, sync and async.
"""

from __future__ import annotations

import asyncio
import json
import math
import runpy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from yb_eval import UsageError
from yb_eval_decision import (
    Choice,
    ChoiceEval,
    DeclarativeEval,
    Eval,
    MockBackend,
    Noul,
    Response,
    Result,
    Sample,
    Score,
    aevaluate,
    builtin_evals,
    evaluate,
    evaluate_dataset,
    load_eval,
    resolve_evals,
)
from yb_eval_decision.agent import Grounded, ToolCallF1, ToolChoice, TrajectoryMatch
from yb_eval_decision.backends.base import Backend, Request
from yb_eval_decision.quality import (
    Coherence,
    ContextPrecision,
    ContextRecall,
    Faithfulness,
    Hallucination,
    Refusal,
)

kit = runpy.run_path(str(Path(__file__).with_name("decision_traces.py")), run_name="decision_traces")
TRACE, ASKING, BY_CODE, SECURITY, DETECTING, Drawn, made, item_of = (
    kit[name] for name in ("TRACE", "ASKING", "BY_CODE", "SECURITY", "DETECTING", "Drawn", "made", "item_of")
)
fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
ALL = sorted(builtin_evals())


def one(eval_: Any, sample: Any, answers: Any = None) -> Result:
    backend = MockBackend(fn=answers) if callable(answers) else MockBackend(answers)
    return evaluate(sample, [eval_], backend=backend).results[0]


class Raw(Backend):
    """A backend that answers in wire form whatever it is told, through the checks that every backend's answers pass."""

    spec, fingerprint = "raw", "a" * 64

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def decide(self, requests: Any) -> list[Response]:
        return [
            Response(answers={id: told for id, asked in request.questions.items() if (told := self.answer(id, asked)) is not None})
            for request in requests
        ]  # fmt: skip


# 15. Two evals of one name


def two_coherences() -> tuple[list[Any], MockBackend]:
    evals = [Coherence(levels=["no", "yes"]), Coherence(levels=["a", "b", "c", "d"])]
    return evals, MockBackend(fn=lambda id, q, s: 1)


def test_w15_two_evals_of_one_name_keep_their_own_questions_answers_and_results() -> None:
    evals, backend = two_coherences()
    report = evaluate({"output": "x"}, evals, backend=backend)
    assert [(result.name, result.score) for result in report] == [
        ("coherence", 1.0),
        ("coherence_2", pytest.approx(1 / 3)),
    ]
    assert report.coherence_2.score == report["coherence_2"].score
    (call,) = backend.calls
    assert [len(question.criteria) for question in call["questions"].values()] == [2, 4]


def test_w15_in_a_dataset_async_and_files_too(tmp_path: Path) -> None:
    evals, backend = two_coherences()
    out = tmp_path / "results.jsonl"
    dataset = evaluate_dataset([{"output": "x"}] * 3, evals, backend=backend, out=out)
    assert (dataset["coherence"].mean, dataset["coherence_2"].mean) == (1.0, pytest.approx(1 / 3))
    assert set(json.loads(out.read_bytes().splitlines()[0])["results"]) == {"coherence", "coherence_2"}
    assert [r.score for r in asyncio.run(aevaluate({"output": "x"}, evals, backend=backend))] == [
        1.0,
        pytest.approx(1 / 3),
    ]


@pytest.mark.parametrize("name", ALL)
def test_w15_every_eval_twice_is_two_evals(name: str) -> None:
    backend = MockBackend(fn=Drawn(3))
    report = evaluate(TRACE, [made(name), made(name)], backend=backend)
    assert [result.name for result in report] == [name, f"{name}_2"]
    if name not in BY_CODE:
        ids = [id for call in backend.calls for id in call["questions"]]
        assert len(ids) == len(set(ids))
        assert sum(id.startswith(f"{name}_2.") for id in ids) * 2 == len(ids)


def test_w15_names_that_look_like_made_ones_and_ids_with_dots_do_not_meet() -> None:
    class Own(Eval):
        def state(self, s: Sample) -> dict[str, Any]:
            return {"x": s.output}

        def questions(self, s: Sample) -> dict[str, Any]:
            return {"2.q": Noul("Is it so?"), "q": Noul("Is it?")}

        def reduce(self, answers: Any, s: Sample) -> Result:
            return Result(score=answers["q"].probability, evidence={id: a.probability for id, a in answers.items()})

    numbers = iter(range(100))
    backend = MockBackend(fn=lambda id, question, state: next(numbers) / 100)
    evals = [Own(name="own"), Own(name="own_2"), Own(name="own")]
    report = evaluate({"output": "x"}, evals, backend=backend)
    assert [result.name for result in report] == ["own", "own_2", "own_3"]
    assert [dict(result.evidence) for result in report] == [
        {"2.q": 0.0, "q": 0.01}, {"2.q": 0.02, "q": 0.03}, {"2.q": 0.04, "q": 0.05}
    ]  # fmt: skip


def test_w15_the_suite_refuses_two_judgements_of_one_name() -> None:
    from yb_eval_decision.suite import asked_evals

    with pytest.raises(UsageError, match="two evals are named 'coherence'"):
        asked_evals(("coherence", "coherence:threshold=0.7"))
    assert set(asked_evals(("coherence", "coherence:threshold=0.7,name=strict"))) == {"coherence", "strict"}


# 16. Own options that can never be the good one

OPTIONS = {"right": "It was.", "wrong": "It was not."}


@pytest.mark.parametrize("kind", [ToolChoice, Refusal])
def test_w16_own_options_pass_with_their_own_good_and_are_refused_without(kind: Any) -> None:
    with pytest.raises(UsageError, match="good"):
        kind(options=OPTIONS)
    with pytest.raises(UsageError, match="rigth"):
        kind(options=OPTIONS, good=("rigth",))
    for chosen, passed in (("right", True), ("wrong", False)):
        result = one(kind(options=OPTIONS, good=("right",)), TRACE, lambda id, q, s, c=chosen: c)
        assert (result.answer, result.passed) == (chosen, passed)


def test_w16_an_own_choice_eval_and_one_by_name_too() -> None:
    class Own(ChoiceEval):
        instructions = "Which?"
        options = OPTIONS
        good = ("right",)

        def state(self, s: Sample) -> dict[str, Any]:
            return {"x": s.output}

    assert one(Own(), TRACE, {"q": "right"}).passed is True
    assert one(Own(), TRACE, {"q": "wrong"}).passed is False
    with pytest.raises(UsageError, match="good"):
        Own(options=["a", "b"])
    (eval_,) = resolve_evals('tool_choice:options={"right": null, "wrong": null},good=["right"]')
    assert one(eval_, TRACE, {"q": "right"}).passed is True


def test_w16_good_that_is_kept_of_the_own_options_counts() -> None:
    eval_ = Refusal(options={"answered": None, "refused": None})
    assert eval_.good == ("answered",)
    assert one(eval_, TRACE, {"kind": "refused"}).passed is False


# 17. Missing or impossible answers


def garbage(kind: str) -> Any:
    def answer(id: str, question: Any) -> Any:
        if kind == "missing":
            return None
        if kind == "text":
            return "yes"
        if kind == "empty":
            return {"type": question.type}
        if kind == "other type":
            return {"type": "choice" if question.type == "noul" else "noul", "noul": 0.9, "choice": "a"}
        if question.type == "noul":
            return {"noul": {"ninety": 90, "negative": -0.1, "nan": math.nan, "bool": True, "words": "0.9"}[kind]}
        names = (
            list(question.criteria) if question.type == "choice" else [str(i) for i in range(len(question.criteria))]
        )
        flat = {name: 1 / len(names) for name in names}
        if kind == "ninety":
            told = {"probabilities": {**flat, names[0]: 90}}
        elif kind == "negative":
            told = {"probabilities": {**flat, names[0]: -0.2}}
        elif kind == "nan":
            told = {"probabilities": {**flat, names[0]: math.nan}}
        elif kind == "bool":
            told = {"probabilities": {**dict.fromkeys(names, 0.0), names[0]: True}}
        else:
            told = {"probabilities": {**flat, "no such option": 0.0, "99": 0.0}}
        return told

    return answer


@pytest.mark.parametrize(
    "kind", ["missing", "text", "empty", "other type", "ninety", "negative", "nan", "bool", "words"]
)
@pytest.mark.parametrize("name", ASKING)
def test_w17_no_eval_makes_anything_of_an_answer_that_cannot_be(name: str, kind: str) -> None:
    report = evaluate(TRACE, [made(name)], backend=Raw(garbage(kind)))
    (result,) = report.results
    assert (result.status, result.score, result.passed) == ("error", None, None), result
    assert report.passed is None
    assert len(result.reason.splitlines()) == 1


@pytest.mark.parametrize("wrong", [
    {"type": "choice", "choice": "c", "probabilities": {"a": 0.5, "b": 0.5}},
    {"type": "choice", "choice": "b", "probabilities": {"a": 0.9, "b": 0.1}},
    {"type": "choice", "choice": "a"},
    {"type": "choice", "probabilities": {"a": 0.2, "b": 0.2}},
    {"type": "choice", "probabilities": {"a": 1.2, "b": -0.2}},
])  # fmt: skip
def test_w17_a_choice_outside_the_options_is_an_error_and_never_the_first_or_uniform(wrong: Any) -> None:
    asks = fakes["Asks"](shown={"x": 1}, asked={"q": Choice("Which?", ["a", "b"])})
    (result,) = evaluate(TRACE, [asks], backend=Raw(lambda id, question: wrong)).results
    assert result.status == "error"


def test_w17_a_score_of_nine_on_two_levels_is_an_error() -> None:
    for score, p in (
        (9, {"0": 0.5, "1": 0.5}),
        (1, {"0": 0.9, "1": 0.1}),
        (None, {"0": 0.5}),
        (0.5, {"0": 0.5, "1": 0.5, "2": 0}),
    ):
        asks = fakes["Asks"](shown={"x": 1}, asked={"q": Score("How much?", ["little", "much"])})
        wire = {"type": "score", "probabilities": p, **({} if score is None else {"score": score})}
        (result,) = evaluate(TRACE, [asks], backend=Raw(lambda id, question, wire=wire: wire)).results
        assert result.status == "error", wire


# 18. A missing answer that moves the others

ANSWER = " ".join(
    f"The lamp number {word} of the hall is lit." for word in ["one", "two", "three", "four", "five", "six"]
)
RUSSIAN = " ".join(f"Лампа номер {word} в зале горит." for word in ["один", "два", "три", "четыре", "пять", "шесть"])


@pytest.mark.parametrize("text", [ANSWER, RUSSIAN])
@pytest.mark.parametrize("gap", [0, 2, 5])
@pytest.mark.parametrize("eval_", [Grounded(), Faithfulness(), Hallucination(), ContextRecall()])
def test_w18_a_missing_answer_moves_no_other_claim(eval_: Any, gap: int, text: str) -> None:
    sample = {"output": text, "expected": text, "contexts": ["All lamps are lit."], "input": "which?"}

    def answer(id: str, question: Any) -> Any:
        index = item_of(id)
        return None if index == gap else {"noul": 0.01 if index == 4 else 0.99}

    (result,) = evaluate(sample, [eval_], backend=Raw(answer)).results
    expected = [None if index == gap else 0.01 if index == 4 else 0.99 for index in range(6)]
    assert result.evidence["per_claim"] == expected
    assert result.evidence["unsupported"] == [4]
    assert result.evidence["unmeasured"] == [gap]
    assert result.score is None  # the gap is neither supported nor not


@pytest.mark.parametrize("gap", [0, 3])
def test_w18_a_chunk_without_an_answer_changes_no_rank(gap: int) -> None:
    sample = {"input": "which?", "contexts": [f"chunk {index}" for index in range(5)]}

    def answer(id: str, question: Any) -> Any:
        return None if item_of(id) == gap else {"noul": 0.9 if item_of(id) == 4 else 0.1}

    (result,) = evaluate(sample, [ContextPrecision()], backend=Raw(answer)).results
    assert result.status == "error"
    assert result.evidence["per_chunk"][gap] is None
    assert result.evidence["per_chunk"][4] == 0.9


@pytest.mark.parametrize("bad", [0, 21, 26, 59])
@pytest.mark.parametrize(
    "eval_",
    [Grounded(threshold=1.0), Faithfulness(threshold=1.0), Hallucination(threshold=1.0), ContextRecall(threshold=1.0)],
)
def test_w18_no_claim_is_dropped_however_many_there_are(eval_: Any, bad: int) -> None:
    text = " ".join(f"The lamp number {index} of the hall is lit." for index in range(60))
    sample = {"output": text, "expected": text, "contexts": ["All lamps are lit."], "input": "which?"}
    result = one(eval_, sample, lambda id, q, s: 0.01 if item_of(id) == bad else 0.99)
    assert result.passed is False
    assert result.evidence["unsupported"] == [bad]
    assert result.score == pytest.approx(59 / 60)


def test_w18_a_limit_is_said_and_passes_nothing_that_it_hides() -> None:
    text = " ".join(f"The lamp number {index} of the hall is lit." for index in range(60))
    result = one(Faithfulness(max_claims=20), {"output": text, "contexts": ["x"]}, lambda id, q, s: 0.99)
    assert (result.status, result.score) == ("abstained", None)
    assert "max_claims=20" in result.reason
    assert len(result.evidence["claims"]) == 60


# 19. All errors, and the report passes


def failing(_: Request) -> str:
    return "the backend is down"


@pytest.mark.parametrize("evals", [["coherence"], ["coherence", "grounded", "pii"], list(ASKING[:10])])
def test_w19_a_report_of_errors_passes_nothing(evals: list[str]) -> None:
    down = fakes["FakeBackend"](fail=failing)
    known = [made(name) for name in evals]
    report, dataset = evaluate(TRACE, known, backend=down), evaluate_dataset([TRACE] * 3, known, backend=down)
    assert report.passed is None
    assert dataset.passed is None
    assert all(tally.pass_rate is None and tally.mean is None and tally.n == 3 for tally in dataset)
    assert all(tally.pass_bounds == (0.0, 1.0) for tally in dataset)


def test_w19_one_error_among_passes_is_no_pass_and_among_failures_a_failure() -> None:
    for level, passed in ((3, None), (0, False)):
        backend = MockBackend({"coherence.q": level, "quality.q": ValueError("down")})
        assert evaluate(TRACE, ["coherence", "quality"], backend=backend).passed is passed


@pytest.mark.parametrize("none", [[], (), iter(())])
def test_w19_without_evals_there_is_no_report(none: Any) -> None:
    with pytest.raises(UsageError, match="no evals"):
        evaluate(TRACE, none, backend="mock")
    with pytest.raises(UsageError, match="no evals"):
        evaluate_dataset([TRACE], none, backend="mock")


def test_w19_without_rows_nothing_has_passed() -> None:
    assert evaluate_dataset([], "coherence", backend="mock").passed is None


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_w19_check_exits_with_3_where_the_backend_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    from yb_eval_decision.backends import opening
    from yb_eval_decision.commands.checking import check

    down = {"mock": lambda spec, settings: fakes["FakeBackend"](fail=failing)}
    monkeypatch.setattr(opening, "SCHEMES", {**opening.SCHEMES, **down})
    path = tmp_path / f"sample.{form}"
    path.write_text((json.dumps(TRACE) + "\n") * (1 if form == "json" else 2), encoding="utf-8")
    run = CliRunner().invoke(check, [str(path), "-e", "coherence", "--backend", "mock"])
    assert run.exit_code == 3, run.output
    assert "the backend is down" in run.output
    # One that needs no backend passes; that is not all that was asked.
    run = CliRunner().invoke(check, [str(path), "-e", "coherence", "-e", "tool_call_f1", "--json", "--backend", "mock"])
    assert run.exit_code == 3
    report = json.loads(run.output.splitlines()[0])
    assert (report["passed"], report["results"]["tool_call_f1"]["passed"]) == (None, True)
    # And one that fails fails.
    run = CliRunner().invoke(check, [str(path), "-e", "coherence", "-e", "trajectory_match", "--backend", "mock"])
    assert run.exit_code == 1


def test_w19_a_gate_of_the_suite_is_unmeasured_where_an_eval_was_not_measured() -> None:
    from yb_eval import Measurement
    from yb_eval.model import Measurements
    from yb_eval_decision.gates import EverythingMeasured

    gate = EverythingMeasured(("coherence",))
    counts = {"coherence.measured": 0, "coherence.errors": 3, "coherence.skipped": 0}
    verdict = gate.check(Measurements([Measurement(name, value, n=3) for name, value in counts.items()]), None)
    assert verdict.verdict == "unmeasured"
    assert "errors" in verdict.reason


# 20. What a YAML eval makes of its answers and paths

NOUL = {"type": "noul", "instructions": "Is it so?"}


@pytest.mark.parametrize("levels", [2, 4, 5, 10])
def test_w20_a_score_question_counts_once_and_on_0_to_1(levels: int) -> None:
    spec = {
        "name": "graded",
        "questions": {"grade": {"type": "score", "instructions": "How?", "levels": [str(i) for i in range(levels)]}},
    }
    for level in range(levels):
        assert one(DeclarativeEval(spec), {"output": "x"}, {"grade": level}).score == pytest.approx(
            level / (levels - 1)
        )
    both = {"name": "both", "questions": {**spec["questions"], "so": NOUL}}  # type: ignore[dict-item]
    assert one(DeclarativeEval(both), {"output": "x"}, {"grade": 1, "so": 0.5}).score == pytest.approx(
        (1 / (levels - 1) + 0.5) / 2
    )


@pytest.mark.parametrize(("template", "value"), [
    ("costs $5 or $10", "costs $5 or $10"), ("$5", "$5"), ("$ 5", "$ 5"), ("$.messages[-1:]", "one message"),
    ("$.messages[::2]", "every other"), ("$.tools[0]['name']", "find_order"), ('$.tools[0]["name"]', "find_order"),
    ("{{ input }} for $5", "Where is my order 1042, and when does it arrive? for $5"),
])  # fmt: skip
def test_w20_a_path_is_read_or_refused_and_a_literal_stays_one(template: str, value: str) -> None:
    try:
        eval_ = DeclarativeEval(
            {"name": "own", "state": {"shown": template, "answer": "$.output"}, "questions": {"so": NOUL}}
        )
    except UsageError as refused:
        # Refused in one line that quotes it: nothing is turned into null, a method or other text.
        assert template.strip("$ ")[:6].strip(".") in str(refused) or "path" in str(refused)
        return
    backend = MockBackend()
    evaluate(TRACE, eval_, backend=backend)
    shown = backend.calls[0]["state"]["shown"]
    if value == "every other":
        assert len(shown) == math.ceil(len(TRACE["messages"]) / 2)
    elif value == "one message":
        assert len(shown) == 1
    else:
        assert shown == value


@pytest.mark.parametrize("name", ["items", "keys", "get", "values", "copy", "__class__", "has", "of"])
def test_w20_a_path_names_data_and_never_a_method(name: str) -> None:
    with pytest.raises(UsageError):
        DeclarativeEval({"name": "own", "state": {"shown": f"$.{name}"}, "questions": {"so": NOUL}})
    declared = {"name": "own", "fields": [name], "state": {"shown": f"$.{name}"}, "questions": {"so": NOUL}}
    if not name.startswith("__"):
        backend = MockBackend()
        evaluate({"output": "x", name: "data"}, DeclarativeEval(declared), backend=backend)
        assert backend.calls[0]["state"]["shown"] == "data"


@pytest.mark.parametrize("expression", [
    "9 ** 9 ** 9 > so", "'a' * 999999999 == so", "so ** so ** 99999 > 1", "[so] * 999999999 == 1", "len('a' * 10**9) > so",
    "().__class__ == so", "(lambda: so)() > 1", "[x for x in so] == 1", "so.__class__ == 1", "open('f') == so", "f'{so}' == 1",
])  # fmt: skip
@pytest.mark.parametrize("key", ["score", "pass", "block_if"])
def test_w20_an_expression_that_costs_or_reaches_out_is_refused(key: str, expression: str) -> None:
    spec: dict[str, Any] = {"name": "own", "questions": {"so": NOUL}}
    spec |= {"policy": {key: expression}} if key == "block_if" else {key: expression}
    with pytest.raises(UsageError):
        DeclarativeEval(spec)


@pytest.mark.parametrize("expression", ["so / (so - so)", "1 / so"])
def test_w20_a_division_by_zero_is_an_error_of_that_eval(expression: str) -> None:
    result = one(DeclarativeEval({"name": "own", "questions": {"so": NOUL}, "score": expression}), TRACE, {"so": 0.0})
    assert result.status == "error"
    assert "division by zero" in result.reason


def test_w20_kinds_of_values_that_do_not_fit_are_refused_at_once() -> None:
    questions = {"which": {"type": "choice", "instructions": "?", "criteria": {"a": None, "b": None}}, "so": NOUL}
    for expression in ("which.choice + 1 > so", "which > 0.5", "which.choice > 0.5", "which.c > 0.5"):
        with pytest.raises(UsageError):
            DeclarativeEval({"name": "own", "questions": questions, "pass": expression})


# 21. Trajectories


def calls(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "args": {}} for name in names]


@pytest.mark.parametrize(("mode", "made_", "expected", "score", "passed"), [
    ("unordered", "aab", "ab", 2 / 3, False), ("unordered", "ab", "aab", 2 / 3, False), ("unordered", "ab", "ba", 1, True),
    ("strict", "aab", "ab", 2 / 3, False), ("strict", "ab", "ab", 1, True), ("strict", "abc", "ab", 2 / 3, False),
    ("unordered", "aab", "aba", 1, True), ("superset", "aab", "aa", 1, True), ("subset", "aa", "aab", 1, True),
    ("subset", "aa", "a", 1 / 2, False), ("subset", "a", "ab", 1, True), ("superset", "a", "aa", 1 / 2, False),
    ("superset", "abc", "ab", 1, True), ("unordered", "", "", 1, True), ("strict", "", "", 1, True),
    ("unordered", "a", "", 0, False), ("strict", "a", "", 0, False), ("subset", "a", "", 0, False), ("superset", "a", "", 1, True),
])  # fmt: skip
def test_w21_score_and_verdict_agree_with_duplicates_and_with_nothing_expected(
    mode: str, made_: str, expected: str, score: float, passed: bool
) -> None:
    sample = {"tool_calls": calls(*made_), "expected_tool_calls": calls(*expected)}
    result = one(TrajectoryMatch(mode=mode), sample)
    assert (result.score, result.passed) == (pytest.approx(score), passed)
    assert (result.score == 1) is result.passed


@pytest.mark.parametrize("expected", [
    [{"type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}],
    [{"id": "c", "type": "function", "function": {"name": "find", "arguments": {"id": 7}}}],
    [{"name": "find", "arguments": '{"id": 7}'}], [{"name": "find", "args": {"id": 7.0}}],
    [{"type": "tool_use", "id": "c", "name": "find", "input": {"id": 7}}],
    [{"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"id":7}'}],
    ["find"], "find", {"name": "find"},
])  # fmt: skip
@pytest.mark.parametrize(
    "eval_", [TrajectoryMatch(), TrajectoryMatch(match_args=True), TrajectoryMatch(mode="strict"), ToolCallF1()]
)
def test_w21_expected_calls_are_read_in_every_shape(eval_: Any, expected: Any) -> None:
    result = one(eval_, {"tool_calls": [{"name": "find", "args": {"id": 7}}], "expected_tool_calls": expected})
    assert (result.score, result.passed) == (1.0, True)


def test_w21_f1_counts_calls_as_often_as_they_were_made() -> None:
    for made_, expected, score in (
        ("aab", "aba", 1.0),
        ("aaab", "ab", 2 * 2 / 6),
        ("ab", "aaab", 2 * 2 / 6),
        ("", "", 1.0),
        ("a", "", 0.0),
    ):
        result = one(ToolCallF1(), {"tool_calls": calls(*made_), "expected_tool_calls": calls(*expected)})
        assert result.score == pytest.approx(score)


def test_w20_the_yaml_examples_that_ship_load() -> None:
    examples = Path(load_eval.__code__.co_filename).parent / "examples"
    assert {path.stem for path in examples.glob("*.yaml")} == {load_eval(path).name for path in examples.glob("*.yaml")}
