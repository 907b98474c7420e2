"""`yb-eval annotate`: workflow commands at the lines of the dataset file, whatever the data holds."""

import json
import re

import pytest

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*(?:%3A[^:]*)*)::(.*)\Z")


def annotate(project, *arguments, **env):
    """The annotations as (kind, properties, message), unescaped as the runner does."""
    return [parse(line) for line in project("annotate", *arguments, **env).stdout.splitlines()]


def parse(line):
    found = COMMAND.match(line)
    assert found is not None, line
    properties = dict(pair.split("=", 1) for pair in found[2].split(","))
    return found[1], {name: unescape(value) for name, value in properties.items()}, unescape(found[3])


def unescape(text):
    for escaped, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escaped, character)
    return text


def lines_of(found, kind="error"):
    return [(p["file"], int(p["line"])) for k, p, _ in found if k == kind and "line" in p]


def failing(project, rows, *arguments):
    """Twenty samples of which the first four are wrong, and a blank line after the second."""
    path = project.rows(rows(20, wrong=4), "data/rows.jsonl")
    text = path.read_text().split("\n")
    path.write_text("\n".join([*text[:2], "", *text[2:]]))
    project("run", "toy", "--rows", "data/rows.jsonl", *arguments, code=1)


def test_wrong_samples_are_errors_at_their_lines(project, rows):
    failing(project, rows)
    found = annotate(project)
    assert lines_of(found) == [("data/rows.jsonl", line) for line in (1, 2, 4, 5)]
    assert found[0][1]["title"] == "toy: gate fail" and "accuracy" in found[0][2] and "file" not in found[0][1]
    assert found[1][2] == "r0: expected even, got odd"


def test_the_file_is_found_by_its_bytes_under_whatever_name(project, rows):
    failing(project, rows)
    (project.folder / "data" / "rows.jsonl").rename(project.folder / "data" / "moved.jsonl")
    assert lines_of(annotate(project))[0] == ("data/moved.jsonl", 1)


def test_a_file_that_is_not_the_evaluated_one_is_not_annotated(project, rows):
    failing(project, rows)
    path = project.folder / "data" / "rows.jsonl"
    path.write_text(path.read_text().replace("r19", "r91"))
    found = annotate(project)
    assert len(found) == 5 and lines_of(found) == []


def test_a_checkout_elsewhere_and_a_report_from_a_file(project, rows):
    failing(project, rows, "--report", "json=out/report.json", "--outcomes", "out/outcomes/toy.jsonl")
    found = annotate(project, "out/report.json", "--checkout", "data")
    assert lines_of(found)[0] == ("rows.jsonl", 1)


def test_there_are_at_most_ten_and_a_notice_says_how_many_more(project, rows):
    project.rows(rows(60, wrong=33))
    project("run", "toy", code=1)
    found = annotate(project)
    assert [kind for kind, _, _ in found] == ["error"] * 10 + ["notice"]
    assert "24 more samples" in found[-1][2], "nine of 33 stand beside the gate"


def test_since_a_baseline_only_what_broke_is_annotated(project, rows):
    project.rows(rows(20, wrong=3))
    project("run", "toy", "--save", "base.json", "--force", "a test", code=1)
    made = list(rows(20, wrong=3))
    made[10]["text"] += "x"
    project.rows(made)
    project("run", "toy", "--against", "base.json", code=1)
    found = annotate(project)
    assert lines_of(found) == [("rows.jsonl", 11)] and found[-1][1]["title"] == "toy: broken"


def test_what_broke_in_a_run_that_passed_is_a_warning(project, rows):
    project("run", "toy", "--save", "base.json")
    made = list(rows(20))
    made[7]["text"] += "x"
    project.rows(made)
    project("run", "toy", "--against", "base.json")
    assert lines_of(annotate(project), "warning") == [("rows.jsonl", 8)]


def test_a_run_without_fault_has_no_annotation(ran):
    assert annotate(ran) == []


def test_errors_of_the_system_are_annotated_too(project, rows):
    made = list(rows(20))
    made[3]["text"] = "boom"
    project.rows(made)
    project("run", "toy", code=3)
    found = annotate(project)
    assert lines_of(found) == [("rows.jsonl", 4)] and "boom" in found[-1][2]


def test_a_json_document_and_a_table_have_lines_too(project, rows):
    listed = list(rows(6, wrong=2))
    project.write("rows.json", json.dumps(listed, indent=1))
    project("run", "toy", "--rows", "rows.json", code=1)
    text = (project.folder / "rows.json").read_text().split("\n")
    assert lines_of(annotate(project)) == [("rows.json", text.index(f'  "id": "r{i}",') + 1) for i in (0, 1)]
    table = [",".join(row[key] for key in ("id", "text", "parity")) for row in listed]
    project.write("rows.csv", "\n".join(["id,text,parity", *table, ""]))
    project("run", "toy", "--rows", "rows.csv", code=1)
    assert lines_of(annotate(project)) == [("rows.csv", 2), ("rows.csv", 3)]


@pytest.mark.parametrize(
    "name",
    [
        "a::error::b",
        "::set-output name=x::y",
        "##[error]x",
        "100%0Aforged",
        "a,line=9",
        "a:b",
        "\u2028::error::x",
        "\u202eabc",
    ],
)
def test_hostile_ids_stay_one_annotation(project, name):
    if "\u2028" in name:
        name = "x" + name  # an id may not begin so; inside, it may not be either
        project.rows([{"id": name, "text": "x", "parity": "even"}])
        project("run", "toy", code=2)
        return
    project.rows([{"id": name, "text": "x", "parity": "even"}])
    project("run", "toy", code=1)
    found = annotate(project)
    assert [kind for kind, _, _ in found] == ["error", "error"]
    assert lines_of(found) == [("rows.jsonl", 1)]
    if name.isprintable():
        assert found[1][2] == f"{name}: expected even, got odd"


def test_links_and_hidden_folders_are_not_followed(project, rows, tmp_path):
    failing(project, rows)
    (project.folder / "data").rename(tmp_path / "elsewhere")
    (project.folder / "link").symlink_to(tmp_path / "elsewhere")
    (project.folder / "rows.jsonl").unlink()
    (project.folder / "rows.jsonl").symlink_to(tmp_path / "elsewhere" / "rows.jsonl")
    assert lines_of(annotate(project)) == []
