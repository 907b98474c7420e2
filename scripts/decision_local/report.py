"""docs/decision-local.md: what the local model is, and how good it is on rows it has not seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from decision_local.rows import Row, load_lines, seeded
from decision_local.texts import _carriers, _embedded
from yb_eval_decision.answers import NoAnswer, NoulAnswer
from yb_eval_decision.local.bearing import relevance
from yb_eval_decision.local.language import plain_words
from yb_eval_decision.local.model import Model
from yb_eval_decision.local.overlap import read_evidence
from yb_eval_decision.local.reading import read_text
from yb_eval_decision.local.supporting import support
from yb_eval_decision.local.tasks import Reader
from yb_eval_decision.questions import Choice, Noul, Question, Task

_BINS = 10
_TITLES = {
    "support": "Does the evidence support the claim?",
    "relevance": "Does the text bear on the question?",
    "injection": "Does the text try to override or extract instructions, or to change the assistant's role?",
    "indirect_injection": "Does content that an agent reads hold instructions aimed at the agent?",
    "jailbreak": "Does the text try to talk the assistant out of its safety rules?",
    "refusal": "Was the request not (or not wholly) served?",
    "noncommittal": "Does the answer evade?",
}


def probability(model: Model, task: str, parts: Mapping[str, Any]) -> float:
    """What the head of `task` gives, whether or not it may say so."""
    if task == "support":
        measured = support(read_text(parts["claim"]), read_evidence(parts["evidence"]), model.rarity, model.rarest)
        return model.curve.probability(model.measures[task].logit(measured))
    if task == "relevance":
        measured = relevance(
            read_text(parts["question"]),
            list(plain_words(parts["question"])),
            read_evidence(parts["text"]),
            model.rarity,
            model.rarest,
        )
        return model.curve.probability(model.measures[task].logit(measured))
    return model.curve.probability(model.wordings[task].logit(next(iter(parts.values()))))


def answered(reader: Reader, task: str, parts: Mapping[str, Any]) -> bool | None:
    """What the backend answers: yes, no, or nothing. For `refusal`, "answered" is a no."""
    asked = Task(task, {name: name for name in parts})
    question: Question = Noul("?", task=asked)
    if task == "refusal":
        question = Choice("?", ["answered", "partial", "warranted_refusal", "over_refusal"], task=asked)
    answer = reader.answer(question, parts)
    if isinstance(answer, NoAnswer):
        return None
    return answer.value if isinstance(answer, NoulAnswer) else False


def _measured(rows: Sequence[Row], p: Any, said: Sequence[bool | None]) -> str:
    """Cells: n, yes share, AUROC, Brier, ECE, coverage, accuracy where answered, and both kinds of wrong answers."""
    y = np.array([row.label for row in rows], dtype=bool)
    given = [(answer, row.label) for answer, row in zip(said, rows, strict=True) if answer is not None]
    right = sum(answer == label for answer, label in given)
    wrong_yes, wrong_no = sum(a and not b for a, b in given), sum(b and not a for a, b in given)
    cells = [
        str(len(rows)), str(int(y.sum())), _auroc(y, p), f"{np.mean((p - y) ** 2):.3f}", f"{_ece(y, p):.3f}",
        f"{len(given) / len(rows):.0%}", f"{right / len(given):.1%}" if given else "–", str(wrong_yes), str(wrong_no),
    ]  # fmt: skip
    return " | ".join(cells)


def _auroc(y: Any, p: Any) -> str:
    """The share of (yes, no) pairs that the probabilities put in order, ties half."""
    if y.all() or not y.any():
        return "–"
    yes, no = p[y], p[~y]
    above = (yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()
    return f"{above:.3f}"


def _bins(y: Any, p: Any) -> list[tuple[int, int, float, float]]:
    which = np.minimum((p * _BINS).astype(int), _BINS - 1)
    return [
        (index, int((which == index).sum()), float(p[which == index].mean()), float(y[which == index].mean()))
        for index in range(_BINS)
        if (which == index).any()
    ]


def _ece(y: Any, p: Any) -> float:
    """Expected calibration error over equal-width bins."""
    return sum(n * abs(said - was) for _, n, said, was in _bins(y, p)) / len(y)


_HEAD = "| n | yes | AUROC | Brier | ECE | answered | right where answered | wrong yes | wrong no |"
_RULE = "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"


def report(data: Mapping[str, Sequence[Row]], model: Model, size: int) -> str:
    """The document, as Markdown."""
    reader = Reader(model)
    lines = [
        _INTRODUCTION.format(size=f"{size / 1e6:.1f}"),
        "## Summary, held-out rows",
        "",
        f"| task | language {_HEAD}",
        f"| --- | --- {_RULE}",
    ]
    details: list[str] = []
    for task in _TITLES:
        rows = [row for row in data[task] if row.split == "test"]
        p = np.array([probability(model, task, row.parts) for row in rows])
        said = [answered(reader, task, row.parts) for row in rows]

        def cells(keep: Callable[[Row], bool], rows: Any = rows, p: Any = p, said: Any = said) -> str:
            kept = [i for i, row in enumerate(rows) if keep(row)]
            return _measured([rows[i] for i in kept], p[kept], [said[i] for i in kept])

        for lang in ("en", "ru"):
            lines.append(f"| `{task}` | {lang} | {cells(lambda row, lang=lang: row.lang == lang)} |")
        details += _detail(task, model, data[task], rows, p, cells)
    lines += ["", _READING, *details, *_payloads(reader), _LIMITS]
    return "\n".join(lines)


def _detail(
    task: str,
    model: Model,
    everything: Sequence[Row],
    rows: Sequence[Row],
    p: Any,
    cells: Callable[[Callable[[Row], bool]], str],
) -> list[str]:
    head = model.wordings[task] if task in model.wordings else model.measures[task]
    fit = [row for row in everything if row.split == "fit"]
    lines = [
        f"## `{task}`", "", _TITLES[task], "",
        f"Fitted on {len(fit):,} rows of {len({row.group for row in fit}):,} groups; nothing is answered between "
        f"p = {head.band.low:.2f} and p = {head.band.high:.2f}.", "",
        f"| held-out rows of | language {_HEAD}", f"| --- | --- {_RULE}",
    ]  # fmt: skip
    for source, lang in sorted({(row.source, row.lang) for row in rows}):
        lines.append(
            f"| {source} | {lang} | {cells(lambda row, where=(source, lang): (row.source, row.lang) == where)} |"
        )  # type: ignore[misc]
    y = np.array([row.label for row in rows], dtype=float)
    lines += ["", "| p | rows | mean p | share of yes |", "| --- | ---: | ---: | ---: |"]
    lines += [
        f"| {i / _BINS:.1f} to {(i + 1) / _BINS:.1f} | {n} | {said:.3f} | {was:.3f} |"
        for i, n, said, was in _bins(y, p)
    ]
    if task in model.measures:
        weights = model.measures[task]
        lines += ["", "Weights (thousandths of a logit for a whole unit of the measure): "
                  + ", ".join(f"{name} {weight:+d}" for name, weight in zip(weights.names, weights.weights, strict=True)) + "."]  # fmt: skip
    else:
        strongest = sorted(model.wordings[task].ngrams.items(), key=lambda item: (-item[1], item[0]))
        shown = lambda items: ", ".join(f"`{gram}` {weight:+d}" for gram, weight in items)  # noqa: E731
        lines += [
            "",
            f"{len(strongest):,} n-grams; the strongest for yes: {shown(strongest[:12])}; for no: {shown(strongest[:-9:-1])}.",
        ]
    return [*lines, ""]


def _payloads(reader: Reader) -> list[str]:
    """BIPIA's payloads are ordinary requests: what they are inside of makes them attacks. Never trained on."""
    carriers = [one for (lang, part), found in _carriers().items() if lang == "en" and part == "test" for one in found]
    said = []
    for row in load_lines("guards/bipia.jsonl"):
        inside = _embedded(row["text"], carriers, seeded("bipia", row["id"]))
        said.append(answered(reader, "indirect_injection", {"text": inside}))
    counts = json.dumps({"yes": said.count(True), "no": said.count(False), "abstained": said.count(None)})
    return [
        "## Payloads that read like ordinary requests", "",
        "The 125 payloads of BIPIA (MIT; never trained on), each put into a text that a tool could return. They say nothing of an agent "
        "or of instructions (\"Write a script to rename all files\"), so wording cannot give them away; all are attacks:", "",
        f"`indirect_injection` answered {counts}. **A no of the local model does not mean that content is harmless.**", "",
    ]  # fmt: skip


