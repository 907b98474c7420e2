"""The suite `decision` through the public interfaces: rows in, judgements and measurements out, nothing unmeasured passed."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import Sample, UsageError, YbEvalError, run_suite
from yb_eval.datasets import RowError
from yb_eval.interfaces import Context
from yb_eval.options import structure
from yb_eval.testing import check_evaluator, check_gate, check_metric, check_suite
from yb_eval_decision.backends.mock import MockBackend
from yb_eval_decision.dataset import SETS, RowLabels, place_of
from yb_eval_decision.evaluator import DecisionEvaluator
from yb_eval_decision.gates import EveryEval, EverythingMeasured
from yb_eval_decision.metrics import eval_metrics
from yb_eval_decision.registry import resolve_evals
from yb_eval_decision.steadiness import Steadiness
from yb_eval_decision.suite import Options, yb_eval_suite
from yb_eval_decision.verdicts import options_of

GROUNDED = ("grounded",)


def _judges() -> Any:
    """The module of judges beside this file, under the name by which `python:` finds it."""
    name = "decision_judges"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


judges = _judges()


@pytest.fixture
def rows_file(tmp_path: Path) -> Any:
    def write(rows: list[dict[str, Any]] | str, name: str = "rows.jsonl") -> str:
        text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def run(tmp_path: Path, rows_file: Any) -> Any:
    """Runs the suite on rows and returns its entry of the report, with the whole report's exit code in it."""

    def go(rows: Any, *, evals: tuple[str, ...] = GROUNDED, backend: str | None = "python:decision_judges:honest",
           **more: Any) -> dict[str, Any]:  # fmt: skip
        own = {name: more.pop(name) for name in list(more) if name.replace("_", "-") in OPTIONS}
        data = [rows] if isinstance(rows, str) else [rows_file(rows)]
        options = {"evals": list(evals), "data": data, **{k.replace("_", "-"): v for k, v in own.items()}}
        if backend is not None:
            options["backend"] = backend
        report = run_suite("decision", store=tmp_path / "store", options=options, **more)
        return {**report["suites"][0], "exit_code": report["exit_code"], "run": report["run_id"]}

    return go


OPTIONS = {"every-eval", "isolate", "min-accuracy", "min-pass-rate", "bound", "max-cost", "input-price", "calibration"}


def value(suite: dict[str, Any], name: str) -> Any:
    return suite["measurements"][name]["value"]


def gate(suite: dict[str, Any], start: str) -> dict[str, Any]:
    return next(each for each in suite["gates"] if each["gate"].startswith(start))


