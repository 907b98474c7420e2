"""The labelled traces that ship: made again to the byte, labelled as the evals can be, and safe to publish."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from yb_eval_decision.detection import detect_secrets
from yb_eval_decision.eval import Eval
from yb_eval_decision.registry import builtin_evals
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import claims_of

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "datasets" / "decision"
SETS = ("traces", "rag", "injection-public")
EVALS: dict[str, Eval] = {name: kind() for name, kind in builtin_evals().items() if name != "custom_rubric"}
#: The evals whose labels may name an option, and what passes.
CHOICES = ("tool_choice", "refusal")


@cache
def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HOME / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def tags(row: dict[str, Any]) -> dict[str, str]:
    return dict(tag.split(":", 1) for tag in row["tags"])


def passes(name: str, label: bool | str) -> bool:
    return label if isinstance(label, bool) else label in EVALS[name].good  # type: ignore[attr-defined]


def labelled(name: str) -> Iterator[tuple[dict[str, Any], Sample, str, bool | str]]:
    for row in rows(name):
        for eval, label in row["labels"].items():
            yield row, Sample.of(row["sample"]), eval, label


# --- how it is made ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
@pytest.mark.parametrize("script", ["gen_decision_traces.py", "import_decision_injection.py"])
def test_the_files_are_reproduced_byte_for_byte_under_any_hash_seed(script: str, hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", SETS)
def test_the_readme_names_each_file_with_its_rows_and_digest(name: str) -> None:
    data = (HOME / f"{name}.jsonl").read_bytes()
    line = next(line for line in (HOME / "README.md").read_text("utf-8").splitlines() if f"| {name}.jsonl |" in line)
    assert f"| {len(rows(name))} |" in line
    assert hashlib.sha256(data).hexdigest() in line


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_each_eval_has_both_verdicts_eight_times_at_least() -> None:
    found = Counter((name, passes(name, label)) for _, _, name, label in labelled("traces"))
    assert {name for name in EVALS if min(found[name, True], found[name, False]) < 8} == set()


def test_each_eval_has_both_verdicts_in_both_languages() -> None:
    found = Counter((name, passes(name, label), tags(row)["lang"]) for row, _, name, label in labelled("traces"))
    lacking = [(name, way, lang) for name in EVALS for way in (True, False) for lang in ("en", "ru")
               if found[name, way, lang] < 4]  # fmt: skip
    assert lacking == []


@pytest.mark.parametrize("name", CHOICES)
def test_each_option_of_a_choice_is_some_rows_label(name: str) -> None:
    found = Counter(label for _, _, eval, label in labelled("traces") if eval == name)
    assert set(found) == set(EVALS[name].options)  # type: ignore[attr-defined]
    assert min(found.values()) >= 8


def test_there_are_enough_rows_domains_formats_and_turns() -> None:
    every = [tags(row) for row in rows("traces")]
    assert len(every) >= 360
    assert len({row["domain"] for row in every}) == 10
    assert {row["group"] for row in every} == {"agent", "security", "quality"}
    assert sum(row["lang"] == "ru" for row in every) >= 0.4 * len(every)
    formats = Counter(row["format"] for row in every)
    assert all(formats[name] >= 80 for name in ("openai", "anthropic", "responses", "plain"))
    assert sum(row["turns"] == "multi" for row in every) >= 150
    assert len(rows("rag")) >= 80
    assert len({tags(row)["topic"] for row in rows("rag")}) >= 6
    assert sum(tags(row)["lang"] == "ru" for row in rows("rag")) >= 0.4 * len(rows("rag"))


@pytest.mark.parametrize("name", ["faithfulness", "hallucination", "answer_relevancy", "context_precision",
                                  "context_recall", "correctness", "completeness"])  # fmt: skip
def test_the_rag_set_labels_each_of_its_evals_both_ways(name: str) -> None:
    found = Counter(label for _, _, eval, label in labelled("rag") if eval == name)
    assert min(found[True], found[False]) >= 8


@pytest.mark.parametrize("name", SETS)
def test_ids_and_samples_are_unique(name: str) -> None:
    assert len({row["id"] for row in rows(name)}) == len(rows(name))
    assert len({json.dumps(row["sample"], sort_keys=True) for row in rows(name)}) == len(rows(name))


def test_no_id_is_in_two_sets() -> None:
    found = Counter(row["id"] for name in SETS for row in rows(name))
    assert max(found.values()) == 1


@pytest.mark.parametrize("name", SETS)
def test_rows_have_the_documented_keys_labels_and_tags(name: str) -> None:
    for row in rows(name):
        assert set(row) == {"id", "sample", "labels", "tags"}
        assert row["labels"]
        assert tags(row)["lang"] in (("en", "ru") if name != "injection-public" else ("en", "other"))
        assert {"lang", "group", "kind"} <= set(tags(row))
        for eval, label in row["labels"].items():
            assert eval in EVALS
            assert isinstance(label, bool) or (eval in CHOICES and label in EVALS[eval].options)  # type: ignore[attr-defined]


def test_wordings_do_not_repeat_between_scenarios() -> None:
    """An answer belongs to one scenario: no model can learn a wording in one domain and find it again in another."""
    owner: dict[str, str] = {}
    for row in rows("traces"):
        answer = Sample.of(row["sample"]).final_answer
        if answer is not None:
            scenario = f"{tags(row)['domain']}/{tags(row)['lang']}"
            assert owner.setdefault(answer, scenario) == scenario, answer


def test_there_are_many_different_answers() -> None:
    assert len({Sample.of(row["sample"]).final_answer for row in rows("traces")}) >= 400


# --- whether the evals can be asked -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_each_labelled_eval_applies_to_its_sample(name: str) -> None:
    for row, sample, eval, _ in labelled(name):
        assert not sample.missing(EVALS[eval].requires), (row["id"], eval)
        assert EVALS[eval].applicable(sample)[0], (row["id"], eval, EVALS[eval].applicable(sample)[1])


@pytest.mark.parametrize("name", SETS)
def test_what_code_alone_decides_agrees_with_every_label(name: str) -> None:
    """Trajectories, tool calls, the loop's count, and what detectors decide without a question."""
    wrong = []
    for row, sample, eval, label in labelled(name):
        found = EVALS[eval].pre(sample)
        if isinstance(found, Result) and found.measured and found.passed is not passes(eval, label):
            wrong.append((row["id"], eval, found.detail))
    assert wrong == []


