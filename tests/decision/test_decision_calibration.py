"""Calibration from labelled rows: what is fitted on what, what is measured on what, and what is too little to say."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval.statistics import wilson
from yb_eval_decision.backends.mock import MockBackend
from yb_eval_decision.calibration import EvalCalibration, Observation, Observed, Settings, calibrate, observe
from yb_eval_decision.calibration.curves import logit, sigmoid
from yb_eval_decision.calibration.observing import cut_of, group_of, hash_of
from yb_eval_decision.calibration.thresholds import choose, passing, row, rows_needed
from yb_eval_decision.dataset import RowLabels, decision_dataset
from yb_eval_decision.eval import Eval
from yb_eval_decision.registry import builtin_evals, get_eval
from yb_eval_decision.verdicts import options_of

NAMES = ("prompt_injection", "jailbreak")


def truth(index: int) -> float:
    """The probability that the row `index` should pass."""
    return random.Random(f"truth/{index}").random()


def rows(n: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{index}",
            "sample": {"input": f"text {index}"},
            "labels": {"prompt_injection": random.Random(f"label/{index}").random() < truth(index)},
            **more,
        }
        for index in range(n)
    ]


def overconfident(id: str, question: Any, state: Mapping[str, Any]) -> float | None:
    """Knows the truth and is three times too sure of it."""
    if id.endswith("enough"):
        return 0.99
    return sigmoid(3 * logit(1 - truth(int(state["request"].split()[-1]))))


def written(folder: Path, data: Sequence[Mapping[str, Any]], name: str = "rows.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in data), encoding="utf-8")
    return str(path)


def seen(path: str, evals: Sequence[Eval] | None = None, backend: Any = None, **more: Any) -> Observed:
    named = {one.name: one for one in evals or [get_eval("prompt_injection")]}
    check = RowLabels({name: options_of(one) for name, one in named.items()}, frozenset(builtin_evals()))
    snapshot = decision_dataset((path,), check, None).open()
    return observe(snapshot, named, backend or MockBackend(fn=overconfident), **more)


def one(path: str, settings: Settings | None = None, **more: Any) -> EvalCalibration:
    return calibrate(seen(path, **more), settings or Settings())["prompt_injection"]


def told(found: EvalCalibration) -> str:
    return "\n".join(found.warnings)


# --- fitting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", ["platt", "isotonic"])
def test_a_fit_improves_brier_and_ece_of_an_overconfident_backend_on_rows_it_has_not_seen(
    fit: Any, tmp_path: Path
) -> None:
    found = one(written(tmp_path, rows(800)), Settings(fit=fit))
    assert found.before is not None
    assert found.after is not None
    assert found.after.brier < found.before.brier - 0.01
    assert found.after.ece < found.before.ece - 0.05


def test_platt_finds_how_much_too_sure_the_backend_is(tmp_path: Path) -> None:
    curve = one(written(tmp_path, rows(2000))).curve
    assert curve is not None
    assert curve.to_dict()["a"] == pytest.approx(1 / 3, abs=0.08)


def test_without_a_fit_before_and_after_are_the_same(tmp_path: Path) -> None:
    found = one(written(tmp_path, rows(200)), Settings(fit="none"))
    assert found.before == found.after
    assert found.before is not None


def test_the_bins_are_in_the_report_as_the_html_report_draws_them(tmp_path: Path) -> None:
    told = one(written(tmp_path, rows(400))).to_dict()
    for part in ("before", "after"):
        assert len(told[part]["bins"]) == 10
        assert set(told[part]["bins"][0]) == {"low", "high", "n", "confidence", "accuracy"}
        assert sum(each["n"] for each in told[part]["bins"]) == told["n"]["report"]


def test_a_score_that_points_the_wrong_way_is_not_fitted_and_no_threshold_is_chosen(tmp_path: Path) -> None:
    def reversed_(id: str, question: Any, state: Mapping[str, Any]) -> float | None:
        answer = overconfident(id, question, state)
        return answer if id.endswith("enough") or answer is None else 1 - answer

    found = one(written(tmp_path, rows(300)), backend=MockBackend(fn=reversed_))
    assert found.curve is None
    assert found.threshold is None
    assert found.after is None
    assert found.before is not None
    assert "does not rise with the labels" in told(found)


# --- the two parts ----------------------------------------------------------------------------------------------------


def test_the_two_parts_hold_all_rows_once_and_have_their_shares(tmp_path: Path) -> None:
    path = written(tmp_path, rows(1000))
    found = one(path)
    assert found.fit_n + found.report_n == 1000
    assert found.fit_n == 500
    assert one(path, Settings(split=0.2), split=0.2).fit_n == 200


def test_the_split_is_the_same_in_any_order_of_the_rows(tmp_path: Path) -> None:
    data = rows(300)
    forth, back = one(written(tmp_path, data)), one(written(tmp_path, data[::-1], "back.jsonl"))
    assert forth.fit_passes == back.fit_passes
    assert forth.threshold == back.threshold
    assert forth.before is not None
    assert back.before is not None
    assert forth.before.brier == pytest.approx(back.before.brier)


@given(
    st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 9), min_size=1, max_size=40), st.floats(0.05, 0.95)
)
def test_no_other_cut_between_groups_is_nearer_to_the_share(sizes: dict[str, int], split: float) -> None:
    cut, total = cut_of(sizes, split), sum(sizes.values())
    taken = sum(size for name, size in sizes.items() if hash_of(name) < cut)
    others = [sum(size for name, size in sizes.items() if hash_of(name) < hash_of(edge)) for edge in sizes]
    assert all(abs(split * total - taken) <= abs(split * total - other) + 1e-9 for other in [*others, total])


def test_a_row_more_moves_no_row_that_is_far_from_the_cut() -> None:
    names = {f"id:r{index}": 1 for index in range(500)}
    before, after = cut_of(names, 0.5), cut_of({**names, "id:new": 1}, 0.5)
    moved = [name for name in names if (hash_of(name) < before) != (hash_of(name) < after)]
    assert len(moved) <= 1


def test_rows_of_a_dialogue_are_in_one_part(tmp_path: Path) -> None:
    data = [{**each, "tags": [f"dialogue:d{index // 10}"]} for index, each in enumerate(rows(200))]
    found = one(written(tmp_path, data))
    assert found.fit_n % 10 == 0
    assert found.fit_n == 100


def test_any_tag_may_say_which_rows_belong_together(tmp_path: Path) -> None:
    data = [{**each, "tags": [f"customer:c{index // 50}"]} for index, each in enumerate(rows(200))]
    assert one(written(tmp_path, data), group_by=("customer",)).fit_n == 100
    assert group_of("x", ["customer:c1", "lang:en"], ("customer",)) == "customer:c1"
    assert group_of("x", ["lang:en"], ("customer",)) == "id:x"


def test_the_threshold_is_chosen_on_the_fit_part_and_reported_on_the_other() -> None:
    clean = [Observation("fit", 0.9, True, True)] * 400 + [Observation("fit", 0.1, False, False)] * 400
    dirty = [Observation("report", 0.9, True, False)] * 50 + [Observation("report", 0.1, False, True)] * 50
    found = calibrate(Observed({"e": [*clean, *dirty]}), Settings(max_false_pass=0.02))["e"]
    assert found.threshold is not None
    chosen = next(each for each in found.table if each.threshold == found.threshold)
    assert chosen.false_pass.value == 0.5
    assert "pass wrongly" in told(found)


# --- thresholds -------------------------------------------------------------------------------------------------------


def test_a_row_of_the_table_counts_against_all_samples_with_wilson_intervals() -> None:
    found = row(0.5, [True, True, True, False, False], [True, True, False, True, False])
    assert (found.auto_rate.value, found.false_pass.value, found.false_fail.value) == (0.6, 0.2, 0.2)
    assert (found.precision.hits, found.precision.n) == (2, 3)
    assert (found.recall.hits, found.recall.n) == (2, 3)
    assert found.false_pass.interval == wilson(1, 5)


def test_a_rate_of_nothing_has_no_value_and_no_interval() -> None:
    found = row(0.9, [False, False], [True, False])
    assert found.precision.to_dict() == {"value": None, "n": 0, "interval": None}


def test_the_chosen_threshold_lets_most_pass_within_the_upper_bound() -> None:
    scores = [0.3] * 100 + [0.6] * 400 + [0.9] * 500
    should = [False] * 100 + [True] * 900
    assert choose(scores, [False] * 1000, should, 0.01) == 0.31
    assert choose(scores, [False] * 1000, should, 0.0) is None


def test_no_threshold_is_chosen_that_nobody_passes() -> None:
    assert choose([0.0] * 1000, [False] * 1000, [True] * 1000, 0.5) is None


def test_what_an_eval_stops_for_another_reason_never_passes() -> None:
    assert passing([0.9, 0.9, 0.1], [False, True, False], 0.5) == [True, False, False]


@given(st.floats(0.001, 0.5))
def test_the_rows_that_a_limit_needs_are_the_fewest_whose_bound_keeps_it(limit: float) -> None:
    n = rows_needed(limit)
    assert n is not None
    assert wilson(0, n)[1] <= limit
    assert n == 1 or wilson(0, n - 1)[1] > limit


def test_too_few_rows_for_a_limit_are_said_with_the_number_that_is_needed(tmp_path: Path) -> None:
    found = one(written(tmp_path, rows(100)))
    assert found.threshold is None
    assert "the fit part has 50 rows, 381 are needed at least" in told(found)


def test_a_limit_that_enough_rows_keep_gives_a_threshold(tmp_path: Path) -> None:
    found = one(written(tmp_path, rows(3000)), Settings(max_false_pass=0.05))
    assert found.threshold is not None
    chosen = next(each for each in found.table if each.threshold == found.threshold)
    assert chosen.false_pass.value is not None
    assert chosen.false_pass.value <= 0.05
    assert chosen.auto_rate.value is not None
    assert chosen.auto_rate.value > 0.1


# --- what is too little -----------------------------------------------------------------------------------------------


def test_few_rows_are_unmeasured_and_no_number(tmp_path: Path) -> None:
    found = one(written(tmp_path, rows(16)))
    assert found.curve is None
    assert (found.auroc, found.before, found.after, found.band) == (None, None, None, None)
    assert "10 of each are needed" in told(found)
    assert found.to_dict()["auroc"] is None


def test_one_verdict_alone_is_unmeasured(tmp_path: Path) -> None:
    data = [{**each, "labels": {"prompt_injection": True}} for each in rows(300)]
    found = one(written(tmp_path, data))
    assert found.curve is None
    assert found.before is None
    assert "150 should pass and 0 should not" in told(found)


def test_rows_without_a_label_are_counted_and_not_asked(tmp_path: Path) -> None:
    data = [{**each, "labels": {}} if index % 2 else each for index, each in enumerate(rows(100))]
    backend = MockBackend(fn=overconfident)
    found = seen(written(tmp_path, data), backend=backend)
    assert (found.rows, found.unlabelled) == (100, 50)
    assert len(backend.calls) == 50


def test_what_is_unmeasured_is_left_out_by_its_state(tmp_path: Path) -> None:
    def silent(id: str, question: Any, state: Mapping[str, Any]) -> Any:
        return "no number" if state["request"] in ("text 0", "text 1") else overconfident(id, question, state)

    found = seen(written(tmp_path, rows(20)), backend=MockBackend(fn=silent))
    assert found.left_out["prompt_injection"] == {"error": 2}
    assert len(found.observations["prompt_injection"]) == 18


def test_what_code_decides_is_not_taken_for_the_backends(tmp_path: Path) -> None:
    data = [
        {"id": f"p{index}", "sample": {"output": f"Nothing here, {index}."}, "labels": {"pii": True}}
        for index in range(20)
    ]
    found = seen(written(tmp_path, data), [get_eval("pii")], MockBackend())
    assert found.observations["pii"] == []
    assert found.left_out["pii"] == {"by code": 20}
    assert "20 by code" in told(calibrate(found, Settings())["pii"])


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["good", "yes", "1", [True], {"value": True}, 2, -0.1])
def test_an_unknown_label_is_refused_with_file_and_line(label: Any, tmp_path: Path) -> None:
    data = rows(3)
    data[1]["labels"]["prompt_injection"] = label
    with pytest.raises(Exception, match=r"rows\.jsonl:2") as refused:
        seen(written(tmp_path, data))
    assert "label" in str(refused.value) or "option" in str(refused.value)


def test_an_option_that_a_choice_does_not_have_is_refused_with_the_nearest(tmp_path: Path) -> None:
    data = [{"id": "a", "sample": {"input": "q", "output": "a"}, "labels": {"refusal": "over_refused"}}]
    with pytest.raises(Exception, match="over_refusal"):
        seen(written(tmp_path, data), [get_eval("refusal")])


def test_a_number_is_a_label_by_the_evals_own_threshold(tmp_path: Path) -> None:
    data = [{"id": "a", "sample": {"input": "q", "output": "a", "expected": "b"}, "labels": {"correctness": 0.6}},
            {"id": "b", "sample": {"input": "r", "output": "a", "expected": "b"}, "labels": {"correctness": 0.7}}]  # fmt: skip
    found = seen(written(tmp_path, data), [get_eval("correctness")], MockBackend({"*": 2}))
    assert sorted(each.should for each in found.observations["correctness"]) == [False, True]


def test_an_option_is_a_label_by_whether_it_is_a_good_one(tmp_path: Path) -> None:
    labels = ["answered", "over_refusal", "warranted_refusal", "partial"]
    data = [{"id": each, "sample": {"input": each, "output": "a"}, "labels": {"refusal": each}} for each in labels]
    found = seen(written(tmp_path, data), [get_eval("refusal")], MockBackend({"refusal.*": "answered"}))
    assert sorted(each.should for each in found.observations["refusal"]) == [False, True, True, True]


# --- the thresholds that evals have (weakness 28) ---------------------------------------------------------------------


def test_the_own_verdicts_of_tool_call_risk_are_those_of_its_three_thresholds(tmp_path: Path) -> None:
    """Its score is p(approve), its threshold 0.85 and not 0.5, and an argument without a source stops it whatever the score."""
    data = [
        {"id": f"t{index}", "sample": {"input": f"text {index}", "tool_call": {"name": "f", "args": {"n": index}}},
         "labels": {"tool_call_risk": index % 2 == 0}} for index in range(60)
    ]  # fmt: skip

    def answers(id: str, question: Any, state: Mapping[str, Any]) -> Any:
        index = state["tool_call"]["args"]["n"]
        if id.endswith("grounded"):
            return 0.1 if index % 10 == 0 else 0.95
        if id.endswith("destructive"):
            return 0.1
        p = 0.95 if index % 2 == 0 else 0.7
        return {"approve": p, "escalate": 1 - p, "block": 0.0}

    found = seen(written(tmp_path, data), [get_eval("tool_call_risk")], MockBackend(fn=answers))
    observed = found.observations["tool_call_risk"]
    assert {each.score for each in observed} == {0.95, 0.7}
    assert {each.passed for each in observed if each.score == 0.7} == {False}
    stopped = [each for each in observed if each.score == 0.95 and not each.passed]
    assert len(stopped) == 6
    assert all(each.vetoed for each in stopped)


def test_personal_data_have_a_curve_of_probabilities_and_not_of_0_and_1(tmp_path: Path) -> None:
    data = [{"id": f"p{index}", "sample": {"output": f"Write to user{index}@example.com."}, "labels": {"pii": index % 3 == 0}}
            for index in range(60)]  # fmt: skip

    def answers(id: str, question: Any, state: Mapping[str, Any]) -> Any:
        return 0.9 if id.endswith("enough") else 0.2 + 0.6 * random.Random(id + str(len(str(state)))).random()

    found = seen(written(tmp_path, data), [get_eval("pii")], MockBackend(fn=answers))
    scores = {each.score for each in found.observations["pii"]}
    assert scores
    assert scores.isdisjoint({0.0, 1.0})


def test_settings_are_checked() -> None:
    for wrong in ({"fit": "beta"}, {"split": 0}, {"split": 1}, {"max_false_pass": -1}, {"sure": 0.4}):
        with pytest.raises((ValueError, UsageError)):
            Settings(**wrong)