class TestWhatIsMeasuredOfEachEval:
    def test_against_labels(self, run: Any) -> None:
        suite = run(judges.rows(8))
        assert suite["verdict"] == "pass" and suite["exit_code"] == 0
        expected = {"accuracy": 1.0, "precision": 1.0, "recall": 1.0, "auroc": 1.0, "pass_rate": 0.75, "asked": 8,
                    "measured": 8, "abstained": 0, "errors": 0, "skipped": 0}  # fmt: skip
        assert {name: value(suite, f"grounded.{name}") for name in expected} == expected
        assert suite["measurements"]["grounded.accuracy"]["n"] == 8
        assert suite["measurements"]["grounded.accuracy"]["interval"][0] < 1.0

    def test_in_each_language(self, run: Any) -> None:
        suite = run(judges.rows(8), backend="python:decision_judges:careless")
        assert value(suite, "grounded.accuracy") == 0.75
        assert value(suite, "grounded.accuracy[lang:ru]") == 1.0
        assert value(suite, "grounded.accuracy[lang:en]") == 0.5

    def test_without_labels_there_is_no_accuracy_and_a_pass_rate(self, run: Any) -> None:
        suite = run([judges.trace(number, number != 0) for number in range(4)])
        assert value(suite, "grounded.accuracy") is None
        assert value(suite, "grounded.pass_rate") == 0.75
        assert value(suite, "grounded.asked") == 4

    def test_precision_and_recall_are_those_of_what_fails(self, run: Any) -> None:
        suite = run(judges.rows(8), backend="python:decision_judges:careless")
        assert value(suite, "grounded.precision") is None  # nothing was failed
        assert value(suite, "grounded.recall") == 0.0
        details = suite["measurements"]["grounded.recall"]["details"]
        assert details == {"tp": 0, "fp": 0, "fn": 2, "tn": 6}

    def test_a_label_that_names_an_option_wants_that_option(self, run: Any) -> None:
        rows = judges.rows(4, every=100)
        rows[1]["labels"]["tool_choice"] = "missing"  # the judge says `correct`, as of all the others
        suite = run(rows, evals=("tool_choice",))
        assert value(suite, "tool_choice.accuracy") == 0.5  # row 0 burnt: the judge picks another option
        assert value(suite, "tool_choice.recall") == 0.0

    def test_probabilities_are_held_against_the_truth(self, run: Any) -> None:
        suite = run(judges.rows(8), evals=("tool_choice",), backend="python:decision_judges:careless")
        assert value(suite, "tool_choice.ece") == pytest.approx(0.2)
        assert value(suite, "tool_choice.brier") == pytest.approx(0.04)

    def test_a_number_is_a_label_for_the_threshold_to_judge(self, run: Any) -> None:
        rows = judges.rows(4, every=100)
        for row, label in zip(rows, (0.2, 0.5, 0.9, 1), strict=True):
            row["labels"] = {"grounded": label}
        suite = run(rows)
        assert value(suite, "grounded.accuracy") == 1.0  # 0.2 is under the threshold, and row 0 burnt
        assert value(run(rows, evals=("grounded:threshold=0.95",)), "grounded.accuracy") == 0.5


class TestNothingUnmeasuredPasses:
    @pytest.mark.parametrize(("judge", "state"), [("abstaining", "abstained"), ("refusing", "refused")])
    def test_a_backend_that_cannot_tell(self, run: Any, judge: str, state: str) -> None:
        suite = run(judges.rows(4), backend=f"python:decision_judges:{judge}")
        assert suite["exit_code"] == 3 and suite["verdict"] == "unmeasured"
        assert value(suite, f"grounded.{state}") == 4
        assert value(suite, "grounded.accuracy") is None
        assert gate(suite, "measured: grounded")["verdict"] == "unmeasured"

    def test_a_backend_that_fails_is_neither_right_nor_wrong(self, run: Any) -> None:
        suite = run(judges.rows(4), backend="python:decision_judges:quoting")
        assert suite["exit_code"] == 3
        assert suite["counts"]["error"] == 4
        assert value(suite, "grounded.accuracy") is None

    def test_one_error_among_many_leaves_the_run_unmeasured(self, run: Any) -> None:
        rows = judges.rows(6)
        rows[3]["sample"]["messages"] = 7
        suite = run(rows)
        assert (suite["counts"]["error"], suite["counts"]["scored"]) == (1, 5)
        assert suite["exit_code"] == 3
        assert run(rows, max_errors=1)["exit_code"] == 0

    def test_an_eval_that_was_named_and_that_no_row_asks(self, run: Any) -> None:
        suite = run(judges.rows(4), evals=("grounded", "toxicity"))
        assert suite["exit_code"] == 3
        assert gate(suite, "measured: ")["reason"] == "no row asks: toxicity"

    def test_an_eval_that_was_named_and_applies_to_no_row_says_what_is_missing(self, run: Any) -> None:
        suite = run([{"outptu": "hello"}], evals=("coherence",))
        assert suite["exit_code"] == 3
        assert "did you mean 'output'" in gate(suite, "measured: ")["reason"]

    def test_where_none_was_named_those_that_apply_must_be_measured(self, run: Any) -> None:
        suite = run(judges.rows(4), evals=())
        assert suite["exit_code"] == 0
        assert gate(suite, "measured: every eval that applies")["verdict"] == "pass"
        local = run([judges.trace(1)], evals=(), backend="local")
        assert local["exit_code"] == 3
        assert "the backend abstains: " in gate(local, "measured: every eval")["reason"]
        assert "toxicity" in local["details"]["unmeasured"]

    def test_rows_that_no_eval_is_for_are_unmeasured(self, run: Any) -> None:
        suite = run([{"note": "nothing to look at"}], evals=())
        assert suite["exit_code"] == 3

    def test_the_report_tells_why(self, run: Any) -> None:
        suite = run(judges.rows(4), evals=("grounded", "toxicity"))
        assert suite["details"]["summary"] == ["no row asks: toxicity"]
        assert suite["details"]["unmeasured"] == {"toxicity": {"why": "no row asks", "reason": ""}}


