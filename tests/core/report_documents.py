"""Realistic runs for the tests of the reports: documents as the runner writes them, with outcome logs and history.

A plain helper (loaded by path): `guards`, `triage`, `routing` and `decision` each make one suite with its outcomes;
`run` puts suites together. Nothing is random but what a fixed seed makes.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from typing import Any

from yb_eval.reports import RunView
from yb_eval.statistics import wilson

Json = dict[str, Any]

#: Strings that break or script a report that is careless with one of its formats.
HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 2</script>",
    "<img src=x onerror='window.pwned = 3'>",
    '"><svg onload=window.pwned=4>',
    "<!-- --> <![CDATA[ ]]> <!--",
    "{{ 7 * 7 }} {% raw %} ${window.pwned = 5}",
    "| a | b |\n|---|---|",
    "`` ` ``` code ``` ` ``",
    "@octocat @team/all #1 GH-2 owner/repo#3 :tada: $x$",
    "[click](javascript:window.pwned=6) ![x](http://127.0.0.1/x.png) https://example.invalid www.example.invalid",
    "someone@example.invalid",
    "</details></table></code> <details open>",
    "# heading\n\n- list\n\n    code\n***bold*** ~~gone~~ __under__",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J",
    "\x00\x01\x02\x08\x0b\x0c\x7f\x85",
    "\u202eright to left\u202c \u2066isolate\u2069 \u200b\ufeff \u2028 \u2029",
    "\ufffe\uffff \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 123",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320",
    "\\| \\\\| \\",
    "&lt;b&gt; &amp; &#64;octocat",
    "\t\r\n",
    "]]>",
    "",
)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rate(successes: int, n: int, **more: Any) -> Json:
    if n == 0:
        return {"value": None, "n": 0, "interval": None, "reason": "no sample in the denominator", **more}
    return {"value": successes / n, "n": n, "interval": list(wilson(successes, n)), "reason": None, **more}


def count(value: int, n: int) -> Json:
    return {"value": value, "n": n, "interval": None, "reason": None}


def declared(help: str, *, better: str | None = "higher", low: float | None = 0.0, high: float | None = 1.0) -> Json:
    return {"help": help, "low": low, "high": high, "better": better}


def gate(text: str, verdict: str = "pass", reason: str = "", *, severity: str = "block") -> Json:
    return {"gate": text, "severity": severity, "verdict": verdict, "reason": reason or f"{text}: {verdict}"}


def suite(name: str, outcomes: list[Json], measurements: dict[str, Json], gates: list[Json], **more: Any) -> Json:
    """A suite's part of the document; its verdict and counts follow from its gates and outcomes."""
    statuses = [outcome["status"] for outcome in outcomes]
    blocking = [entry["verdict"] for entry in gates if entry["severity"] == "block"]
    verdict = "fail" if "fail" in blocking else "unmeasured" if "unmeasured" in blocking else "pass"
    made: Json = {
        "suite": name,
        "name": name,
        "plan_id": digest(f"plan {name}"),
        "run_id": digest(f"run {name}"),
        "verdict": verdict,
        "plugin": {"distribution": f"yb-eval-{name}", "version": "0.1.0"},
        "target": {"spec": "builtin", "fingerprint": digest(f"target {name}")},
        "datasets": [{"id": f"{name}_labeled", "revision_id": digest(f"data {name}"), "count": len(outcomes)}],
        "counts": {
            "samples": len(outcomes),
            "scored": statuses.count("scored"),
            "error": statuses.count("error"),
            "skipped": statuses.count("skipped"),
        },
        "measurements": measurements,
        "gates": gates,
        "details": {},
        "comparison": None,
        "outcomes": {"sha256": digest(f"log {name}"), "size": 100 * len(outcomes), "count": len(outcomes)},
        "declared": {},
        "notes": [],
    }
    return made | more


