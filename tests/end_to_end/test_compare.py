"""`yb-eval compare`: changes with the intervals of their pairs, and which of a composed run's parts is meant."""

import json

import pytest

from yb_eval.model import Comparison, Paired
from yb_eval.record.changes import Change, Pairing, changes, pairings, smallest_seen
from yb_eval.statistics import mcnemar_exact, minimum_detectable_change, paired_rate_interval


def flipped(rows, ids):
    """The same rows with another text in some, so that the toy's answer to them flips."""
    return [{**row, "text": row["text"] + "x"} if row["id"] in ids else row for row in rows]


def compared(project, *arguments, **named):
    return json.loads(project("compare", *arguments, "--json", **named).stdout)


@pytest.fixture
def saved(project, parity_rows):
    """Two baseline files over the same forty samples: in the second, five are broken and one is fixed."""
    rows = list(parity_rows(40))
    project.rows(flipped(rows, {"r20"}))
    project.report("toy", "--save", "a.json")
    project.rows(flipped(rows, {f"r{i}" for i in range(5)}))
    project.report("toy", "--save", "b.json", "--min-accuracy", 0.5)
    return project


def strip(project, name):
    """The baseline file as it was written before it had pairings."""
    document = json.loads((project.folder / name).read_text(encoding="utf-8"))
    for entry in document["measurements"].values():
        entry.pop("pairing", None)
        entry.pop("judgement", None)
    project.write(name, json.dumps(document))


def test_a_change_comes_with_the_interval_of_its_pairs_and_what_would_go_unseen(saved):
    document = compared(saved, "a.json", "b.json")
    (accuracy,) = (one for one in document["measurements"] if one["name"] == "accuracy")
    assert (accuracy["before"], accuracy["after"]) == (39 / 40, 35 / 40)
    assert accuracy["change"] == pytest.approx(-4 / 40)
    assert accuracy["interval"] == pytest.approx(paired_rate_interval(5, 1, 40))
    pair = document["judgements"][""]
    assert (pair["broken"], pair["fixed"], pair["n"]) == (5, 1, 40)
    assert pair["p_value"] == pytest.approx(mcnemar_exact(5, 1))
    assert pair["interval"] == pytest.approx(paired_rate_interval(5, 1, 40))
    least = minimum_detectable_change(40, 6 / 40)
    assert pair["minimum_detectable_change"] == document["minimum_detectable_change"] == pytest.approx(least)


def test_the_text_has_what_the_json_has(saved):
    low, high = paired_rate_interval(5, 1, 40)
    text = saved("compare", "a.json", "b.json").stdout
    assert f"5 broken, 1 fixed, 6 changed, 0 lost (McNemar p={mcnemar_exact(5, 1):.3g})" in text
    assert f"right -0.1, 95 % {low:+.4g}..{high:+.4g} of 40 pairs" in text
    assert f"a change under {minimum_detectable_change(40, 6 / 40):.3g} would go unseen" in text
    assert f"accuracy: 0.975 -> 0.875 (-0.1, 95 % {low:+.4g}..{high:+.4g})" in text


def test_a_slice_has_no_interval_of_the_whole(saved):
    sliced = [one for one in compared(saved, "a.json", "b.json")["measurements"] if "[" in one["name"]]
    assert sliced and all(one["interval"] is None for one in sliced)


def test_a_total_that_stands_still_is_shown_with_its_interval(project, parity_rows):
    rows = list(parity_rows(40))
    for name, ids in (("a.json", {"r1", "r2"}), ("b.json", {"r3", "r4"})):
        project.rows(flipped(rows, ids))
        project.report("toy", "--save", name)
    assert "accuracy: 0.95 -> 0.95 (+0, 95 % " in project("compare", "a.json", "b.json").stdout


@pytest.mark.parametrize(("old", "paired"), [(["a.json"], True), (["b.json"], True), (["a.json", "b.json"], False)])
def test_a_baseline_without_pairings_still_reads_and_the_other_side_says_how_to_pair(saved, old, paired):
    for name in old:
        strip(saved, name)
    (accuracy,) = (one for one in compared(saved, "a.json", "b.json")["measurements"] if one["name"] == "accuracy")
    assert accuracy["change"] == pytest.approx(-4 / 40)
    assert (accuracy["interval"] is not None) is paired


def test_a_baseline_file_has_the_pairing_and_the_judgement_of_a_measurement(saved):
    measured = json.loads((saved.folder / "a.json").read_text(encoding="utf-8"))["measurements"]
    assert (measured["accuracy"]["pairing"], measured["accuracy"]["judgement"]) == ("correct", None)
    assert "pairing" not in measured["coverage"]


def test_a_pairing_that_is_none_is_refused(saved):
    text = (saved.folder / "a.json").read_text(encoding="utf-8")
    saved.write("a.json", text.replace('"pairing":"correct"', '"pairing":"luck"'))
    assert "not a baseline: accuracy is paired by 'luck'" in saved("compare", "a.json", "b.json", code=2).stderr


def test_added_and_removed_samples_are_named_and_totals_over_other_samples_do_not_subtract(project, parity_rows):
    rows = list(parity_rows(30))
    project.rows(rows)
    project.report("toy", "--save", "a.json")
    added = [{"id": f"new{i}", "text": "xx", "parity": "odd"} for i in range(8)]
    project.rows([*flipped(rows[2:], {"r5"}), *added])
    project.report("toy", "--save", "b.json", "--min-accuracy", 0.5)
    document = compared(project, "a.json", "b.json")
    assert document["added"] == sorted(row["id"] for row in added) and document["removed"] == ["r0", "r1"]
    by_name = {one["name"]: one for one in document["measurements"]}
    assert by_name["accuracy"]["after"] == 27 / 36
    assert by_name["accuracy"]["change"] == pytest.approx(-1 / 28), "the change of the pairs, not of the totals"
    assert by_name["accuracy"]["interval"] == pytest.approx(paired_rate_interval(1, 0, 28))
    assert by_name["accuracy[mod:2]"]["change"] is None
    text = project("compare", "a.json", "b.json").stdout
    assert "  added   new0, new1, new2, new3, new4 and 3 more\n" in text
    assert "  removed r0, r1\n" in text
    assert "(over other samples)" in text