@pytest.mark.parametrize("name", ["trajectory_match", "tool_call_f1"])
def test_the_code_only_evals_decide_all_their_rows(name: str) -> None:
    decided = [EVALS[name].pre(sample) for _, sample, eval, _ in labelled("traces") if eval == name]
    assert len(decided) > 100
    assert all(isinstance(found, Result) and found.measured for found in decided)


def test_a_loop_that_is_labelled_as_one_reaches_the_count_at_which_the_model_is_asked() -> None:
    for row, sample, eval, label in labelled("traces"):
        if eval == "loop_detection" and label is False:
            assert EVALS[eval].pre(sample) is None, row["id"]


def test_there_are_expectations_of_no_call_and_calls_that_were_made_twice() -> None:
    empty = [row for row in rows("traces") if row["sample"].get("expected_tool_calls") == []]
    assert {row["labels"]["trajectory_match"] for row in empty} == {True, False}
    assert sum(tags(row)["kind"] == "twice" for row in rows("traces")) >= 8


def _claims(row: dict[str, Any]) -> int:
    return len(claims_of(Sample.of(row["sample"]), "claims"))


def test_an_ungrounded_answer_is_one_whose_claims_are_mostly_made_up() -> None:
    """Three sentences are made up beside those of the good answer: a perfect judge must fail it at the default threshold."""
    seen = 0
    for row in rows("traces"):
        if tags(row)["kind"] == "ungrounded":
            seen += 1
            assert (_claims(row) - 3) / _claims(row) < EVALS["grounded"].threshold, row["id"]
    assert seen >= 8


@pytest.mark.parametrize("name", ["traces", "rag"])
def test_one_sentence_made_up_is_enough_to_fail_faithfulness(name: str) -> None:
    seen = 0
    for row in rows(name):
        if tags(row)["kind"] == "sentence_made_up":
            seen += 1
            assert (_claims(row) - 1) / _claims(row) < EVALS["faithfulness"].threshold, row["id"]
    assert seen >= 8


# --- whether it may be published --------------------------------------------------------------------------------------

_SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{36}", r"[sr]k_(?:live|test)_\w{20}", r"(?:AKIA|ASIA)[A-Z2-7]{16}", r"glpat-[\w-]{20}",
    r"xox[bp]-\d{8}", r"AIza[\w-]{35}", r"sk-(?:ant|proj)-", r"PRIVATE KEY-----", r"://\w*:\w{12,}@",
)  # fmt: skip


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


@pytest.mark.parametrize("name", SETS)
def test_no_credential_shape_stands_in_the_raw_bytes(name: str) -> None:
    data = (HOME / f"{name}.jsonl").read_text(encoding="utf-8")
    assert [shape for shape in _SHAPES if re.search(shape, data)] == []


@pytest.mark.parametrize("name", SETS)
def test_no_credential_stands_in_a_row_that_is_not_marked_as_synthetic(name: str) -> None:
    for row in rows(name):
        found = [one for text in _texts(row["sample"]) for one in detect_secrets(text) if one.decisive]
        assert not found or "synthetic:credential" in row["tags"], row["id"]


def test_the_marked_credentials_are_plain_once_the_file_is_read_and_a_detector_finds_them() -> None:
    marked = [row for row in rows("traces") if "synthetic:credential" in row["tags"]]
    assert len(marked) >= 8
    for row in marked:
        assert any(detect_secrets(text) for text in _texts(row["sample"])), row["id"]


@pytest.mark.parametrize("name", ["traces", "rag"])
def test_mail_addresses_are_of_domains_that_are_nobodys(name: str) -> None:
    data = "\n".join(text for row in rows(name) for text in _texts(row["sample"]))
    found = set(re.findall(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)", data))
    assert {domain for domain in found if not re.search(r"(?:^|\.)example(?:\.(?:com|org|net))?$", domain)} == set()


def test_telephone_numbers_are_of_ranges_that_nobody_is_given() -> None:
    data = "\n".join(text for row in rows("traces") for text in _texts(row["sample"]))
    american = re.findall(r"\(\d{3}\) (\d{3})-01\d\d|\+1 \d{3} (\d{3}) 01\d\d", data)
    russian = re.findall(r"\+7 \d{3} (\d{3})-\d\d-\d\d", data)
    assert american
    assert russian
    assert {one or other for one, other in american} == {"555"}
    assert set(russian) == {"000"}