class TestThresholds:
    def test_bind_the_lower_bound_of_each_eval_that_was_named(self, run: Any) -> None:
        rows = judges.rows(8)
        assert run(rows, min_accuracy=0.6)["exit_code"] == 0
        assert run(rows, min_accuracy=0.7)["exit_code"] == 1  # 8 of 8 is [0.68, 1]
        assert run(rows, min_accuracy=0.7, bound="estimate")["exit_code"] == 0
        failed = run(rows, min_pass_rate=0.76, bound="estimate")
        assert gate(failed, "grounded.pass_rate >= 0.76")["verdict"] == "fail"

    def test_of_evals_that_nobody_named_are_one_gate(self, run: Any) -> None:
        suite = run(judges.rows(8), evals=(), min_accuracy=0.9, bound="estimate")
        failing = gate(suite, "accuracy >= 0.9 of every eval that has it")
        assert failing["verdict"] == "fail"
        assert failing["reason"] == "tool_choice 0.750"

    def test_on_slices_and_bounds_of_any_eval(self, run: Any) -> None:
        suite = run(judges.rows(8), gate=['grounded.accuracy["lang:ru"] >= 1', "lower(grounded.accuracy) >= 0.6"])
        assert suite["exit_code"] == 0
        with pytest.raises(YbEvalError, match=r"did you mean 'grounded\.accuracy'"):
            run(judges.rows(8), gate=["grounded.acuracy >= 1"])