# Which part of a composed run


@pytest.fixture
def composed(project, parity_rows):
    """One suite under two names, over datasets of 20 and of 12 samples."""
    project.rows(parity_rows(20))
    project.rows(parity_rows(12, wrong=1), "other.jsonl")
    project.write(
        "yb-eval.toml",
        '[suites.toy]\nrows = "rows.jsonl"\n[suites.second]\nsuite = "toy"\nrows = "other.jsonl"\nmin-accuracy = 0.8\n',
    )
    project.report()
    return project


@pytest.mark.parametrize(("name", "shared"), [("toy", 20), ("second", 12)])
def test_compare_takes_the_part_of_that_name(composed, name, shared):
    document = compared(composed, "latest", "latest", "--suite", name)
    assert (document["suite"], document["name"], document["shared"]) == ("toy", name, shared)


def test_each_part_is_held_against_its_own_name_in_the_latest_run(composed):
    report = composed.report("--against", "latest", "--gate", "same_revision == 1", "--gate", "changed == 0")
    assert [(one["name"], one["comparison"]["shared"]) for one in report["suites"]] == [("toy", 20), ("second", 12)]


def test_compare_says_which_names_there_are_to_choose_from(composed):
    said = composed("compare", "latest", "latest", code=2).stderr
    assert "second, toy" in said and "--suite" in said


def test_a_part_alone_is_compared_with_its_namesake(composed):
    whole = compared(composed, "latest", "latest", "--suite", "second")["baseline_run_id"]
    composed.report("--only", "second", "--save", "second.json")
    both = composed.report()["run_id"]
    assert compared(composed, both, "second.json")["shared"] == 12
    document = compared(composed, "second.json", both)
    assert (document["name"], document["shared"], document["baseline_run_id"]) == ("second", 12, whole)


def test_the_only_part_of_a_suite_is_taken_whatever_its_name(composed):
    first = composed.report("--only", "second")["run_id"]
    composed.write("yb-eval.toml", '[suites.third]\nsuite = "toy"\nrows = "other.jsonl"\nmin-accuracy = 0.8\n')
    report = composed.report("--against", first, "--gate", "changed == 0")
    assert report["suites"][0]["comparison"]["shared"] == 12
    for arguments in ((), ("--suite", "toy"), ("--suite", "third")):
        assert compared(composed, first, "latest", *arguments)["shared"] == 12


def test_a_name_that_the_other_run_has_not_is_refused_where_two_parts_could_be_meant(composed):
    composed.write("yb-eval.toml", '[suites.third]\nsuite = "toy"\nrows = "other.jsonl"\nmin-accuracy = 0.8\n')
    said = composed("run", "--against", "latest", code=2).stderr
    assert "2 runs of the suite 'toy', none named 'third': toy, second" in said
    assert "no run of the suite 'none'" in composed("compare", "latest", "latest", "--suite", "none", code=2).stderr


# The arithmetic


def comparison(added=(), **judgements):
    found = {name.removeprefix("_"): pair for name, pair in judgements.items()}
    return Comparison(True, None, "x", True, 10, tuple(added), (), found, ())


SCORED = Paired(10, 0, 0, 4, 0, 1.0, None, score_change=0.2, score_interval=(0.1, 0.3))
RIGHT = Paired(10, 3, 1, 4, 0, 0.6, (-0.5, 0.2))


def test_a_score_is_paired_by_score_and_of_its_judgement():
    found = comparison(_=RIGHT, severity=SCORED)
    by = {"mae": Pairing("score", "severity"), "accuracy": Pairing("correct")}
    before, after = {"mae": 1.0, "accuracy": 0.9, "gone": 1.0}, {"accuracy": 0.7, "mae": 1.5, "free": 2.0}
    assert list(changes(before, after, by, found)) == [
        Change("accuracy", 0.9, 0.7, pytest.approx(-0.2), (-0.5, 0.2)),
        Change("mae", 1.0, 1.5, 0.5, (0.1, 0.3)),
    ]
    over_others = list(changes(before, after, by, comparison(["new"], _=RIGHT, severity=SCORED)))
    assert [one.change for one in over_others] == [-0.2, 0.2]


def test_an_unmeasured_number_does_not_change():
    by = {"accuracy": Pairing("correct")}
    assert list(changes({"accuracy": None}, {"accuracy": 0.5}, by, comparison(_=RIGHT))) == [
        Change("accuracy", None, 0.5, None, None)
    ]


def test_scores_alone_say_nothing_of_what_a_rate_would_show():
    assert smallest_seen(SCORED) is None and smallest_seen(None) is None
    assert smallest_seen(RIGHT) == minimum_detectable_change(10, 0.4)


def test_pairings_are_read_from_what_a_report_declares():
    declared = {"a": {"pairing": "score", "judgement": "s"}, "b": {"pairing": None, "judgement": None}, "c": {}}
    assert pairings(declared) == {"a": Pairing("score", "s")}
    with pytest.raises(ValueError, match="c is paired by 'x'"):
        pairings({"c": {"pairing": "x"}})