def outcome(id: str, expected: Any, predicted: Any, *, tags: Iterable[str] = (), **more: Any) -> Json:
    return {
        "id": id,
        "status": "scored",
        "correct": expected == predicted,
        "expected": expected,
        "predicted": predicted,
        "reason": None,
        "tags": list(tags),
        "details": {},
    } | more


def error(id: str, reason: str, *, expected: Any = None, tags: Iterable[str] = ()) -> Json:
    return outcome(id, expected, None, tags=tags, status="error", correct=None, reason=reason)


def guards(*, failing: bool = True, size: int = 400) -> tuple[Json, list[Json]]:
    """Detection with slices, a confusion table, errors and a baseline that was better."""
    dice = random.Random("guards")
    outcomes: list[Json] = []
    kinds = ("pan", "inn", "snils", "secret", "injection", "decoy")
    for number in range(size):
        kind, language = kinds[number % 6], ("ru", "en", "code")[number % 3]
        expected = "clean" if kind == "decoy" or number % 4 == 0 else "detect"
        missed = failing and dice.random() < (0.12 if language == "ru" else 0.03)
        predicted = ("clean" if expected == "detect" else "detect") if missed else expected
        reason = None if not missed else "no detector fired" if predicted == "clean" else f"{kind}: checksum passes"
        outcomes.append(
            outcome(
                f"g-{number:04}",
                expected,
                predicted,
                tags=(f"lang:{language}", f"kind:{kind}"),
                reason=reason,
                details={"detectors": [kind], "span": [12, 31], "text": f"synthetic row {number}"},
            )
        )
    if failing:
        outcomes[17] = error("g-0017", "timeout after 30 s", expected="detect", tags=("lang:en", "kind:secret"))
        outcomes[203] = error("g-0203", "answer.verdict: 'maybe' is not one of detect, clean", expected="clean")

    def cells(keep: Any) -> dict[str, int]:
        rows = [o for o in outcomes if o["status"] == "scored" and keep(o)]
        pairs = [(o["expected"], o["predicted"]) for o in rows]
        return {
            "tp": pairs.count(("detect", "detect")),
            "fp": pairs.count(("clean", "detect")),
            "fn": pairs.count(("detect", "clean")),
            "tn": pairs.count(("clean", "clean")),
        }

    whole = cells(lambda o: True)
    confusion = {"labels": ["clean", "detect"], "rows": [[whole["tn"], whole["fp"]], [whole["fn"], whole["tp"]]]}
    measurements = {
        "precision": rate(whole["tp"], whole["tp"] + whole["fp"], details=confusion),
        "recall": rate(whole["tp"], whole["tp"] + whole["fn"]),
        "false_positive_rate": rate(whole["fp"], whole["fp"] + whole["tn"]),
        "errors": count(sum(o["status"] == "error" for o in outcomes), size),
        "coverage": rate(sum(o["status"] == "scored" for o in outcomes), size),
    }
    for dimension, keys in (("lang", ("ru", "en", "code")), ("kind", kinds)):
        for key in keys:
            part = cells(lambda o, tag=f"{dimension}:{key}": tag in o["tags"])
            measurements[f"precision[{dimension}:{key}]"] = rate(part["tp"], part["tp"] + part["fp"])
            measurements[f"recall[{dimension}:{key}]"] = rate(part["tp"], part["tp"] + part["fn"])
    precision, recall = measurements["precision"]["value"], measurements["recall"]["value"]
    gates = [
        gate("precision >= 0.98", "pass" if precision >= 0.98 else "fail", f"precision is {precision:.4f}"),
        gate("recall >= 0.9", "pass" if recall >= 0.9 else "fail", f"recall is {recall:.4f}"),
        gate("errors == 0", "fail" if failing else "pass", "2 samples ended in an error" if failing else "no errors"),
        gate("lower(precision) >= 0.95", "fail" if failing else "pass", "the lower bound", severity="warn"),
        gate("no_worse(recall)", "pass", "p = 0.25 over 398 pairs"),
    ]
    made = suite("guards", outcomes, measurements, gates)
    made["declared"] = {
        "precision": declared("Of the samples that were flagged, the share that should be."),
        "recall": declared("Of the samples that should be flagged, the share that was."),
        "false_positive_rate": declared("Of the clean samples, the share that was flagged.", better="lower"),
        "errors": declared("Samples that could not be judged.", better="lower", high=None),
        "coverage": declared("The share of samples that were judged."),
    }
    made["comparison"] = compare(made, outcomes) if failing else None
    made["notes"] = ["a byte-order mark at the start of guards_labeled.jsonl was skipped"]
    return made, outcomes


