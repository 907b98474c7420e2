"""The built-in triager: features, training, operating point, storage."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_datasets import path
from yb_eval_triage.examples import Example, read_examples
from yb_eval_triage.task import Task, TaskError
from yb_eval_triage.triagers.builtin import BuiltinTriager
from yb_eval_triage.triagers.features import HEAD_CHARS, TAIL_CHARS, Vocabulary, compose, split_grams
from yb_eval_triage.triagers.model import TriageModel
from yb_eval_triage.triagers.operating import choose_cut, choose_point, operating_curve, wilson_lower
from yb_eval_triage.triagers.training import model_key, stratified_folds, train_model

DATA = path("triage")


def load(name: str, *splits: str) -> tuple[Task, list[list[Example]]]:
    task = Task.load(DATA / name / "task.toml")
    return task, [read_examples(task.path(split).read_bytes(), task=task, where=split) for split in splits]


@pytest.fixture(scope="module")
def clinc() -> tuple[BuiltinTriager, list[Example]]:
    """A triager for 20 of the intents, trained in about a second."""
    task, (train, validation, test) = load("clinc150", "train", "validation", "test")
    kept = {*list(task.labels)[:20], "oos"}
    part = [[row for row in rows if row.label in kept] for rows in (train, validation, test)]
    model = train_model(task, part[0], part[1], key="part").model
    return BuiltinTriager(task=task, model=model), part[2]


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> BuiltinTriager:
    return BuiltinTriager.prepare(Task.load(DATA / "ops" / "task.toml"), cache=tmp_path_factory.mktemp("models"))


def test_in_scope_and_out_of_scope_are_told_apart_at_one_point(clinc: tuple[BuiltinTriager, list[Example]]) -> None:
    triager, rows = clinc
    answers = triager.answer([row.text for row in rows])
    inside = [a.label == r.label for a, r in zip(answers, rows, strict=True) if r.label != "oos"]
    outside = [a.label == "oos" for a, r in zip(answers, rows, strict=True) if r.label == "oos"]
    assert np.mean(inside) >= 0.85
    assert np.mean(outside) >= 0.75


def test_confidence_is_a_probability_that_means_something(clinc: tuple[BuiltinTriager, list[Example]]) -> None:
    triager, rows = clinc
    answers = triager.answer([row.text for row in rows])
    sure = np.array([a.confidence for a in answers], dtype=float)
    right = np.array([a.label == r.label for a, r in zip(answers, rows, strict=True)])
    assert ((sure >= 0) & (sure <= 1)).all()
    assert right[sure >= np.median(sure)].mean() > right[sure < np.median(sure)].mean()


def test_the_curve_of_the_test_rows_passes_through_the_answers(clinc: tuple[BuiltinTriager, list[Example]]) -> None:
    triager, rows = clinc
    labels, scores = triager.in_scope_scores([row.text for row in rows])
    right = np.array([label == row.label for label, row in zip(labels, rows, strict=True)])
    inside = np.array([row.label != "oos" for row in rows])
    curve = operating_curve(scores, right, inside)
    place = int(np.searchsorted(curve.threshold, triager.model.threshold))
    answers = triager.answer([row.text for row in rows])
    recall = np.mean([a.label == "oos" for a, r in zip(answers, rows, strict=True) if r.label == "oos"])
    assert curve.out_of_scope_recall[place] == pytest.approx(recall)
    assert (np.diff(curve.in_scope_accuracy) <= 0).all()
    assert (np.diff(curve.out_of_scope_recall) >= 0).all()
    assert curve.coverage[0] == 1.0
    assert curve.coverage[-1] == 0.0


def test_answers_do_not_depend_on_the_batch(clinc: tuple[BuiltinTriager, list[Example]]) -> None:
    triager, rows = clinc
    texts = [row.text for row in rows[:60]]
    assert triager.answer(texts) == [answer for text in texts for answer in triager.answer([text])]
    assert triager.answer([]) == []


def test_ops_answers_are_usable_and_do_not_contradict_themselves(ops: BuiltinTriager) -> None:
    task, (rows,) = load("ops", "test")
    answers = ops.answer([row.text for row in rows], [row.meta for row in rows])
    assert [fault for answer in answers for fault in [*task.check(answer), *task.contradictions(answer)]] == []
    right = [a.label == r.label or a.label in r.acceptable for a, r in zip(answers, rows, strict=True)]
    assert np.mean(right) > 0.5


def test_ops_severities_cost_less_than_the_best_constant(ops: BuiltinTriager) -> None:
    task, (rows,) = load("ops", "test")
    assert task.severity is not None
    cost = np.array(task.severity.cost)
    gold = [row.severity or 0 for row in rows]
    said = [a.severity or 0 for a in ops.answer([row.text for row in rows], [row.meta for row in rows])]
    constant = min(cost[gold, level].mean() for level in range(len(task.severity.levels)))
    assert cost[gold, said].mean() < 0.85 * constant


@pytest.mark.parametrize(
    "text", ["", "   ", "!!!", "\x00", "\ud800", "\U0001f525" * 50, "a" * 200_000, "слово " * 9_000]
)
def test_odd_bodies_get_an_answer(ops: BuiltinTriager, text: str) -> None:
    (answer,) = ops.answer([text], [{"channel": "chat"}])
    assert ops.task.check(answer) == []


def test_a_stored_model_is_loaded_and_not_trained_again(
    ops: BuiltinTriager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{ops.model.key}.npz"
    ops.model.save(path)
    monkeypatch.setattr("yb_eval_triage.triagers.builtin.train_model", lambda *_, **__: pytest.fail("trained"))
    again = BuiltinTriager.prepare(ops.task, cache=tmp_path)
    assert again.model.to_bytes() == ops.model.to_bytes() == path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_damaged_model_file_is_replaced_by_training(ops: BuiltinTriager, tmp_path: Path) -> None:
    path = tmp_path / f"{ops.model.key}.npz"
    path.write_bytes(ops.model.to_bytes()[:-1000])
    assert BuiltinTriager.prepare(ops.task, cache=tmp_path).model.to_bytes() == ops.model.to_bytes()
    assert path.read_bytes() == ops.model.to_bytes()


def test_a_pickle_is_not_a_model() -> None:
    import io

    out = io.BytesIO()
    np.savez(out, header=np.array([{"format": "x"}], dtype=object))
    for data in (out.getvalue(), b"", b"\x80\x04N."):
        with pytest.raises(TaskError, match="not a triage model"):
            TriageModel.from_bytes(data, where="file")


def test_training_gives_the_same_bytes_for_any_hash_seed() -> None:
    code = (
        "import hashlib, pathlib, sys\n"
        "from yb_eval_triage.task import Task\n"
        "from yb_eval_triage.triagers.builtin import BuiltinTriager\n"
        "triager = BuiltinTriager.prepare(Task.load(pathlib.Path(sys.argv[1])))\n"
        "print(hashlib.sha256(triager.model.to_bytes()).hexdigest())\n"
    )
    paths = [path for path in sys.path if path]
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, str(DATA / "healthcare" / "task.toml")],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(paths)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_the_key_names_rows_task_and_word_lists() -> None:
    task, _ = load("healthcare")
    key = model_key(task, train=b"a", validation=b"b")
    others = {
        model_key(task, train=b"c", validation=b"b"),
        model_key(task, train=b"a", validation=b"c"),
        model_key(task, train=b"a", validation=b"b", words=b"w"),
        model_key(evolve(task, training=evolve(task.training, penalty=2.0)), train=b"a", validation=b"b"),
    }
    assert len(key) == 64
    assert key not in others
    assert len(others) == 4


def test_nothing_to_learn_from_is_refused() -> None:
    task, (rows,) = load("healthcare", "train")
    with pytest.raises(TaskError, match="1 in-scope label"):
        train_model(task, [row for row in rows if row.label in {"claims", "out_of_scope"}], [])


def test_features_are_those_of_scikit_learn_up_to_hashing() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["the card is lost", "lost the card again", "the the the"]
    words, chars = split_grams(texts)
    plain = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+").fit_transform(texts)
    assert np.bincount(words.document).tolist() == plain.sum(axis=1).ravel().tolist()[0]
    assert len(np.unique(words.bucket)) == plain.shape[1]
    inner = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit(texts)
    short = {gram for gram in inner.vocabulary_ if len(gram) < 2}
    assert len(np.unique(chars.bucket)) == len(set(inner.vocabulary_) - short)


def test_unseen_words_take_their_share_of_the_length() -> None:
    vocabulary = Vocabulary.fit(["lost card", "card fee"], min_documents=1, unseen_weight=1.0)
    known = vocabulary.transform(["lost card"]).matrix
    mixed = vocabulary.transform(["lost card zxqv wvut"]).matrix
    assert np.linalg.norm(mixed.toarray()) < np.linalg.norm(known.toarray())
    shares = vocabulary.transform(["lost card zxqv wvut", "lost card"]).known
    assert shares[0, 0] < 1.0
    assert shares[1, 0] == 1.0


@given(st.lists(st.text(max_size=40), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_features_of_a_text_do_not_depend_on_its_neighbours(texts: list[str]) -> None:
    vocabulary = Vocabulary.fit(["lost card", "потерял карту", "a1 b2"], min_documents=1, unseen_weight=0.5)
    together = vocabulary.transform(texts)
    alone = [vocabulary.transform([text]) for text in texts]
    for row, single in enumerate(alone):
        assert np.array_equal(together.matrix[row].toarray(), single.matrix.toarray())
        assert np.array_equal(together.known[row], single.known[0])


def test_digits_and_yo_are_folded() -> None:
    vocabulary = Vocabulary.fit(["ёлка 10"], min_documents=1, unseen_weight=0.5)
    first, second = vocabulary.transform(["ЁЛКА 10", "елка 97"]).matrix.toarray()
    assert np.array_equal(first, second)


def test_an_enormous_body_keeps_its_head_and_tail() -> None:
    text = "head " + "x" * 100_000 + " tail"
    short = compose(text, {"channel": "chat", "other": None})
    assert short.startswith("head ")
    assert " tail channelchat" in short
    assert len(short) < HEAD_CHARS + TAIL_CHARS + 40


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.4]), st.booleans(), st.booleans()), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_the_curve_does_not_depend_on_the_order_of_tied_rows(
    rows: list[tuple[float, bool, bool]], order: object
) -> None:
    mixed = sorted(rows, key=lambda _: order.random())  # type: ignore[attr-defined]

    def arrays(items: Sequence[tuple[float, bool, bool]]) -> tuple[np.ndarray, ...]:
        return tuple(np.array(column) for column in zip(*items, strict=True))

    left, right = operating_curve(*arrays(rows)), operating_curve(*arrays(mixed))
    for name in ("threshold", "in_scope_accuracy", "out_of_scope_recall", "coverage", "risk"):
        assert np.array_equal(getattr(left, name), getattr(right, name), equal_nan=True)


def test_the_point_keeps_the_floor_with_confidence_and_then_refuses_most() -> None:
    rng = np.random.default_rng(7)
    inside = np.repeat([True, False], [2000, 200])
    score = np.where(inside, rng.normal(2, 1, 2200), rng.normal(0, 1, 2200))
    curve = operating_curve(score, inside, inside)
    point = choose_point(curve, floor=0.9, in_scope_rows=2000, out_of_scope_rows=200)
    bounds = wilson_lower(curve.in_scope_accuracy, 2000)
    chosen = int(np.searchsorted(curve.threshold, point.threshold))
    assert bounds[chosen] >= 0.9 > bounds[chosen + 1]
    assert point.out_of_scope_recall == pytest.approx(curve.out_of_scope_recall[chosen])


def test_a_floor_out_of_reach_and_missing_out_of_scope_rows_answer_everything() -> None:
    score, right = np.array([0.1, 0.9, 0.5]), np.array([False, True, False])
    inside = np.array([True, True, False])
    curve = operating_curve(score, right, inside)
    reached = choose_point(curve, floor=0.99, in_scope_rows=2, out_of_scope_rows=1)
    assert reached.threshold == -np.inf
    assert "no threshold keeps" in reached.rule
    only = operating_curve(score, right, np.ones(3, bool))
    assert choose_point(only, floor=None, in_scope_rows=3, out_of_scope_rows=0).threshold == -np.inf


def test_wilson_bound_agrees_with_scipy() -> None:
    from scipy.stats import binomtest

    for hits, rows in ((0, 10), (9, 10), (2790, 3000), (10, 10)):
        expected = binomtest(hits, rows).proportion_ci(confidence_level=0.90, method="wilson").low
        assert wilson_lower(np.array([hits / rows]), rows)[0] == pytest.approx(expected, abs=1e-12)


def test_the_cut_maximises_f_beta() -> None:
    from sklearn.metrics import fbeta_score

    rng = np.random.default_rng(3)
    gold = rng.random(200) < 0.3
    probability = np.clip(gold * 0.4 + rng.random(200) * 0.6, 0, 1)
    cut = choose_cut(probability, gold, beta=2.0)
    best = max(fbeta_score(gold, probability >= level, beta=2.0) for level in np.unique(probability))
    assert fbeta_score(gold, probability >= cut, beta=2.0) == pytest.approx(best)
    assert choose_cut(probability, np.zeros(200, bool), beta=2.0) == 0.5


@given(st.lists(st.sampled_from("abc"), max_size=60), st.integers(2, 6))
def test_folds_share_out_every_group_evenly(groups: list[str], folds: int) -> None:
    fold = stratified_folds(groups, folds)
    for name in set(groups):
        counts = np.bincount(fold[[group == name for group in groups]], minlength=folds)
        assert counts.max() - counts.min() <= 1
