"""The suite's parts by the conformance kit, and what its metrics say of outcomes that are known."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import Answer, Measurements, Outcome, Sample
from yb_eval.testing import check_dataset, check_evaluator, check_metric, check_suite
from yb_eval_guards.answers import mask, read_findings, without_data
from yb_eval_guards.corpora import CORPORA, OWN
from yb_eval_guards.dataset import GuardRow, corpus_dataset, revision_dataset
from yb_eval_guards.evaluator import GuardEvaluator, ScannerTarget
from yb_eval_guards.metrics import guard_metrics
from yb_eval_guards.scanner import Scanner
from yb_eval_guards.suite import Options, yb_eval_suite


def outcome(number, labelled, *found, tags=(), status="scored"):
    """A row of the type `labelled` (`clean` for none) in which `found` were found."""
    sample = Sample(f"s{number:03}", None, tuple(tags))
    expected = "clean" if labelled == "clean" else "detect"
    if status == "error":
        return Outcome.error(sample, "broke off", expected=expected, details={"type": labelled})
    details = {"type": labelled}
    if found:
        shown = [{"type": type, "start": 0, "end": 9, "masked": "*" * 9} for type in found]
        details |= {"found": sorted(set(found)), "findings": shown}
    predicted = "detect" if found else "clean"
    return Outcome(
        sample.id, "scored", predicted == expected, expected, predicted, tags=sample.tags, details=details
    )  # fmt: skip


OUTCOMES = [
    outcome(1, "pan", "pan", tags=("lang:en", "kind:positive")),
    outcome(2, "pan", "pan", "inn", tags=("lang:ru", "kind:positive")),
    outcome(3, "pan", "inn", tags=("lang:ru", "kind:positive")),
    outcome(4, "pan", tags=("lang:en", "kind:positive")),
    outcome(5, "inn", "inn", tags=("lang:ru", "kind:positive")),
    outcome(6, "inn", status="error", tags=("lang:ru", "kind:positive")),
    outcome(7, "clean", tags=("lang:ru", "kind:benign")),
    outcome(8, "clean", "injection", tags=("lang:en", "kind:benign")),
    outcome(9, "clean", "pan", tags=("lang:en", "kind:decoy")),
    outcome(10, "clean", tags=("lang:en", "kind:decoy")),
]


def measured(outcomes):
    made = Measurements(
        each for metric in guard_metrics() for each in metric.finish(metric.add(metric.start(), outcomes))
    )
    return {name: each.value for name, each in made.items()}, made


def test_detection_counts_rows_whatever_the_type_found():
    values, _ = measured(OUTCOMES)
    assert {name: values[name] for name in ("tp", "fp", "fn", "tn")} == {"tp": 4, "fp": 2, "fn": 1, "tn": 2}
    assert values["precision"] == pytest.approx(4 / 6)
    assert values["recall"] == pytest.approx(4 / 5)
    assert values["specificity"] == pytest.approx(2 / 4)
    assert values["f2"] == pytest.approx(5 * 4 / (5 * 4 + 4 * 1 + 2))


def test_every_rate_has_its_denominator_and_a_95_percent_interval():
    _, made = measured(OUTCOMES)
    for name in ("precision", "recall", "f1", "f2", "specificity", "over_defence_rate", "cross_type_rate"):
        low, high = made[name].interval
        assert 0 <= low <= made[name].value <= high <= 1
        assert made[name].n > 0


def test_a_type_is_measured_one_against_the_rest():
    """Row 2 is labelled as a card: the INN beside it counts neither way. Row 3 is a card missed and a false INN."""
    values, _ = measured(OUTCOMES)
    of = {
        name: [values[f"{part}[type:{name}]"] for part in ("tp", "fp", "fn", "tn")]
        for name in ("pan", "inn", "injection")
    }
    assert of == {"pan": [2, 1, 2, 4], "inn": [1, 1, 0, 7], "injection": [0, 1, 0, 8]}
    assert values["precision[type:pan]"] == pytest.approx(2 / 3)
    assert values["recall[type:injection]"] is None
    assert "recall[type:clean]" not in values


def test_types_mixed_up_are_seen_though_the_row_counts_as_detected():
    values, made = measured(OUTCOMES)
    assert values["cross_type_rate"] == pytest.approx(1 / 4)
    details = made["cross_type_rate"].details
    table = {
        (expected, said): count
        for expected, row in zip(details["labels"], details["rows"], strict=True)
        for said, count in zip(details["labels"], row, strict=True)
        if count
    }
    assert table == {("pan", "pan"): 2, ("pan", "inn"): 1, ("inn", "inn"): 1}


def test_slices_are_measured_per_language_and_tag():
    values, _ = measured(OUTCOMES)
    assert values["recall[lang:ru]"] == 1.0
    assert values["recall[lang:en]"] == pytest.approx(1 / 2)
    assert values["specificity[kind:decoy]"] == pytest.approx(1 / 2)
    assert values["fp[kind:benign]"] == 1


def test_a_slice_without_positives_or_without_negatives_has_no_precision():
    _, made = measured(OUTCOMES)
    for name, reason in (
        ("precision[kind:positive]", "the slice has no clean rows"),
        ("precision[kind:decoy]", "the slice has nothing to detect"),
        ("f1[kind:decoy]", "the slice has nothing to detect"),
    ):
        assert (made[name].value, made[name].reason) == (None, reason)


def test_over_defence_is_of_benign_rows_where_some_are_so_tagged_and_of_all_clean_ones_otherwise():
    values, made = measured(OUTCOMES)
    assert (values["over_defence_rate"], made["over_defence_rate"].n) == (1 / 2, 2)
    untagged = [outcome(1, "clean"), outcome(2, "clean", "pan"), outcome(3, "clean"), outcome(4, "pan", "pan")]
    values, made = measured(untagged)
    assert (values["over_defence_rate"], made["over_defence_rate"].n) == (1 / 3, 3)


def test_mistakes_are_listed_by_id_and_masked():
    _, made = measured(OUTCOMES)
    assert made["mistakes"].value == 3
    assert made["mistakes"].details == {
        "false_positives": [
            {"id": "s008", "found": [{"type": "injection", "masked": "*********"}]},
            {"id": "s009", "found": [{"type": "pan", "masked": "*********"}]},
        ],
        "false_negatives": [{"id": "s004", "type": "pan"}],
    }


def test_errors_are_neither_misses_nor_passes():
    values, _ = measured([outcome(1, "pan", status="error"), outcome(2, "clean", status="error")])
    assert all(values[name] is None for name in ("tp", "precision", "recall", "over_defence_rate", "cross_type_rate"))
    assert values["mistakes"] == 0


@pytest.mark.parametrize("metric", guard_metrics(), ids=lambda metric: type(metric).__name__)
def test_metrics_keep_the_laws(metric):
    rng = random.Random(3)
    types = ("pan", "inn", "secret", "clean")
    many = [
        outcome(
            number, rng.choice(types), *rng.sample(types[:3], rng.randrange(3)),
            tags=(f"lang:{rng.choice(('en', 'ru'))}", f"kind:{rng.choice(('benign', 'decoy'))}"),
        )
        for number in range(600)
    ]  # fmt: skip
    check_metric(metric, many)
    check_metric(metric, OUTCOMES)


@pytest.mark.parametrize("options", [Options(), Options(corpus="notinject"), Options(strength="warn", bound="lower")])
def test_the_suite_keeps_the_promises(options):
    check_suite(yb_eval_suite(), options, limit=60)


def test_the_datasets_keep_the_promises(tmp_path):
    for corpus in (OWN, *CORPORA.values()):
        check_dataset(corpus_dataset(corpus.path, None))
    row = {"text": "hello", "type": "clean", "expect": "clean"}
    document = {"schema_version": 1, "dataset_id": "d", "samples": [{"id": f"s{i}", "payload": row} for i in range(9)]}
    path = tmp_path / "revision.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    check_dataset(revision_dataset(path))


class _Quoted:
    """A target that hands out what `ScannerTarget` answers, as the cache and a recording do."""

    def __init__(self, target):
        self._target = target
        self.spec, self.fingerprint = target.spec, target.fingerprint
        self.batch_size, self.concurrency = 100, "threads"

    def ask(self, requests, *, repeat=0):
        return [Answer(json.loads(json.dumps(answer.value))) for answer in self._target.ask(requests)]

    def close(self):
        pass


def test_outcomes_are_the_same_through_answers_as_without():
    samples = [sample for batch in corpus_dataset(OWN.path, None).open().samples(500) for sample in batch]
    target = ScannerTarget(Scanner(strength="warn"))
    direct, quoted = GuardEvaluator(target), GuardEvaluator(_Quoted(target))
    assert list(direct.evaluate(samples)) == list(quoted.evaluate(samples))
    check_evaluator(quoted, samples[::40])


def test_a_target_that_fails_is_an_error_of_its_row():
    class Failing(_Quoted):
        def ask(self, requests, *, repeat=0):
            return [Answer(None, "ValueError: cannot read 4111 1111 1111 1111") for _ in requests]

    sample = Sample("a", GuardRow(text="card 4111 1111 1111 1111", type="pan", expect="detect"))
    (made,) = GuardEvaluator(Failing(ScannerTarget(Scanner()))).evaluate([sample])
    assert (made.status, made.reason) == ("error", "ValueError: cannot read ****************")


@given(st.text(min_size=1), st.integers(-3, 40), st.integers(-3, 40))
def test_a_place_is_taken_if_and_only_if_it_is_in_the_text(text, start, end):
    answer = {"findings": [{"type": "pan", "start": start, "end": end}]}
    if 0 <= start < end <= len(text):
        assert read_findings(answer, text) == answer["findings"]
    else:
        with pytest.raises(Exception, match=r"findings\[0\]: -?\d+\.\.-?\d+ is no place"):
            read_findings(answer, text)


@given(st.sampled_from(["pan", "inn", "secret", "made-up"]), st.text(min_size=1))
def test_a_mask_shows_two_characters_at_most(type, datum):
    masked = mask(type, datum)
    shown = masked.strip("*")
    assert len(masked) <= 16
    assert shown == "" or (len(shown) <= 2 and datum.endswith(shown) and type in ("pan", "inn"))


@given(st.integers(10**7, 10**19), st.sampled_from(["{}", "bad value '{}'", "at [{}], said {}!", "x={}"]))
def test_a_failure_never_repeats_a_number_of_the_text(number, message):
    reason = without_data(message.format(number, number), f"the number {number} stands here")
    assert str(number) not in reason
