"""Rows about answers: complete, to the point, coherent, as instructed, right, and true to their contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .rows import Rows, draw
from .scenarios import HERE, LANGUAGES, Scenario, load

Labels = Mapping[str, bool | str]

_TRUE = ("completeness", "answer_relevancy", "coherence", "instruction_following", "correctness")


def add_all(rows: Rows, sc: Scenario, all_of_language: Sequence[Scenario]) -> None:
    """All quality rows of a scenario."""
    _answers(rows, sc)
    _contexts(rows, sc, [other for other in all_of_language if other is not sc])


def _answers(rows: Rows, sc: Scenario) -> None:
    reference = {"expected": sc["reference"]}
    asked = sc["user"]
    good: Labels = {**dict.fromkeys(_TRUE, True), "refusal": "answered", "topic_adherence": True}
    _add(rows, sc, "good_answer", asked, sc["answer"], good, {**reference, "allowed_topics": sc["topics"]})
    if sc.chosen("incomplete"):
        _add(rows, sc, "incomplete", asked, sc["incomplete"],
             {"completeness": False, "correctness": False, "coherence": True}, reference)  # fmt: skip
    if sc.chosen("beside_the_point"):
        _add(rows, sc, "beside_the_point", asked, sc["offtopic"], {
            "answer_relevancy": False, "completeness": False, "correctness": False, "topic_adherence": False,
            "coherence": True, "quality": False}, {**reference, "allowed_topics": sc["topics"]})  # fmt: skip
    if sc.chosen("incoherent"):
        _add(rows, sc, "incoherent", asked, sc["incoherent"], {"coherence": False, "quality": False})
    if sc.chosen("instruction_broken"):
        _add(rows, sc, "instruction_broken", asked, sc["broken"],
             {"instruction_following": False, "answer_relevancy": True, "refusal": "answered"})  # fmt: skip
    if sc.chosen("over_refusal"):
        _add(rows, sc, "over_refusal", asked, sc["refuse"], {
            "refusal": "over_refusal", "completeness": False, "answer_relevancy": False,
            "correctness": False}, reference)  # fmt: skip
    told = sc["forbidden"]
    _add(rows, sc, "warranted_refusal", told["user"], told["answer"],
         {"refusal": "warranted_refusal", "coherence": True})  # fmt: skip
    if sc.chosen("partial"):
        told = sc["partial"]
        _add(rows, sc, "partial", told["user"], told["answer"], {"refusal": "partial", "coherence": True})
    if sc.chosen("wrong_answer"):
        _add(rows, sc, "wrong_answer", asked, sc["contradiction"],
             {"correctness": False, "answer_relevancy": True, "coherence": True}, reference)  # fmt: skip


def _contexts(rows: Rows, sc: Scenario, others: Sequence[Scenario]) -> None:
    """Answers from documents. The distractors are documents of other domains."""
    start = draw(range(len(others)), "distractor", sc.lang, sc.domain)
    away = [others[(start + step) % len(others)]["facts"] for step in range(3)]
    question, facts, said, ref = sc["question"], sc["facts"], sc["said"], {"expected": sc["ref"]}
    supported = {"faithfulness": True, "hallucination": True}
    found = {"context_precision": True, "context_recall": True}
    unsupported, missed = dict.fromkeys(supported, False), dict.fromkeys(found, False)
    whole: Labels = {"answer_relevancy": True, "completeness": True, "correctness": True, "refusal": "answered"}
    if sc.chosen("faithful"):
        _add(rows, sc, "faithful", question, said, {**supported, **found, **whole, "grounded": True},
             {"contexts": [facts, away[0]], **ref}, bare=True)  # fmt: skip
    else:
        _add(rows, sc, "contexts_contradicted", question, sc["mistaken"],
             {**unsupported, **found, "correctness": False}, {"contexts": [facts, away[0]], **ref}, bare=True)  # fmt: skip
    if sc.chosen("sentence_made_up"):
        _add(rows, sc, "sentence_made_up", question, f"{said} {sc['hallucinated']}", {**unsupported, **found},
             {"contexts": [facts, away[1]], **ref}, bare=True)  # fmt: skip
    if sc.chosen("irrelevant_contexts"):
        _add(rows, sc, "irrelevant_contexts", question, said, {**unsupported, **missed},
             {"contexts": away[:2], **ref}, bare=True)  # fmt: skip
    else:
        _add(rows, sc, "ranked_last", question, said, {**supported, "context_precision": False, "context_recall": True},
             {"contexts": [*away, facts], **ref}, bare=True)  # fmt: skip


def _add(
    rows: Rows,
    sc: Scenario,
    kind: str,
    user: str,
    answer: str,
    labels: Labels,
    more: Mapping[str, Any] | None = None,
    *,
    bare: bool = False,
) -> None:
    """`bare`: without the scenario's system prompt, as a retrieval pipeline logs it."""
    sample: dict[str, Any] = {} if bare else {"system_prompt": sc["system"]}
    sample |= {"input": user, "output": answer, **(more or {})}
    rows.add(f"quality-{sc.domain}-{sc.lang}-{kind}", sample, labels, [
        f"lang:{sc.lang}", "group:quality", f"domain:{sc.domain}", f"scenario:{sc.domain}-{sc.lang}", f"kind:{kind}", "turns:single", "format:fields",
        ])  # fmt: skip


def add_rag(rows: Rows) -> None:
    """The rows of the RAG set: product questions and six other topics, each with a document that answers, one beside it
    of the same kind, and one from far away."""
    for lang in LANGUAGES:
        items = load(HERE / f"rag_{lang}.yaml")
        for place, item in enumerate(items):
            _add_item(rows, lang, place, item, items[(place + 3) % len(items)]["near"])


def _add_item(rows: Rows, lang: str, place: int, item: Mapping[str, Any], far: str) -> None:
    said, ref = " ".join(item["said"]), item["facts"]
    supported = {"faithfulness": True, "hallucination": True}
    unsupported = dict.fromkeys(supported, False)
    found = {"context_precision": True, "context_recall": True}
    missed = dict.fromkeys(found, False)
    full: Labels = {"answer_relevancy": True, "completeness": True, "refusal": "answered"}
    good, near = [item["facts"], item["near"]], [item["near"], far]
    variants: Sequence[tuple[str, list[str], str, Labels]] = (
        ("faithful", good, said, {**supported, **found, **full, "correctness": True}),
        ("sentence_made_up", good, f"{said} {item['extra']}", {**unsupported, **found, "refusal": "answered"}),
        ("contradiction", good, " ".join(item["mistaken"]), {**unsupported, **found, "correctness": False,
                                                             "answer_relevancy": True}),
        ("half_answered", good, item["said"][0], {**supported, **found, "completeness": False, "correctness": False}),
        ("contexts_missing", near, said, {**unsupported, **missed, "correctness": True}),
        ("declined_for_want", near, item["declined"], {**missed, "refusal": "warranted_refusal",
                                                       "answer_relevancy": False, "completeness": False}),
        ("ranked_last", [*near, item["facts"]], said, {**supported, "context_precision": False, "context_recall": True}),
    )  # fmt: skip
    for kind, contexts, output, labels in variants:
        sample = {"input": item["question"], "contexts": contexts, "output": output, "expected": ref}
        rows.add(f"rag-{lang}-{place:02d}-{kind}", sample, labels, [
            f"lang:{lang}", "group:quality", f"topic:{item['topic']}", f"scenario:rag-{lang}-{place:02d}", f"kind:{kind}"])  # fmt: skip