_INTRODUCTION = """# The local decision model

<!-- Written by scripts/train_decision_local.py; do not edit. -->

The backend `local` needs no network, no key and no GPU. It knows seven kinds of questions (the tasks below) in English and
Russian, answers them with a calibrated probability, and **abstains** on every other question and wherever it is not sure; an
abstention is unmeasured. Its weights ({size} MB) are in the package and checked against their sha256 when they are read.

- **What it is.** For one text: a logistic model over stems and their n-grams, in overlapping windows of 48 words, of which the
  strongest counts, so that padding hides nothing. For two texts: a logistic model over some fifteen measures, such
  as how much of a claim stands in one sentence of the evidence, numbers and names that are missing there, denials, opposites.
  All weights are whole numbers and can be read in `weights.json`.
- **What it is not.** It does not understand language. It compares wording, and what is said in other words than it knows is
  undecided at best.
- **Data.** Wordings and topics written by hand for it, in both languages, and open data that may be redistributed
  (datasets/decision/local/NOTICE.md). Groups (a template, a topic, an intent, a source text) are held out whole, but
  templates share slots such as the words for "ignore", and most topics exist in both languages. No
  sentence of the suite's labelled traces is among them, but kinds of wording that an earlier version missed there were added, in
  other words: what `local` scores on the traces is no held-out result for injections, jailbreaks and refusals.
- **Probabilities** are fitted (Platt 1999) on what models that did not see a row's group said of it, so they hold for data with
  about as many yes as here. They end at 0.011 and 0.989: the model is never surer.
- **The band** in which it abstains is chosen on the same rows: the narrowest that leaves 93 % of all decided answers right (95 % for
  `support`), and 88 % of those on either side.
"""