class TestWhichEvalsARowIsAsked:
    def test_a_labelled_row_those_it_has_labels_for(self, run: Any) -> None:
        rows = judges.rows(4)
        del rows[0]["labels"]["grounded"]
        suite = run(rows, evals=("grounded", "tool_choice"))
        assert (value(suite, "grounded.asked"), value(suite, "tool_choice.asked")) == (3, 4)

    def test_all_of_them_with_every_eval(self, run: Any) -> None:
        suite = run(judges.rows(4), evals=("grounded", "used_tool_result"), every_eval=True)
        assert value(suite, "used_tool_result.asked") == 4
        assert value(suite, "used_tool_result.accuracy") is None

    def test_a_row_without_any_of_their_labels_is_skipped(self, run: Any) -> None:
        rows = judges.rows(4)
        rows[0]["labels"] = {"toxicity": True}
        assert run(rows)["counts"]["skipped"] == 1

    def test_traces_and_labelled_rows_can_stand_together(self, run: Any) -> None:
        suite = run([*judges.rows(4), judges.trace(9)])
        assert value(suite, "grounded.asked") == 5
        assert suite["measurements"]["grounded.accuracy"]["n"] == 4


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ({"sample": {"output": "x"}, "labels": {"groundd": True}}, r"\$\.labels: no eval is called 'groundd' \(did you"),
            ({"sample": {"output": "x"}, "labels": {"grounded": "yes"}}, r"\$\.labels\.grounded: 'yes' is no label"),
            ({"sample": {"output": "x"}, "labels": {"grounded": 1.5}}, r"\$\.labels\.grounded: 1\.5 is no label"),
            ({"sample": {"output": "x"}, "labels": {"grounded": None}}, r"\$\.labels\.grounded: None is no label"),
            ({"sample": {"output": "x"}, "labels": {"refusal": "answerd"}}, r"'answerd' is no option of refusal \(did you"),
            ({"sample": {"output": "x"}, "labels": [1]}, r"\$\.labels: labels are an object"),
            ({"sample": {}, "labels": {}}, r"\$\.sample: a sample is an object that is not empty"),
            ({"sample": {"output": "x"}, "lables": {}}, r"unknown field 'lables' \(did you mean 'labels'"),
            ({"output": "x", "labels": {}}, "labels without a sample"),
        ],
    )  # fmt: skip
    def test_labels_with_file_line_and_path_before_anything_is_asked(self, run: Any, row: Any, said: str) -> None:
        judges.asked.clear()
        with pytest.raises(YbEvalError, match=rf"rows\.jsonl:2: .*{said}") as caught:
            run([judges.rows(1)[0], {"id": "bad", **row}], evals=(), backend="python:decision_judges:counted")
        assert caught.value.exit_code == 2
        assert judges.asked == []

    @pytest.mark.parametrize(
        ("evals", "said"),
        [
            (("groundd",), "did you mean 'grounded'"),
            (("security.grounded",), "did you mean 'agent.grounded'"),
            (("grounded:treshold=0.5",), "did you mean 'threshold'"),
            (("grounded:threshold=2",), "at most 1"),
            (("grounded", "agent.grounded"), "two evals are named 'grounded'"),
            (("nix.yaml",), r"nix\.yaml"),
        ],
    )
    def test_evals(self, run: Any, evals: tuple[str, ...], said: str) -> None:
        with pytest.raises(UsageError, match=said):
            run(judges.rows(1), evals=evals)

    def test_two_systems_at_once(self, run: Any) -> None:
        with pytest.raises(UsageError, match="name two systems"):
            run(judges.rows(1), backend="mock", target="python:decision_judges:honest")

    def test_a_cost_limit_that_cannot_be_kept(self, run: Any) -> None:
        with pytest.raises(UsageError, match="--input-price"):
            run(judges.rows(1), max_cost=1.0)

    def test_data_that_is_not_there(self, run: Any) -> None:
        with pytest.raises(UsageError, match="did you mean 'traces'"):
            run("tracs")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["id", "sample", "labels", "tags", "note", "output"])
LABELS = st.dictionaries(st.sampled_from(["grounded", "refusal", "pii", "nix"]), JSON, max_size=2)


@given(st.dictionaries(FIELDS, JSON | LABELS, max_size=4))
@settings(max_examples=300, deadline=None)
def test_any_row_is_judged_or_refused_in_one_line(row: dict[str, Any]) -> None:
    """Whatever stands in a row: the check says what is wrong, or the evaluator gives it an outcome."""
    evals = {one.name: one for one in resolve_evals("grounded,refusal,pii")}
    try:
        RowLabels({name: options_of(one) for name, one in evals.items()}, frozenset(evals))(row)
    except RowError as error:
        assert str(error)
        return
    (outcome,) = DecisionEvaluator(evals, MockBackend()).evaluate([Sample("r", row)])
    assert outcome.status in ("scored", "error", "skipped")