def compare(made: Json, outcomes: list[Json]) -> Json:
    """A comparison in which three quarters of the wrong samples were right before, and two others are fixed."""
    wrong = [o for o in outcomes if o["correct"] is False]
    broken = wrong[: max(len(wrong) * 3 // 4, 1)]
    fixed = [o for o in outcomes if o["correct"]][:2]
    flips = [
        {"id": o["id"], "kind": "broken", "before": o["expected"], "after": o["predicted"], "judgement": None}
        for o in broken
    ] + [{"id": o["id"], "kind": "fixed", "before": "clean", "after": o["predicted"], "judgement": None} for o in fixed]
    changes = {
        name: {"value": m["value"], "baseline": m["value"] + 0.021, "change": -0.021, "interval": [-0.037, -0.004]}
        for name, m in made["measurements"].items()
        if "[" not in name and isinstance(m["value"], float)
    }
    return {
        "comparable": True,
        "reason": None,
        "baseline_run_id": digest("baseline"),
        "same_revision": False,
        "shared": len(outcomes) - 3,
        "added": ["g-0397", "g-0398", "g-0399"],
        "removed": ["g-old-1"],
        "judgements": {
            "": {
                "n": len(outcomes) - 5,
                "broken": len(broken),
                "fixed": len(fixed),
                "changed": len(broken) + len(fixed),
                "lost": 2,
                "p_value": 0.0004,
                "interval": [-0.06, -0.02],
                "score_change": None,
                "score_interval": None,
            }
        },
        "flips": flips,
        "measurements": changes,
        "minimum_detectable_change": 0.018,
    }


def triage(size: int = 240) -> tuple[Json, list[Json]]:
    """Three judgements a sample, an ordinal measurement, calibration bins, a large confusion table; all gates pass."""
    dice = random.Random("triage")
    labels = ("billing", "bug", "feature", "account", "abuse", "question")
    outcomes = []
    table = [[0] * len(labels) for _ in labels]
    for number in range(size):
        expected = dice.randrange(len(labels))
        predicted = expected if dice.random() < 0.86 else (expected + dice.choice((1, 2))) % len(labels)
        table[expected][predicted] += 1
        severity = dice.randint(0, 4)
        guess = severity if dice.random() < 0.8 else min(severity + 1, 4)
        judgements = {
            "label": {"status": "scored", "correct": expected == predicted, "expected": labels[expected],
                      "predicted": labels[predicted], "confidence": round(dice.uniform(0.5, 1), 3)},
            "severity": {"status": "scored", "correct": severity == guess, "expected": severity, "predicted": guess},
            "escalate": {"status": "scored", "correct": True, "expected": severity == 4, "predicted": severity == 4},
        }  # fmt: skip
        correct = expected == predicted and severity == guess
        outcomes.append(
            outcome(
                f"t-{number:03}", {name: j["expected"] for name, j in judgements.items()},
                {name: j["predicted"] for name, j in judgements.items()},
                tags=(f"lang:{dice.choice(('ru', 'en'))}", f"channel:{dice.choice(('mail', 'chat', 'form'))}"),
                judgements=judgements, correct=correct,
            )
        )  # fmt: skip
    right = sum(table[i][i] for i in range(len(labels)))
    bins = []
    for step in range(10):
        n = dice.randint(5, 40)
        middle = step / 10 + 0.05
        bins.append({"low": step / 10, "high": (step + 1) / 10, "n": n, "confidence": middle, "accuracy": middle**1.3})
    bins[1] = {"low": 0.1, "high": 0.2, "n": 0, "confidence": None, "accuracy": None}
    measurements = {
        "label.accuracy": rate(right, size, details={"labels": list(labels), "rows": table}),
        "label.ece": {"value": 0.047, "n": size, "interval": [0.03, 0.07], "reason": None, "details": {"bins": bins}},
        "severity.mae": {"value": 0.2083, "n": size, "interval": [0.158, 0.259], "reason": None},
        "escalate.recall": rate(0, 0),
        "cost_usd": {"value": 1234.5678, "n": size, "interval": None, "reason": None},
    }
    for channel in ("mail", "chat", "form"):
        rows = [o for o in outcomes if f"channel:{channel}" in o["tags"]]
        good = sum(o["judgements"]["label"]["correct"] for o in rows)
        measurements[f"label.accuracy[channel:{channel}]"] = rate(good, len(rows))
    gates = [
        gate("label.accuracy >= 0.8", "pass", f"label.accuracy is {right / size:.4f}"),
        gate("severity.mae <= 0.5", "pass", "severity.mae is 0.2083"),
        gate("escalate.recall >= 0.9", "unmeasured", "no sample in the denominator", severity="warn"),
    ]
    made = suite("triage", outcomes, measurements, gates)
    made["declared"] = {
        "label.accuracy": declared("Share of samples with the right label."),
        "label.ece": declared("Expected calibration error of the label's confidence.", better="lower"),
        "severity.mae": declared("Mean distance from the right severity, in steps.", better="lower", high=4.0),
        "escalate.recall": declared("Of the samples to escalate, the share that was."),
        "cost_usd": declared("What the run cost.", better="lower", high=None),
    }
    return made, outcomes


def decision(size: int = 180) -> tuple[Json, list[Json]]:
    """A selective decision with a risk-coverage curve, and a gate that could not be measured."""
    dice = random.Random("decision")
    outcomes = [outcome(f"d-{n}", "approve", "approve" if dice.random() < 0.9 else "refuse") for n in range(size)]
    curve = [[step / 20, round(0.10 * (step / 20) ** 2 + 0.005, 5)] for step in range(1, 21)]
    right = sum(o["correct"] for o in outcomes)
    measurements = {
        "accuracy": rate(right, size),
        "aurc": {"value": 0.0412, "n": size, "interval": None, "reason": None, "details": {"curve": curve}},
        "regret": {"value": None, "n": 0, "interval": None, "reason": "no sample has a utility"},
    }
    gates = [
        gate("regret <= 0.1", "unmeasured", "regret is not measured: no sample has a utility"),
        gate("accuracy >= 0.85", "pass", "accuracy is fine"),
    ]
    made = suite("decision", outcomes, measurements, gates)
    made["declared"] = {"accuracy": declared("Share of right decisions.")}
    return made, outcomes


def run(*parts: tuple[Json, list[Json]], history: int = 0, **options: Any) -> RunView:
    """Suites as one run. `history` earlier runs are made up for each suite, drifting up to where it stands now."""
    suites = [made for made, _ in parts]
    logs = [log for _, log in parts]
    words = [made["verdict"] for made in suites]
    verdict = "fail" if "fail" in words else "unmeasured" if "unmeasured" in words else "pass"
    document = {
        "schema": "yb-eval/report/1",
        "plan_id": digest("plan"),
        "run_id": digest("run"),
        "verdict": verdict,
        "exit_code": {"pass": 0, "fail": 1, "unmeasured": 3}[verdict],
        "suites": suites,
        "failures": [],
        "envelope": {
            "started": "2026-11-30T12:00:00Z",
            "seconds": 1.8342,
            "host": "runner-1",
            "python": "3.11.9",
            "yb_eval": "0.1.0",
            "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "branch": "main", "dirty": False},
        },
    }

    def outcomes(index: int) -> Iterator[Json]:
        return iter(logs[index])

    def earlier(index: int) -> list[Json]:
        return [_earlier(suites[index], step, history) for step in range(history)]

    return RunView(document=document, outcomes=outcomes, history=earlier, **options)


def _earlier(made: Json, step: int, steps: int) -> Json:
    drift = ((step * 7) % 5 - 2) * 0.004 - 0.01 * (steps - step) / steps
    measurements = {
        name: m | {"value": min(1.0, m["value"] + drift) if isinstance(m["value"], float) else m["value"]}
        for name, m in made["measurements"].items()
    }
    return {
        "run_id": digest(f"{made['suite']} {step}"),
        "started": f"2026-11-{step + 1:02}T09:30:00Z",
        "verdict": "fail" if step == 2 else "pass",
        "measurements": measurements,
    }


def everything(**options: Any) -> RunView:
    """A failing run of three suites with all that a report can show."""
    return run(guards(), triage(), decision(), history=12, **options)


def passing(**options: Any) -> RunView:
    return run(guards(failing=False), history=6, **options)


def hostile(strings: Iterable[str] = HOSTILE, **options: Any) -> RunView:
    """Every string that comes from data, a target or a plugin is one of `strings`."""
    words = list(strings)
    outcomes: list[Json] = []
    for number, word in enumerate(words):
        details = {word or "k": [word, {"deep": word}]}
        outcomes.append(
            outcome(f"{number}{word}", "right", word, reason=word, tags=[word, f"k:{word}"], details=details)
        )
        outcomes.append(error(f"e{number}{word}", word or "failed", expected=word))
    measurements: dict[str, Json] = {}
    for word in words:
        measurements[f"m.{word}"] = rate(1, 2, details={"labels": [word, "b"], "rows": [[1, 2], [3, 4]]})
        measurements[f"m.{word}[{word}]"] = rate(0, 2)
        measurements[f"n.{word}"] = {"value": None, "n": 0, "interval": None, "reason": word}
    gates = [gate(f"g {word}", "fail", word) for word in words]
    made = suite("hostile", outcomes, measurements, gates)
    made["name"] = words[0]
    made["target"]["spec"] = words[0]
    made["datasets"][0]["id"] = words[0]
    made["declared"] = {f"m.{word}": declared(word) for word in words}
    made["notes"] = list(words)
    made["details"] = {"note": list(words)}
    made["comparison"] = compare(made, outcomes)
    made["comparison"]["flips"] = [
        {"id": o["id"], "kind": kind, "before": o["expected"], "after": o["predicted"], "judgement": o["reason"]}
        for o in outcomes
        for kind in ("broken", "fixed", "changed")
    ]
    made["comparison"]["added"] = made["comparison"]["removed"] = list(words)
    view = run((made, outcomes), history=2, **options)
    view.document["failures"] = list(words)
    view.document["envelope"] |= {"host": words[0], "git": {"branch": words[0]}}
    return view


def large(rows: int = 10_000) -> RunView:
    """One suite of many samples: one in fifty wrong, one in a thousand an error."""
    outcomes = []
    for number in range(rows):
        if number % 1000 == 999:
            outcomes.append(error(f"row-{number:06}", "connection reset", expected="a"))
        else:
            predicted = "b" if number % 50 == 7 else "a"
            tags = (f"lang:{('ru', 'en', 'de')[number % 3]}",)
            outcomes.append(outcome(f"row-{number:06}", "a", predicted, tags=tags, details={"note": f"text {number}"}))
    right = sum(o["correct"] is True for o in outcomes)
    measurements = {"accuracy": rate(right, rows)}
    return run((suite("large", outcomes, measurements, [gate("accuracy >= 0.99", "fail", "too low")]), outcomes))
