"""Baselines: saved on purpose only, readable in a diff, compared sample by sample."""

import json

import pytest


def test_a_run_against_its_own_baseline_has_no_change(project, parity_rows):
    project.rows(parity_rows(30, wrong=2))
    project.report("toy", "--save", "base.json")
    report = project.report("toy", "--against", "base.json", "--gate", "changed == 0", "--gate", "no_worse(accuracy)")
    compared = report["suites"][0]["comparison"]
    assert (compared["shared"], compared["same_revision"], compared["flips"]) == (30, True, [])
    assert report["suites"][0]["measurements"]["changed"]["value"] == 0


def test_a_baseline_file_has_one_sorted_line_per_sample(project, parity_rows):
    project.rows(reversed(list(parity_rows(12))))
    project.report("toy", "--save", "base.json")
    text = (project.folder / "base.json").read_text()
    lines = [line for line in text.splitlines() if line.startswith('"r')]
    assert lines == sorted(lines) and len(lines) == 12
    assert json.loads(text)["samples"]["r0"] == ["scored", True, "odd"]
    before = text.splitlines()
    project.rows([*list(parity_rows(12))[:11], {"id": "r11", "text": "xxxx", "parity": "even"}])
    project.report("toy", "--save", "base.json")
    after = (project.folder / "base.json").read_text().splitlines()
    assert len(set(after) - set(before)) <= 4, "one sample, and the head"


def swapped(rows, ids):
    """The same rows with another text in some, so that the toy's answer to them flips."""
    return [{**row, "text": row["text"] + "x"} if row["id"] in ids else row for row in rows]


def test_a_regression_is_found_pair_by_pair_even_where_the_total_is_the_same(project, parity_rows):
    rows = list(parity_rows(40))
    project.rows(swapped(rows, {"r1", "r2"}))
    project.report("toy", "--save", "base.json")
    project.rows(swapped(rows, {"r3", "r4"}))
    report = project.report("toy", "--against", "base.json", "--gate", "broken == 0", code=1)
    suite = report["suites"][0]
    assert suite["comparison"]["measurements"]["accuracy"]["change"] == 0
    assert sorted((f["id"], f["kind"]) for f in suite["comparison"]["flips"]) == [
        ("r1", "fixed"), ("r2", "fixed"), ("r3", "broken"), ("r4", "broken"),
    ]  # fmt: skip
    assert suite["comparison"]["same_revision"] is False


def test_no_worse_fails_on_a_significant_drop_only(project, parity_rows):
    rows = list(parity_rows(60))
    project.rows(rows)
    project.report("toy", "--save", "base.json")
    few, many = {f"r{i}" for i in range(3)}, {f"r{i}" for i in range(20)}
    arguments = ["toy", "--against", "base.json", "--min-accuracy", 0, "--gate", "no_worse(accuracy)"]
    project.rows(swapped(rows, few))
    project.report(*arguments)
    project.rows(swapped(rows, many))
    report = project.report(*arguments, code=1)
    assert "McNemar" in report["suites"][0]["gates"][-1]["reason"]


@pytest.mark.parametrize(
    "gate", ["changed == 0", "no_worse(accuracy)", "accuracy >= baseline.accuracy", "same_revision == 1"]
)
def test_a_comparison_without_a_baseline_is_unmeasured(project, parity_rows, gate):
    project.rows(parity_rows(10))
    report = project.report("toy", "--gate", gate, code=3)
    assert "baseline" in report["suites"][0]["gates"][-1]["reason"]


def test_a_baseline_without_a_shared_sample_is_unmeasured(project, parity_rows):
    project.rows(parity_rows(10))
    project.report("toy", "--save", "base.json")
    project.rows({**row, "id": "n" + row["id"]} for row in parity_rows(10))
    report = project.report("toy", "--against", "base.json", "--gate", "changed == 0", code=3)
    assert "share no sample" in report["suites"][0]["gates"][-1]["reason"]


def test_only_the_shared_samples_are_compared_and_a_gate_can_demand_the_same_revision(project, parity_rows):
    rows = list(parity_rows(20))
    project.rows(rows)
    project.report("toy", "--save", "base.json")
    project.rows([*rows[5:], {"id": "new", "text": "xx", "parity": "even"}])
    report = project.report("toy", "--against", "base.json", "--gate", "same_revision == 1", code=1)
    compared = report["suites"][0]["comparison"]
    assert (compared["shared"], compared["added"], len(compared["removed"])) == (15, ["new"], 5)


