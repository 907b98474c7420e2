"""The label audit: flipped labels are found, near-duplicates are paired."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_datasets import path
from yb_eval_triage.examples import Example, read_examples
from yb_eval_triage.task import Task, TaskError
from yb_eval_triage.triagers.audit import Audit, audit_labels
from yb_eval_triage.triagers.near_duplicates import near_duplicates

DATA = path("triage")


@pytest.fixture(scope="module")
def banking() -> tuple[Task, list[Example]]:
    """The training rows of fifteen intents."""
    task = Task.load(DATA / "banking77" / "task.toml")
    rows = read_examples(task.path("train").read_bytes(), task=task, where="train")
    kept = set(list(task.labels)[:15])
    return task, [row for row in rows if row.label in kept]


@pytest.fixture(scope="module")
def flipped(banking: tuple[Task, list[Example]]) -> tuple[set[str], Audit]:
    """One row in twenty gets the label of another intent."""
    task, rows = banking
    labels = sorted({row.label for row in rows if row.label})
    wrong: set[str] = set()
    changed: list[Example] = []
    for index, row in enumerate(rows):
        if index % 20 == 7:
            wrong.add(row.id)
            changed.append(evolve(row, label=labels[(labels.index(row.label or "") + 1 + index % 13) % len(labels)]))
        else:
            changed.append(row)
    return wrong, audit_labels(task, changed)


def test_most_flipped_labels_are_suspect_and_come_first(flipped: tuple[set[str], Audit]) -> None:
    wrong, audit = flipped
    suspects = [item.id for item in audit.disagreements]
    assert len(wrong & set(suspects)) / len(wrong) >= 0.8
    assert len(wrong & set(suspects[: len(wrong) // 2])) / (len(wrong) // 2) >= 0.9


def test_a_suspect_row_names_both_labels_and_how_sure_the_model_is(flipped: tuple[set[str], Audit]) -> None:
    _, audit = flipped
    for item in audit.disagreements:
        assert item.label != item.suggested
        assert 0 <= item.given < item.confidence <= 1
    gaps = [item.given - item.confidence for item in audit.disagreements]
    assert gaps == sorted(gaps)


def test_clean_labels_give_few_suspects(banking: tuple[Task, list[Example]]) -> None:
    task, rows = banking
    audit = audit_labels(task, rows)
    assert audit.rows == len(rows)
    assert audit.agreement > 0.9
    assert len(audit.disagreements) < 0.06 * len(rows)
    assert len(audit.suspects()) == len(set(audit.suspects()))


def test_near_duplicates_with_different_labels_clash(banking: tuple[Task, list[Example]]) -> None:
    task, rows = banking
    first, second = sorted({row.label for row in rows if row.label})[:2]
    twins = [
        Example(id="one", text="My top up was rejected. Why?", label=first),
        Example(id="two", text="my top-up was rejected, why", label=second),
        Example(id="three", text="My top up was rejected? Why?", label=first),
    ]
    audit = audit_labels(task, [*rows, *twins])
    pairs = {(clash.first, clash.second) for clash in audit.clashes}
    assert ("one", "two") in pairs
    assert ("one", "three") not in pairs
    accepted = [twins[0], evolve(twins[1], acceptable=(first,))]
    calm = audit_labels(task, [*rows, *accepted])
    assert ("one", "two") not in {(clash.first, clash.second) for clash in calm.clashes}


def test_an_acceptable_label_is_not_suspect(
    flipped: tuple[set[str], Audit], banking: tuple[Task, list[Example]]
) -> None:
    task, rows = banking
    worst = flipped[1].disagreements[0]
    lenient = [
        evolve(row, label=worst.label, acceptable=(worst.suggested,)) if row.id == worst.id else row for row in rows
    ]
    assert worst.id not in {item.id for item in audit_labels(task, lenient).disagreements}


def test_one_label_cannot_be_audited(banking: tuple[Task, list[Example]]) -> None:
    task, rows = banking
    with pytest.raises(TaskError, match="at least 2"):
        audit_labels(task, [row for row in rows if row.label == rows[0].label])


def test_rows_without_words_cannot_be_audited(desk: Task) -> None:
    rows = [Example(id=str(i), text="", label=("outage", "billing")[i % 2]) for i in range(10)]
    with pytest.raises(TaskError, match="no word or n-gram stands in 2 of"):
        audit_labels(desk, rows)


def test_a_label_that_a_fold_lacks_does_not_make_the_others_alike(desk: Task) -> None:
    """Whoever holds the only question out is left with two labels, or with one."""
    words = {"outage": "server down", "billing": "invoice refund"}
    rows = [Example(id=f"{label}{i}", text=f"{words[label]} {i}", label=label) for label in words for i in range(10)]
    odd = Example(id="odd", text="how does this work", label="question")
    assert audit_labels(desk, [*rows, odd]).agreement == 20 / 21
    assert 0.5 < audit_labels(desk, [*rows[:10], odd]).agreement < 1


def test_pairs_are_found_above_the_threshold_and_only_there() -> None:
    texts = [
        "When will my new card be delivered to my home?",
        "I lost my passport on the train",
        "when will my new card be delivered to my home",
        "",
        "!!!",
        "When will my new card be delivered to my house?",
    ]
    exact = near_duplicates(texts, threshold=1.0)
    assert [(pair.first, pair.second) for pair in exact] == [(0, 2)]
    wide = near_duplicates(texts, threshold=0.7)
    assert {(pair.first, pair.second) for pair in wide} >= {(0, 2), (0, 5)}
    assert all(pair.similarity >= 0.7 for pair in wide)
    assert near_duplicates([]) == []


def test_a_thousand_equal_texts_give_a_linear_number_of_pairs() -> None:
    pairs = near_duplicates(["the same words again"] * 1000)
    assert len(pairs) < 2000
    joined = {0}
    for pair in pairs:
        if pair.first in joined:
            joined.add(pair.second)
    assert len(joined) == 1000


@given(st.lists(st.text(alphabet="ab cд", max_size=30), max_size=8))
@settings(max_examples=50, deadline=None)
def test_pairs_are_ordered_and_similarities_are_shares(texts: list[str]) -> None:
    for pair in near_duplicates(texts, threshold=0.5):
        assert 0 <= pair.first < pair.second < len(texts)
        assert 0.5 <= pair.similarity <= 1.0


def test_the_audit_of_shuffled_rows_names_the_same_near_duplicates(banking: tuple[Task, list[Example]]) -> None:
    _, rows = banking
    texts = [row.text for row in rows]
    order = np.random.default_rng(1).permutation(len(rows))
    plain = {frozenset((texts[p.first], texts[p.second])) for p in near_duplicates(texts)}
    mixed = {
        frozenset((texts[order[p.first]], texts[order[p.second]])) for p in near_duplicates([texts[i] for i in order])
    }
    assert len(plain & mixed) / len(plain | mixed) > 0.8