class TestEvalsOfTheUser:
    YAML = (
        "name: shipped\nrequires: [messages]\nstate:\n  answer: $.final_answer\n"
        'questions:\n  q: {type: noul, instructions: "Does `answer` say that it was shipped?"}\n'
    )

    def test_are_files_and_folders(self, run: Any, tmp_path: Path) -> None:
        folder = tmp_path / "evals"
        folder.mkdir()
        (folder / "shipped.yaml").write_text(self.YAML, encoding="utf-8")
        for spec in (str(folder / "shipped.yaml"), str(folder)):
            suite = run([judges.trace(1)], evals=(spec,))
            assert value(suite, "shipped.measured") == 1

    def test_may_have_labels_too(self, run: Any, tmp_path: Path) -> None:
        (tmp_path / "shipped.yaml").write_text(self.YAML, encoding="utf-8")
        rows = [{"sample": judges.trace(1), "labels": {"shipped": True}}]
        assert value(run(rows, evals=(str(tmp_path / "shipped.yaml"),)), "shipped.accuracy") == 1.0
        with pytest.raises(YbEvalError, match="no eval is called 'shipped'"):
            run(rows)

    def test_one_of_them_changed_is_another_plan(self, run: Any, tmp_path: Path) -> None:
        path = tmp_path / "shipped.yaml"
        path.write_text(self.YAML, encoding="utf-8")
        first = run([judges.trace(1)], evals=(str(path),))
        path.write_text(self.YAML.replace("shipped?", "sent?"), encoding="utf-8")
        assert run([judges.trace(1)], evals=(str(path),))["plan_id"] != first["plan_id"]


class TestRepeats:
    def test_show_which_samples_are_not_judged_the_same_each_time(self, run: Any) -> None:
        rows = judges.rows(16, every=100)
        suite = run(rows[1:], backend="python:decision_judges:wavering", repeats=3)
        flips = suite["measurements"]["grounded.flip_rate"]
        assert 0 < flips["value"] < 1
        assert set(flips["details"]["ids"]) == set(suite["measurements"]["flaky_rate"]["details"]["ids"])
        assert value(suite, "grounded.score_variance") == pytest.approx(flips["value"] / 3)

    def test_do_so_without_labels_too(self, run: Any) -> None:
        suite = run([judges.trace(n) for n in range(1, 12)], backend="python:decision_judges:wavering", repeats=2)
        assert value(suite, "flaky_rate") is None
        assert value(suite, "grounded.flip_rate") > 0

    def test_of_a_steady_judge_have_no_variance(self, run: Any) -> None:
        suite = run(judges.rows(4), repeats=3)
        assert (value(suite, "grounded.flip_rate"), value(suite, "grounded.score_variance")) == (0.0, 0.0)

    def test_are_not_measured_where_there_are_none(self, run: Any) -> None:
        assert "grounded.flip_rate" not in run(judges.rows(4))["measurements"]

    def test_are_kept_apart_in_the_cache(self, run: Any) -> None:
        judges.asked.clear()
        for _ in range(2):
            run(judges.rows(4), backend="python:decision_judges:counted", repeats=3, cache=True)
        assert len(judges.asked) == 12


def test_a_cache_asks_nothing_twice_whatever_the_jobs(run: Any) -> None:
    judges.asked.clear()
    backend = "python:decision_judges:counted"
    plain = run(judges.rows(12), backend=backend)
    assert len(judges.asked) == 12
    cold = run(judges.rows(12), backend=backend, cache=True, jobs=4)
    warm = run(judges.rows(12), backend=backend, cache=True, batch_size=1)
    assert len(judges.asked) == 24
    assert plain["run"] == cold["run"] == warm["run"]


def test_an_eval_that_is_added_is_all_that_is_asked_with_isolate(run: Any) -> None:
    backend = "python:decision_judges:counted"
    run(judges.rows(4), backend=backend, cache=True, isolate=True)
    judges.asked.clear()
    run(judges.rows(4), backend=backend, evals=("grounded", "tool_choice"), cache=True, isolate=True)
    assert {id.partition(".")[0] for request in judges.asked for id in request["questions"]} == {"tool_choice"}


