"""A kept calibration: read strictly, refused for what it was not made for, applied to results, and its bands in a cascade."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from yb_eval import UsageError
from yb_eval_decision.answers import NoulAnswer
from yb_eval_decision.backends.base import Request
from yb_eval_decision.backends.cascade import CascadeBackend
from yb_eval_decision.backends.mock import MockBackend
from yb_eval_decision.cache import CachedBackend, ResponseCache
from yb_eval_decision.calibration import Calibration, Observation, Observed, Report, Settings, calibrate
from yb_eval_decision.calibration.bands import band_of, orientation
from yb_eval_decision.calibration.curves import Isotonic, Platt, Same
from yb_eval_decision.calibration.saved import SavedEval, eval_identity
from yb_eval_decision.eval import Eval
from yb_eval_decision.questions import Noul
from yb_eval_decision.registry import get_eval
from yb_eval_decision.results import EvalReport, Result
from yb_eval_decision.running import evaluate

BACKEND = MockBackend({"input": 0.3}, model="model-1")
INJECTION = get_eval("prompt_injection")
ANSWERS = {"q": NoulAnswer(0.4)}


def saved(**more: Any) -> Calibration:
    """A calibration of prompt_injection: scores from 0.5 on are twice as sure as they are right."""
    kept = SavedEval(
        identity=eval_identity(INJECTION), curve=Platt(0.5, 0.0), threshold=0.7, band=(0.1, 0.8), asks="1-p"
    )
    made = Calibration(backend="mock", fingerprint=BACKEND.fingerprint, models=("model-1",), revision_id="a" * 64,
                       settings=Settings().to_dict(), evals={"prompt_injection": kept})  # fmt: skip
    return evolve(made, **more)


def only(calibration: Calibration, **more: Any) -> Calibration:
    """The same with its one eval changed."""
    return evolve(calibration, evals={name: evolve(one, **more) for name, one in calibration.evals.items()})


def measured(score: float, **more: Any) -> Result:
    return Result(**{"name": "prompt_injection", "score": score, "passed": score > 0.5, "answers": ANSWERS, **more})


def report(observed: Observed, *, fit: Any = "platt", limit: float = 0.05) -> Report:
    settings = Settings(fit=fit, max_false_pass=limit)
    return Report(settings=settings, evals=calibrate(observed, settings), observed=observed, revision_id="b" * 64,
                  backend="mock", fingerprint=BACKEND.fingerprint)  # fmt: skip


def observed() -> Observed:
    rows = []
    for index in range(600):
        score = (index % 100 + 0.5) / 100
        rows.append(Observation("fit" if index % 2 else "report", score, score > 0.5, score > 0.4))
    return Observed({"prompt_injection": rows}, models={"model-1"})


# --- keeping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", ["platt", "isotonic", "none"])
def test_what_is_kept_reads_back_as_it_was(fit: str, tmp_path: Path) -> None:
    kept = Calibration.of(report(observed(), fit=fit), {"prompt_injection": INJECTION})
    kept.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == kept
    assert kept.evals["prompt_injection"].threshold is not None
    assert kept.evals["prompt_injection"].asks == "1-p"


def test_the_same_calibration_gives_the_same_bytes_and_no_time(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        Calibration.of(report(observed()), {"prompt_injection": INJECTION}).save(tmp_path / name)
    data = (tmp_path / "a.json").read_bytes()
    assert data == (tmp_path / "b.json").read_bytes()
    assert set(json.loads(data)) == {"schema", "backend", "models", "data", "settings", "evals"}


def test_an_eval_without_a_curve_is_not_kept() -> None:
    few = Observed({"prompt_injection": [Observation("fit", 0.5, True, True)]})
    assert Calibration.of(report(few), {"prompt_injection": INJECTION}).evals == {}


def test_the_identity_changes_with_what_decides_and_not_with_what_tells() -> None:
    one = saved()
    assert one.identity() == evolve(one, path="elsewhere", settings={}).identity()
    for changed in (evolve(one, fingerprint="c" * 64), evolve(one, models=("model-2",)), only(one, threshold=0.71),
                    only(one, curve=Same()), only(one, band=None), only(one, identity="d" * 64)):  # fmt: skip
        assert changed.identity() != one.identity()


# --- reading ----------------------------------------------------------------------------------------------------------


def _change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(kept: dict[str, Any]) -> None:
        *outer, last = path.split("/")
        for name in outer:
            kept = kept[name]
        if value is ...:
            del kept[last]
        else:
            kept[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("schema", "yb-eval-decision/calibration/9", "not a calibration of this version"),
        ("schema", ..., "not a calibration of this version"),
        ("models", ..., "models is missing"),
        ("models", "m", "list of names"),
        ("extra", 1, "unknown field 'extra'"),
        ("backend", "mock", "an object is expected"),
        ("backend/fingerprint", "mock", "64 hex"),
        ("backend/spec", 3, "a text"),
        ("data/revision_id", "latest", "64 hex"),
        ("evals", [], "settings and evals are objects"),
        ("evals/prompt_injection", None, "an object is expected"),
        ("evals/prompt_injection/treshold", 0.5, "did you mean 'threshold'"),
        ("evals/prompt_injection/identity", "", "64 hex"),
        ("evals/prompt_injection/threshold", 7, "within 0..1"),
        ("evals/prompt_injection/threshold", True, "within 0..1"),
        ("evals/prompt_injection/threshold", "0.5", "within 0..1"),
        ("evals/prompt_injection/band", [0.9, 0.1], "lower end"),
        ("evals/prompt_injection/band", [0.9], "two numbers"),
        ("evals/prompt_injection/band", [0.1, 2], "within 0..1"),
        ("evals/prompt_injection/asks", "q", "none of null"),
        ("evals/prompt_injection/fit", {"kind": "platt", "a": -1, "b": 0}, "positive"),
        ("evals/prompt_injection/numbers", 3, "an object"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused_by_what_and_where(path: str, value: Any, what: str, tmp_path: Path) -> None:
    kept = saved().to_dict()
    _change(path, value)(kept)
    file = tmp_path / "c.json"
    file.write_text(json.dumps(kept))
    with pytest.raises(UsageError) as refused:
        Calibration.load(file)
    assert what in str(refused.value)
    assert "c.json" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'"text"', b"NaN"])
def test_what_is_no_calibration_at_all_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(data)
    with pytest.raises(UsageError, match=r"c\.json"):
        Calibration.load(tmp_path / "c.json")


def test_a_file_that_is_not_there_or_is_huge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Calibration.load(tmp_path / "none.json")
    with pytest.raises(UsageError, match="cannot be read"):
        Calibration.load(tmp_path)
    (tmp_path / "huge.json").write_bytes(b" " * (8 << 20) + b"{}")
    with pytest.raises(UsageError, match="over 8 MiB"):
        Calibration.load(tmp_path / "huge.json")


# --- whether it fits --------------------------------------------------------------------------------------------------


def test_it_fits_the_backend_and_the_evals_it_was_made_for() -> None:
    assert saved().check(BACKEND, [INJECTION])
    assert saved().check(BACKEND, {"prompt_injection": INJECTION, "jailbreak": get_eval("jailbreak")})


def test_of_a_cascade_that_has_the_backend_as_a_stage_only_the_bands_are_of_use(tmp_path: Path) -> None:
    cascade = CascadeBackend([BACKEND, MockBackend(spec="better")], bands=saved().bands())
    assert saved().check(cascade, [INJECTION]) is False
    assert saved().check(CachedBackend(cascade, ResponseCache(tmp_path / "answers.sqlite")), [INJECTION]) is False
    with pytest.raises(UsageError, match="is not the same"):
        saved(fingerprint="c" * 64).check(cascade, [INJECTION])
    with pytest.raises(UsageError, match="is not the eval"):
        saved().check(cascade, [get_eval("prompt_injection", threshold=0.9)])


def test_a_calibration_of_a_cascade_as_a_whole_changes_none_of_its_bands() -> None:
    from yb_eval_decision.backends.opening import open_backend

    with open_backend("mock -> mock") as plain:
        whole = saved(backend=plain.spec, fingerprint=plain.fingerprint, models=())
        with open_backend("mock -> mock", store=whole) as again:
            assert again.fingerprint == plain.fingerprint
            assert whole.check(again, [INJECTION]) is True


def test_another_backend_is_refused_with_both_names_and_how_to_mend_it() -> None:
    with pytest.raises(UsageError) as refused:
        saved(path="c.json").check(MockBackend({"input": 0.9}, spec="other"), [INJECTION])
    assert "mock" in str(refused.value)
    assert "--backend other" in str(refused.value)
    assert refused.value.exit_code == 2


def test_another_model_version_is_refused_where_the_backend_tells_it() -> None:
    backend = MockBackend({"input": 0.3}, model="model-1")
    backend.models = ("model-2",)  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="calibrated for model-1, answered by model-2"):
        saved().check(backend, [INJECTION])


@pytest.mark.parametrize("arguments", [{"threshold": 0.6}, {"surface": "all"}, {"insufficient": False}])
def test_an_eval_with_other_arguments_is_refused(arguments: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError, match="prompt_injection is not the eval that was calibrated"):
        saved().check(BACKEND, [get_eval("prompt_injection", **arguments)])


def test_an_eval_of_another_version_is_refused() -> None:
    class PromptInjection(type(INJECTION)):  # type: ignore[misc]
        version = 2

    with pytest.raises(UsageError, match="is not the eval"):
        saved().check(BACKEND, {"prompt_injection": PromptInjection()})


def test_the_name_of_an_eval_in_a_run_is_no_part_of_what_it_is() -> None:
    assert eval_identity(get_eval("prompt_injection", name="other")) == eval_identity(INJECTION)


# --- applying ---------------------------------------------------------------------------------------------------------


def test_a_result_gets_the_calibrated_score_and_passes_by_the_saved_threshold() -> None:
    found = saved().apply("prompt_injection", measured(0.8, probability=0.2))
    assert found.score == pytest.approx(2 / 3)
    assert found.probability == pytest.approx(1 / 3)
    assert found.passed is False  # 0.67 is under 0.7, though 0.8 passed by the eval's own threshold
    assert found.evidence["raw_score"] == 0.8
    assert saved().apply("prompt_injection", measured(0.9)).passed is True


def test_without_a_threshold_the_evals_own_verdict_stands() -> None:
    found = only(saved(), threshold=None).apply("prompt_injection", measured(0.8))
    assert found.passed is True
    assert found.score == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "result",
    [
        Result.unmeasured("abstained", "cannot tell"),
        Result.unmeasured("error", "down"),
        Result.unmeasured("skipped", "missing input"),
        Result(score=1.0, passed=True),
        Result(passed=False, answers=ANSWERS),
    ],
)
def test_what_has_no_score_of_the_backends_stays_as_it_is(result: Result) -> None:
    assert saved().apply("prompt_injection", result) is result


def test_an_eval_that_is_not_calibrated_stays_as_it_is() -> None:
    result = measured(0.8)
    assert saved().apply("jailbreak", result) is result


def test_an_answer_of_another_model_is_an_error_and_no_verdict() -> None:
    found = saved().apply("prompt_injection", measured(0.9), ["model-2"])
    assert found.status == "error"
    assert found.reason == "calibrated for model-1, answered by model-2"
    assert saved().apply("prompt_injection", measured(0.9), ["model-1"]).passed is True
    assert saved(models=()).apply("prompt_injection", measured(0.9), ["model-2"]).passed is True


def test_a_gates_action_is_never_loosened_and_follows_where_it_is_tightened() -> None:
    kept = evolve(saved(), evals={"tool_call_risk": saved().evals["prompt_injection"]})
    stopped = kept.apply("tool_call_risk", measured(0.99, passed=False, action="escalate"))
    assert (stopped.passed, stopped.action) == (False, "escalate")
    tightened = kept.apply("tool_call_risk", measured(0.7, passed=True, action="allow"))
    assert (tightened.passed, tightened.action) == (False, "escalate")
    allowed = kept.apply("tool_call_risk", measured(0.95, passed=True, action="allow"))
    assert (allowed.passed, allowed.action) == (True, "allow")


def test_all_results_of_a_report_are_applied_by_name_with_the_models_that_answered() -> None:
    results = [measured(0.8), Result(name="other", score=0.2, passed=False, answers=ANSWERS)]
    found = saved().apply_report(EvalReport(results, models=("model-1",)))
    assert [one.score for one in found] == pytest.approx([2 / 3, 0.2])
    strange = saved().apply_report(EvalReport(results, models=("model-9",)))
    assert [one.status for one in strange] == ["error", "measured"]


def test_a_real_result_is_calibrated() -> None:
    report = evaluate({"input": "What is the time?"}, [INJECTION], backend=MockBackend({"input": 0.05, "*enough": 0.9}))
    found = saved(models=()).apply_report(report).prompt_injection
    assert report.prompt_injection.score == pytest.approx(0.95)
    assert found.score == pytest.approx(Platt(0.5, 0.0)(0.95))
    assert found.passed is True


# --- bands ------------------------------------------------------------------------------------------------------------


def test_a_band_holds_the_scores_whose_probability_is_not_sure() -> None:
    low, high = band_of(Platt(2.0, 0.3), 0.9)
    assert Platt(2.0, 0.3)(low) == pytest.approx(0.1)
    assert Platt(2.0, 0.3)(high) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("curve", "band"),
    [
        (Same(), (0.1, 0.9)),
        (Isotonic((0.2, 0.8), (0.4, 0.6)), (0.0, 1.0)),
        (Isotonic((0.2, 0.8), (0.95, 0.99)), (0.0, 0.0)),
        (Isotonic((0.2, 0.8), (0.0, 0.05)), (1.0, 1.0)),
    ],
)
def test_a_curve_that_does_not_get_there_leaves_all_or_nothing_undecided(curve: Any, band: tuple[float, float]) -> None:
    assert band_of(curve, 0.9) == pytest.approx(band)


@pytest.mark.parametrize(
    ("name", "asks"),
    [("argument_validity", "p"), ("loop_detection", "1-p"), ("prompt_injection", "1-p"), ("topic_adherence", "p"),
     ("pii", "1-p"), ("grounded", None), ("toxicity", None), ("tool_choice", None), ("quality", None),
     ("tool_call_risk", None)],
)  # fmt: skip
def test_the_band_of_a_question_is_known_where_its_probability_is_the_score_or_its_complement(
    name: str, asks: str | None
) -> None:
    assert orientation(get_eval(name)) == asks


def test_the_band_of_a_question_about_the_bad_thing_is_mirrored() -> None:
    bands = saved().bands()
    question = Noul("Is it?")
    assert bands("prompt_injection.input", question, BACKEND, "model-1") == pytest.approx((0.2, 0.9))
    assert only(saved(), asks="p").bands()("prompt_injection.input", question, BACKEND, None) == (0.1, 0.8)


def test_other_questions_backends_and_models_have_no_band_of_it() -> None:
    bands, question = saved().bands(), Noul("Is it?")
    assert bands("jailbreak.input", question, BACKEND, "model-1") is None
    assert bands("prompt_injection.input.enough", question, BACKEND, "model-1") is None
    assert bands("prompt_injection.input", question, MockBackend({"a": 1}), "model-1") is None
    assert bands("prompt_injection.input", question, BACKEND, "model-2") is None
    assert only(saved(), asks=None).bands()("prompt_injection.input", question, BACKEND, "model-1") is None


@pytest.mark.parametrize(("p", "decided_by"), [(0.15, "mock"), (0.5, "better"), (0.85, "better"), (0.95, "mock")])
def test_a_cascade_sends_on_what_the_calibrated_band_leaves_undecided(p: float, decided_by: str) -> None:
    first = MockBackend({"*": p}, model="model-1")
    kept = saved(fingerprint=first.fingerprint)
    cascade = CascadeBackend([first, MockBackend({"*": 1.0}, spec="better")], bands=kept.bands())
    asked = Request({"request": "text"}, {"prompt_injection.input": Noul("Is it?")})
    (response,) = cascade.decide([asked])
    assert response.decided_by["prompt_injection.input"] == decided_by


def test_the_bands_enter_the_fingerprint_of_the_cascade() -> None:
    stages = [BACKEND, MockBackend(spec="better")]
    one, same = (CascadeBackend(stages, bands=saved().bands()).fingerprint for _ in range(2))
    other = CascadeBackend(stages, bands=only(saved(), band=(0.1, 0.7)).bands()).fingerprint
    assert one == same
    assert one != other
    assert one != CascadeBackend(stages).fingerprint


def test_a_calibration_may_stand_for_a_store_of_bands() -> None:
    from yb_eval_decision.backends.opening import open_backend

    with open_backend("mock -> mock", store=saved()) as cascade:
        assert isinstance(cascade, CascadeBackend)
        assert cascade.fingerprint == CascadeBackend(cascade.stages, bands=saved().bands()).fingerprint


def test_evals_of_ones_own_can_be_calibrated_too() -> None:
    class Polite(Eval):
        pass

    assert orientation(Polite()) is None
    assert len(eval_identity(Polite())) == 64
