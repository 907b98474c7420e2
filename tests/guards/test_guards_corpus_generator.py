"""The generator of the guards corpus: the same bytes everywhere, and rows that read back as they were."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
EVAL = ROOT / "datasets" / "eval"
CORPUS = EVAL / "guards_labeled.jsonl"
SCRIPT = ROOT / "scripts" / "gen_guards_corpus.py"


@pytest.fixture(scope="module")
def script() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of the scripts folder."""
    sys.path.insert(0, str(SCRIPT.parent))
    yield importlib.import_module
    sys.path.remove(str(SCRIPT.parent))


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_the_files_are_reproduced_byte_for_byte_under_any_hash_seed(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count = CORPUS.read_text(encoding="utf-8").count("\n")
    assert done.stdout == f"{count} rows\n"


def test_a_stale_file_is_reported(
    script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = script("gen_guards_corpus")
    monkeypatch.setattr(module, "CORPUS", tmp_path / "corpus.jsonl")
    monkeypatch.setattr(module, "REVISION", tmp_path / "revision.json")
    assert module.main(["--check"]) == 1
    assert "out of date: corpus.jsonl, revision.json" in capsys.readouterr().err
    assert module.main([]) == 0
    assert (tmp_path / "corpus.jsonl").read_bytes() == CORPUS.read_bytes()
    assert module.main(["--check"]) == 0


def test_the_example_revision_is_a_valid_document_of_rows_of_the_corpus() -> None:
    document = json.loads((EVAL / "guards-revision.json").read_text(encoding="utf-8"))
    assert list(document) == ["schema_version", "dataset_id", "samples"]
    assert document["schema_version"] == 1 and document["dataset_id"]
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    by_id = {row["id"]: row for row in rows}
    assert {sample["payload"]["expect"] for sample in document["samples"]} == {"detect", "clean"}
    for sample in document["samples"]:
        row = by_id[sample["id"]]
        assert sample["payload"] == {key: row[key] for key in ("text", "type", "expect")}


@given(text=st.text(min_size=1), at=st.integers(min_value=0, max_value=40))
def test_a_row_reads_back_as_it_was_and_shows_every_hidden_character(
    script: Callable[[str], ModuleType], text: str, at: int
) -> None:
    module = script("guards_corpus.rows")
    secret = "token-" + "x" * at
    row = module.Row(
        id="a-1", text=text + secret, type="secret", expect="detect", tags=("kind:positive",), credentials=(secret,)
    )
    written = module.line(row)
    assert json.loads(written) == {
        "id": "a-1", "text": text + secret, "type": "secret", "expect": "detect", "tags": ["kind:positive"],
    }  # fmt: skip
    assert secret not in written
    assert not {char for char in written if unicodedata.category(char)[0] in "CZ"} - {" "}


def test_rows_refuse_a_repeated_text_and_a_malformed_label(script: Callable[[str], ModuleType]) -> None:
    collected = script("guards_corpus.rows").Rows()
    collected.add("a", "text", type="clean", expect="clean", tags=["kind:benign"])
    with pytest.raises(ValueError, match="same text as a-001"):
        collected.add("b", "text", type="clean", expect="clean", tags=["kind:benign"])
    with pytest.raises(ValueError, match="malformed row"):
        collected.add("b", "other", type="clean", expect="maybe", tags=["kind:benign"])
    with pytest.raises(ValueError, match="malformed row"):
        collected.add("b", "third", type="clean", expect="clean", tags=["benign"])
    with pytest.raises(ValueError, match="not in the text"):
        collected.add("b", "fourth", type="clean", expect="clean", tags=["kind:benign"], credentials=["absent"])