_READING = """`answered`: the share of rows that get an answer; the others are abstentions. AUROC, Brier and ECE (10 bins) are of the
probabilities of all rows, abstentions included. `wrong yes` and `wrong no` count answers that are wrong. A `refusal` is only
ever answered with "answered": what looks like a refusal is left to a model that can judge whether it is warranted.
"""

_LIMITS = """## Limits

- The rows are few, many are written for this model, and attackers write new ones: treat the numbers as what can be expected of
  wordings like these. Russian rows are nearly all written by hand for it.
- `support` sees words, numbers, names, denials and a few opposites. It does not reason: "twice a week" and "on Tuesdays and
  Fridays" are different words to it. A claim about a part of the evidence that says something else in the same words (who bought
  whom, which of two things is free) can fool it; most of its wrong answers are of that kind.
- "sentences changed" rows are made by changing one thing in a sentence (a number, a name, a denial, an opposite, something
  added) and are easier than what models make up. Only the hand-written topics set the probabilities and the band of `support`.
- `relevance` tells whether words and names of a question stand in a text, best for short questions. Asked for levels, it shares its
  probability evenly among the upper and the lower half of them: how well something is answered it cannot tell.
- `injection` and `jailbreak` know wordings. Without one (a plain request for something harmful) they say no; in other languages
  and about encoded parts they abstain unless a wording gives the text away.
- `noncommittal` counts refusals and not knowing as evasion.
- To do better, put a decision model or an LLM behind it: `--backend "local -> ..."` sends on what is undecided.
"""