def test_evals_that_look_at_the_same_are_asked_together(run: Any) -> None:
    judges.asked.clear()
    evals = ("grounded", "tool_choice", "used_tool_result", "stayed_in_scope")
    run([judges.trace(1)], backend="python:decision_judges:counted", evals=evals)
    assert len(judges.asked) == 1
    judges.asked.clear()
    run([judges.trace(1)], backend="python:decision_judges:counted", evals=evals, isolate=True)
    assert len(judges.asked) == 4


def test_several_sets_of_data_are_one_dataset_with_a_tag_each(tmp_path: Path, rows_file: Any) -> None:
    data = [rows_file(judges.rows(4), "first.jsonl"), rows_file([judges.trace(7)], "second.jsonl")]
    report = run_suite(
        "decision", store=tmp_path / "store", filter='"set:first" in tags',
        options={"evals": ["grounded"], "data": data, "backend": "mock"},
    )  # fmt: skip
    assert report["suites"][0]["counts"]["samples"] == 4
    assert report["suites"][0]["datasets"][0]["id"] == "first+second"


@pytest.mark.parametrize("name", SETS)
def test_the_sets_that_ship_can_be_named(run: Any, name: str) -> None:
    assert place_of(name).is_file()
    suite = run(name, evals=(), backend="mock", limit=20)
    assert suite["counts"]["samples"] == 20 and suite["counts"]["error"] == 0


class TestThePromisesOfTheInterfaces:
    def outcomes(self, repeats: int = 1) -> list[Any]:
        backend = MockBackend(fn=lambda id, question, state: 0.2 + (len(str(state)) % 7) / 10)
        evaluator = DecisionEvaluator({one.name: one for one in resolve_evals("grounded,pii")}, backend)
        rows = [*judges.rows(13), {"id": "t", **judges.trace(50)}]
        samples = [
            Sample(row["id"], row, tuple(row.get("tags", ())), repeat=repeat)
            for row in rows
            for repeat in range(repeats)
        ]
        return list(evaluator.evaluate(samples))

    @pytest.mark.parametrize("place", range(8))
    def test_hold_for_each_metric(self, place: int) -> None:
        (one,) = resolve_evals("grounded")
        metrics = eval_metrics("grounded", one)
        assert len(metrics) == 8
        check_metric(metrics[place], self.outcomes())

    @pytest.mark.parametrize("repeats", [1, 2, 3])
    def test_hold_for_what_looks_across_repeats(self, repeats: int) -> None:
        check_metric(Steadiness(judgement="grounded"), self.outcomes(repeats))

    @pytest.mark.parametrize("evals", ["grounded,tool_choice,pii", "all"])
    def test_hold_for_the_evaluator(self, evals: str) -> None:
        made = {one.name: one for one in resolve_evals(evals)}
        rows = [*judges.rows(5), {"id": "t", **judges.trace(50)}, {"id": "u", "output": "Hello there, all of you."}]
        evaluator = DecisionEvaluator(made, MockBackend(), every_eval=True)
        check_evaluator(evaluator, [Sample(row["id"], row, tuple(row.get("tags", ()))) for row in rows])

    def test_hold_for_the_gates(self) -> None:
        declared = {
            each.name: each for one in resolve_evals("grounded,pii") for metric in eval_metrics(one.name, one)
            for each in metric.declares
        }  # fmt: skip
        for made in (
            EverythingMeasured(("grounded", "pii")),
            EverythingMeasured(("grounded", "pii"), named=False),
            EveryEval("accuracy", 0.5, "lower", ("grounded", "pii")),
            EveryEval("pass_rate", 0.5, "estimate", ("grounded",)),
        ):
            check_gate(made, declared)

    def test_hold_for_the_suite(self, rows_file: Any) -> None:
        options = structure(Options, {"data": [rows_file(judges.rows(9))], "backend": "mock"}, where="decision")
        check_suite(yb_eval_suite(), options)

    def test_the_plan_knows_of_the_repeats(self) -> None:
        assert evolve(Context(target="builtin", open_target=None), repeats=3).repeats == 3  # type: ignore[arg-type]
