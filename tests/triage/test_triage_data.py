"""The shipped triage data: readable, split without leaks, reproducible, and labelled by its own rules."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from yb_eval_datasets import path
from yb_eval_triage.examples import Example, read_examples
from yb_eval_triage.task import Answer, Task
from yb_eval_triage.triagers.near_duplicates import near_duplicates

DATA = path("triage")
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
NAMES = ("banking77", "clinc150", "healthcare", "ops")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"triage_{name}", SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(name: str) -> tuple[Task, dict[str, list[Example]]]:
    task = Task.load(DATA / name / "task.toml")
    return task, {
        role: read_examples(task.path(role).read_bytes(), task=task, where=f"{name}/{file}")
        for role, file in task.files.items()
    }


@pytest.fixture(scope="module")
def ops() -> tuple[Task, dict[str, list[Example]]]:
    return load("ops")


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_every_set_reads_and_ids_are_unique_over_the_splits(name: str) -> None:
    task, splits = load(name)
    assert task.name == name
    ids = [row.id for role, rows in splits.items() if role != "sample" for row in rows]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", NAMES)
def test_every_set_carries_its_licence_and_says_where_it_is_from(name: str) -> None:
    for file in ("README.md", "LICENSE", "NOTICE"):
        assert (DATA / name / file).read_text(encoding="utf-8").strip()


def test_clinc150_has_the_published_sizes() -> None:
    _, splits = load("clinc150")
    outside = {role: sum(row.label == "oos" for row in rows) for role, rows in splits.items()}
    assert {role: len(rows) - outside[role] for role, rows in splits.items()} == {
        "train": 15_000,
        "validation": 3_000,
        "test": 4_500,
        "sample": 818,
    }
    assert outside == {"train": 100, "validation": 100, "test": 1_000, "sample": 182}


def test_the_clinc150_sample_is_drawn_by_its_rule() -> None:
    rows = [json.loads(line) for line in (DATA / "clinc150/test.jsonl").read_text(encoding="utf-8").splitlines()]
    importer = script("import_triage")
    assert importer.jsonl(importer.proportional_sample(rows)).encode() == (DATA / "clinc150/sample.jsonl").read_bytes()
    assert importer.proportional_sample(rows[::-1]) == importer.proportional_sample(rows)[::-1]


def test_banking77_keeps_equal_texts_on_one_side_of_the_validation_split() -> None:
    _, splits = load("banking77")
    assert (len(splits["train"]) + len(splits["validation"]), len(splits["test"])) == (10_003, 3_080)
    assert not {row.text for row in splits["train"]} & {row.text for row in splits["validation"]}


def test_healthcare_rows_are_labelled_or_have_acceptable_labels() -> None:
    _, splits = load("healthcare")
    rows = [row for part in splits.values() for row in part]
    assert len(rows) == 103
    assert all((row.label is None) == bool(row.acceptable) for row in rows)
    assert sum(row.label is None for row in rows) == 7


def test_the_importer_gives_the_same_bytes_and_notices_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    importer = script("import_triage")
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    intents = {"data": [["hello", "greeting"]], "oos": [["what", "oos"]]}
    full = {key: intents["oos" if key.startswith("oos") else "data"] for key in
            ("train", "val", "test", "oos_train", "oos_val", "oos_test")}  # fmt: skip
    (source / "clinc150_data_full.json").write_text(json.dumps(full), encoding="utf-8")
    (source / "clinc150_domains.json").write_text('{"small_talk": ["greeting"]}', encoding="utf-8")
    (source / "banking77_categories.json").write_text('["b?", "a"]', encoding="utf-8")
    for split in ("train", "test"):
        (source / f"banking77_{split}.csv").write_text('text,category\n"one,\ntwo",a\n', encoding="utf-8")
    header = "id,split,speaker,example_type,utterance,expected_route,alternate_routes,rationale\n"
    (source / "aurelio_healthcare_routing_evaluation.csv").write_text(
        header
        + "H1,train,member,positive,my claim,claims,benefits,why\nH2,test,member,ambiguous,hm,,claims|appeals,\n",
        encoding="utf-8",
    )
    assert importer.main(["--source", str(source), "--out", str(out)]) == 0
    assert importer.main(["--source", str(source), "--out", str(out), "--check"]) == 0
    row = json.loads((out / "healthcare/train.jsonl").read_text(encoding="utf-8"))
    assert (row["gold"], row["tags"][-1]) == ({"label": "claims"}, "alternate:benefits")
    assert json.loads((out / "healthcare/test.jsonl").read_text(encoding="utf-8"))["gold"] == {}
    assert json.loads((out / "banking77/test.jsonl").read_text(encoding="utf-8"))["text"] == "one,\ntwo"
    assert list(Task.load(out / "banking77/task.toml").labels) == ["a", "b?"]
    (out / "banking77/test.jsonl").write_text("", encoding="utf-8")
    assert importer.main(["--source", str(source), "--out", str(out), "--check"]) == 1
    assert "differs: banking77/test.jsonl" in capsys.readouterr().out


def test_ops_is_what_its_script_writes() -> None:
    for name, text in script("gen_ops_triage").build().items():
        assert (DATA / "ops" / name).read_bytes() == text.encode()


def test_ops_refuses_a_header_it_cannot_read_and_a_text_that_comes_twice(tmp_path: Path) -> None:
    generator = script("gen_ops_triage")
    (tmp_path / "billing.items").write_text("@ en 9- ticket plain\nx\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="cannot read the header"):
        generator.build(tmp_path)
    (tmp_path / "billing.items").write_text("@ en 1- ticket plain\nx\n@ en 2- ticket plain\nx\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="the same text twice"):
        generator.build(tmp_path)


def test_ops_is_large_and_even_enough(ops: tuple[Task, dict[str, list[Example]]]) -> None:
    task, splits = ops
    rows = [row for part in splits.values() for row in part]
    assert len(rows) >= 500
    assert len(splits["test"]) >= 200
    languages = Counter(tag for row in rows for tag in row.tags if tag.startswith("lang:"))
    assert min(languages.values()) / len(rows) > 0.45
    for part in splits.values():
        assert set(task.labels) == {row.label for row in part}
        assert {row.severity for row in part} == {0, 1, 2, 3, 4}


def test_ops_labels_follow_the_rules_of_the_readme(ops: tuple[Task, dict[str, list[Example]]]) -> None:
    task, splits = ops
    for row in (row for part in splits.values() for row in part):
        gold = Answer(label=row.label, severity=row.severity, escalate=row.escalate)
        assert task.contradictions(gold) == [], row.id
        if row.escalate and row.severity == 2:
            assert row.label in {"security", "access", "billing", "deployment"}, row.id
        assert row.label not in row.acceptable, row.id
        if row.severity and row.label == "out_of_scope":
            assert "kind:safety" in row.tags, row.id


def test_ops_has_every_kind_of_hard_item(ops: tuple[Task, dict[str, list[Example]]]) -> None:
    _, splits = ops
    rows = [row for part in splits.values() for row in part]
    kinds = Counter(tag for row in rows for tag in row.tags if tag.startswith("kind:"))
    for kind in ("neighbour", "sarcasm", "duplicate", "near-miss", "empty", "enormous", "quoted-attack", "typos"):
        assert kinds[f"kind:{kind}"] >= 5, kind
    assert any(row.text == "" for row in rows)
    assert max(len(row.text) for row in rows) > 30_000


def test_no_near_duplicate_of_an_ops_test_row_stands_in_another_split(
    ops: tuple[Task, dict[str, list[Example]]],
) -> None:
    _, splits = ops
    rows = [(role, row) for role, part in splits.items() for row in part if "kind:enormous" not in row.tags]
    for pair in near_duplicates([row.text for _, row in rows], threshold=0.6):
        (left, first), (right, second) = rows[pair.first], rows[pair.second]
        assert left == right, (first.id, second.id)


def test_ops_holds_no_address_that_could_be_real(ops: tuple[Task, dict[str, list[Example]]]) -> None:
    _, splits = ops
    import re

    for row in (row for part in splits.values() for row in part):
        assert not re.search(r"[\w.]+@[\w.]+", row.text), row.id
        for host in re.findall(r"\b[\w-]+\.(?:com|net|org|ru|io)\b", row.text):
            assert host.startswith("example."), (row.id, host)
        for address in re.findall(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", row.text):
            assert address.startswith(("192.0.2.", "198.51.100.", "203.0.113.")), (row.id, address)
