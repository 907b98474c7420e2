"""Evals by name, and all the forms in which evals may be given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from yb_eval import UsageError
from yb_eval_decision.eval import Eval
from yb_eval_decision.registry import BUILTIN, GROUPS, builtin_evals, get_eval, load_eval, load_evals, resolve_evals

SPEC = {
    "name": "mine",
    "state": {"a": "$.final_answer"},
    "questions": {"q": {"type": "noul", "instructions": "Is it so?"}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps({**SPEC, "name": name}), encoding="utf-8")
    return tmp_path


def names(given: Any) -> list[str]:
    return [one.name for one in resolve_evals(given)]


def test_37_evals_are_built_in_each_with_its_category_and_name() -> None:
    kinds = builtin_evals()
    assert len(kinds) == 37
    assert {category: len(members) for category, members in BUILTIN.items()} == {
        "agent": 13,
        "security": 13,
        "quality": 11,
    }
    for category, members in BUILTIN.items():
        for name in members:
            assert issubclass(kinds[name], Eval)
            assert (kinds[name].name, kinds[name].category) == (name, category)
            assert (kinds[name].__doc__ or "").strip()


def test_listing_needs_no_instance_of_an_eval_that_needs_arguments() -> None:
    # Weakness 30: a listing that makes every eval fails at the one that needs arguments.
    kind = builtin_evals()["custom_rubric"]
    assert any(declared.required for declared in kind.parameters.values())
    with pytest.raises(UsageError, match="needs"):
        get_eval("custom_rubric")


@pytest.mark.parametrize("name", ["grounded", "Grounded", "agent.grounded", "agent.Grounded"])
def test_an_eval_is_found_by_name_class_and_category(name: str) -> None:
    made = get_eval(name, threshold=0.7)
    assert (made.name, made.threshold) == ("grounded", 0.7)


def test_every_class_is_found_by_its_own_name() -> None:
    for name, kind in builtin_evals().items():
        if not any(declared.required for declared in kind.parameters.values()):
            assert type(get_eval(kind.__name__)) is kind
            assert type(get_eval(f"{kind.category}.{name}")) is kind


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("security.grounded", "'security' has no eval 'grounded'.*did you mean 'agent.grounded'"),
        ("x.grounded", "did you mean 'agent.grounded'"),
        (".grounded.", "no eval is named"),
        ("groundd", "did you mean 'grounded'"),
        ("", "no eval is named"),
        ("agent", "no eval is named"),
    ],
)
def test_a_name_that_is_not_quite_one_is_refused_with_the_nearest(name: str, message: str) -> None:
    # Weakness 35: a prefix that is passed over gives another eval than the one that was named.
    with pytest.raises(UsageError, match=message):
        get_eval(name)


def test_evals_are_given_in_many_forms(folder: Path) -> None:
    kind = builtin_evals()["coherence"]
    assert names(["grounded", kind, kind(name="other"), SPEC, {"name": "quality"}, folder / "one.json", str(folder)]) == [
        "grounded", "coherence", "other", "mine", "quality", "one", "one", "two",
    ]  # fmt: skip
    assert names(kind) == ["coherence"]
    assert names(SPEC) == ["mine"]
    assert names([["grounded"], ("coherence",)]) == ["grounded", "coherence"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("grounded", [("grounded", 0.5)]),
        ("quality", [("quality", 0.5)]),
        ("grounded:threshold=0.7", [("grounded", 0.7)]),
        (" agent.grounded : threshold = 0.7 , name = mine ", [("mine", 0.7)]),
        ("grounded:threshold=0.7,claim_threshold=0.6,Coherence,coherence:name=second", [
            ("grounded", 0.7), ("coherence", 0.5), ("second", 0.5)]),
    ],
)  # fmt: skip
def test_a_text_names_evals_with_their_arguments(text: str, found: list[tuple[str, float]]) -> None:
    assert [(one.name, one.threshold) for one in resolve_evals(text)] == found


def test_arguments_are_json_values_or_texts() -> None:
    (made,) = resolve_evals(
        'custom_rubric:instructions="Is final_answer short, clear?",levels=["no, none","yes"],fields=["output"]'
    )
    assert made.arguments()["instructions"] == "Is final_answer short, clear?"
    assert list(made.arguments()["levels"]) == ["no, none", "yes"]
    (match,) = resolve_evals("trajectory_match:mode=strict,match_args=true")
    assert (match.arguments()["mode"], match.arguments()["match_args"]) == ("strict", True)


def test_a_file_takes_a_name_and_a_threshold(folder: Path) -> None:
    (made,) = resolve_evals(f"{folder}/one.json:threshold=0.9,name=strict_one")
    assert (made.name, made.threshold) == ("strict_one", 0.9)
    with pytest.raises(UsageError, match="did you mean 'threshold'"):
        resolve_evals(f"{folder}/one.json:treshold=0.9")
    with pytest.raises(UsageError, match="takes no arguments"):
        resolve_evals(f"{folder}/:threshold=0.9")


def test_groups_are_those_that_need_no_arguments() -> None:
    assert names("quality.all") == [name for name in BUILTIN["quality"] if name != "custom_rubric"]
    assert names("agent.all") == list(BUILTIN["agent"])
    assert names("all") == [name for name in GROUPS["all"] if name != "custom_rubric"]


def test_an_object_names_an_eval_and_its_arguments() -> None:
    (made,) = resolve_evals({"name": "coherence", "threshold": 0.8})
    assert (made.name, made.threshold) == ("coherence", 0.8)
    (renamed,) = resolve_evals({"eval": "quality.coherence", "name": "second"})
    assert (renamed.name, type(renamed)) == ("second", type(made))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["grounded", "groundd"], "did you mean 'grounded'"),
        ("grounded,,coherence", "an empty name"),
        ("", "an empty name"),
        ("grounded:treshold=0.7", "did you mean 'threshold'"),
        ("grounded:threshold=7", "out of range"),
        ("grounded:threshold=NaN", "a number is expected"),
        ("grounded:threshold", "name=value"),
        ("grounded:", "name=value"),
        ("grounded:threshold=0.5,threshold=0.6", "given twice"),
        ("none.yaml", "no such file"),
        ("no/such/folder", "not a file of an eval"),
        (5, "not an eval"),
        (None, "not an eval"),
        (b"grounded", "not an eval"),
        (int, "not an eval"),
        ({}, "not an eval"),
        ({"name": 5}, "not an eval"),
        ({"name": "grounded", 5: 6}, "no argument"),
        ({"name": "grounded", "treshold": 0.7}, "did you mean 'threshold'"),
        ({**SPEC, "treshold": 0.7}, "unknown key 'treshold'"),
    ],
)
def test_what_is_no_eval_is_refused_in_one_line(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        resolve_evals(given)
    assert "\n" not in str(caught.value)


def test_files_load_through_the_registry_too(folder: Path) -> None:
    assert load_eval(folder / "one.json").name == "one"
    assert [one.name for one in load_evals(folder)] == ["one", "two"]


def test_naming_evals_imports_only_what_is_asked() -> None:
    code = (
        "import sys, yb_eval_decision.registry as r; heavy = lambda: sorted({'yaml', 'jsonschema', 'httpx', 'numpy'} & set(sys.modules));"
        "assert not heavy(), heavy(); r.get_eval('coherence');"
        "assert 'yb_eval_decision.security' not in sys.modules; assert not heavy(), heavy()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