def test_a_baseline_is_never_moved_by_a_run_that_failed_or_erred(project, parity_rows):
    project.rows(parity_rows(20))
    project.report("toy", "--save", "base.json")
    before = (project.folder / "base.json").read_bytes()
    project.rows(parity_rows(20, wrong=15))
    assert "was not saved: the run's verdict is fail" in project("run", "toy", "--save", "base.json", code=1).stderr
    project.rows([*parity_rows(20), {"id": "b", "text": "boom", "parity": "odd"}])
    said = project("run", "toy", "--save", "base.json", "--max-errors", 1).stderr
    assert "was not saved: the run has errors" in said
    project("run", "toy", "--save", "base.json", code=3)
    assert (project.folder / "base.json").read_bytes() == before


def test_a_forced_baseline_keeps_the_reason(project, parity_rows):
    project.rows(parity_rows(20, wrong=15))
    project("run", "toy", "--save", "base.json", "--force", "new labels, see the issue", code=1)
    assert json.loads((project.folder / "base.json").read_text())["forced"] == "new labels, see the issue"


def test_a_baseline_of_another_suite_or_no_baseline_at_all_is_refused(project, parity_rows):
    project.rows(parity_rows(20))
    project.report("toy", "--save", "base.json")
    document = json.loads((project.folder / "base.json").read_text())
    project.write("other.json", json.dumps({**document, "suite": "guards"}))
    assert "of the suite 'guards'" in project("run", "toy", "--against", "other.json", code=2).stderr
    for broken in ("{}", "[1]", '{"schema": "yb-eval/baseline/1"}', "not json"):
        project.write("broken.json", broken)
        assert "not a baseline" in project("run", "toy", "--against", "broken.json", code=2).stderr


def test_save_without_a_path_goes_to_the_baseline_compared_with_else_to_the_default(project, parity_rows):
    project.rows(parity_rows(20))
    project("run", "toy", "--save")
    assert (project.folder / "baselines" / "toy.json").is_file()
    project("run", "toy", "--save", "mine.json")
    project("run", "toy", "--against", "mine.json", "--save")
    assert json.loads((project.folder / "mine.json").read_text())["run_id"] != json.loads((project.folder / "baselines/toy.json").read_text())["run_id"]  # fmt: skip


def test_a_run_can_be_the_baseline(project, parity_rows):
    project.rows(parity_rows(20))
    first = project.report("toy")["run_id"]
    report = project.report("toy", "--against", first[:10], "--gate", "changed == 0")
    assert report["suites"][0]["comparison"]["baseline_run_id"] == first


def test_compare_lists_what_flipped(project, parity_rows):
    rows = list(parity_rows(20))
    project.rows(rows)
    project.report("toy", "--save", "a.json")
    project.rows(swapped(rows, {"r7"}))
    project.report("toy")
    text = project("compare", "a.json", "latest").stdout
    assert "1 broken, 0 fixed" in text and "r7" in text and "accuracy: 1 -> 0.95" in text
    document = json.loads(project("compare", "a.json", "latest", "--json").stdout)
    assert document["flips"][0]["id"] == "r7"


def test_compare_of_runs_without_a_shared_sample_ends_with_3(project, parity_rows):
    project.rows(parity_rows(5))
    project.report("toy", "--save", "a.json")
    project.rows({**row, "id": "n" + row["id"]} for row in parity_rows(5))
    project.report("toy")
    assert "not comparable" in project("compare", "a.json", "latest", code=3).stdout


def test_forcing_a_baseline_needs_a_reason(project, parity_rows):
    project.rows(parity_rows(10, wrong=9))
    assert "needs a reason" in project("run", "toy", "--save", "base.json", "--force", " ", code=2).stderr
    assert not (project.folder / "base.json").exists()


def test_revisions_that_differ_in_line_ends_only_are_said_to(project, parity_rows):
    """Whichever of the two the baseline was made from."""
    project.rows(parity_rows(12))
    lf = (project.folder / "rows.jsonl").read_bytes()
    crlf = lf.replace(b"\n", b"\r\n")
    for saved, compared in ((lf, crlf), (crlf, lf)):
        project.write("rows.jsonl", saved)
        project.report("toy", "--save", "base.json")
        project.write("rows.jsonl", compared)
        suite = project.report("toy", "--against", "base.json")["suites"][0]
        assert any("line ends only" in note for note in suite["notes"])
        assert suite["comparison"]["same_revision"] is False
    project.write("rows.jsonl", lf.replace(b"r11", b"r12"))
    notes = project.report("toy", "--against", "base.json")["suites"][0]["notes"]
    assert not any("line ends only" in note for note in notes)
