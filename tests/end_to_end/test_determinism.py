"""The same inputs give the same ids and the same outcome log, whatever varies around them."""

import hashlib
import shutil

import pytest


def ids(report):
    return report["plan_id"], report["run_id"], report["suites"][0]["outcomes"]["sha256"]


@pytest.fixture
def reference(project, parity_rows):
    project.rows(parity_rows(150, wrong=3))
    return ids(project.report("toy", "--store", "first"))


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["--jobs", 2], {}),
        (["--jobs", 8, "--batch-size", 1], {}),
        (["--jobs", 2, "--executor", "processes"], {"TOY_CONCURRENCY": "processes"}),
        (["--batch-size", 7], {}),
        (["--batch-size", 1000], {"PYTHONHASHSEED": 1}),
        ([], {"PYTHONHASHSEED": 12345, "TZ": "Asia/Tokyo", "LC_ALL": "C", "CI": "1"}),
        (["--timeout", 5, "--retries", 0], {}),
    ],
)
def test_neither_workers_nor_batches_nor_the_environment_change_an_id(project, reference, arguments, env):
    assert ids(project.report("toy", *arguments, "--store", "second", **env)) == reference


def test_neither_the_folder_nor_the_file_s_path_changes_an_id(project, reference):
    project.write("elsewhere/rows.jsonl", (project.folder / "rows.jsonl").read_bytes())
    shutil.move(project.folder / "rows.jsonl", project.folder / "gone.jsonl")
    assert ids(project.report("toy", "--rows", "elsewhere/rows.jsonl")) == reference
    assert ids(project.report("toy", "--rows", project.folder / "elsewhere" / "rows.jsonl")) == reference


@pytest.mark.parametrize(
    "arguments",
    [
        ["--note", "other"],
        ["--seed", 1],
        ["--gate", "accuracy >= 0.5"],
        ["--min-accuracy", 0.91],
        ["--limit", 149],
        ["--filter", "'mod:0' in tags"],
        ["--max-errors", 1],
    ],
)
def test_what_decides_the_result_changes_the_plan(project, reference, arguments):
    assert ids(project.report("toy", *arguments, code=None))[0] != reference[0]


def test_one_byte_of_the_dataset_changes_the_plan(project, reference):
    data = (project.folder / "rows.jsonl").read_bytes()
    project.write("rows.jsonl", data + b"\n")
    report = project.report("toy")
    assert ids(report)[0] != reference[0]
    assert report["suites"][0]["datasets"][0]["revision_id"] == hashlib.sha256(data + b"\n").hexdigest()


def test_the_outcome_log_is_in_the_dataset_s_order_and_is_what_its_digest_says(project, parity_rows):
    project.rows(parity_rows(100))
    report = project.report("toy", "--jobs", 4, "--batch-size", 3, "--outcomes", "out.jsonl", TOY_SLEEP=0.001)
    data = (project.folder / "out.jsonl").read_bytes()
    assert hashlib.sha256(data).hexdigest() == report["suites"][0]["outcomes"]["sha256"]
    assert [line.split(b'"')[3].decode() for line in data.splitlines()] == [f"r{i}" for i in range(100)]


def test_the_plan_is_printed_before_anything_is_evaluated(project, parity_rows):
    project.rows(parity_rows(3))
    done = project("run", "toy", "--json", TOY_BUG=1, code=3)
    assert done.stderr.splitlines()[0].startswith("plan ")
