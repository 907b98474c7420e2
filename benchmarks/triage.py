"""What the triage suite costs: recorded answers beside the stack's own floor, and the built-in triager's throughput.

.venv/bin/python benchmarks/triage.py
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import orjson
from measure import in_turn, table

from core import YB_EVAL, install, write_rows
from yb_eval_triage.examples import read_examples
from yb_eval_triage.tasks import SHIPPED, open_task
from yb_eval_triage.triagers.builtin import BuiltinTriager

ROWS = 100_000
#: Items answered at once; enough that a second is no noise.
ITEMS = 20_000


def write_answers(folder: Path, *, parts: tuple[str, ...]) -> None:
    """Rows of the task ops and answers to them, nine in ten right; only the named parts of both."""
    draw = random.Random(0)
    labels = list(open_task("ops").labels)
    with (folder / "rows.jsonl").open("wb") as rows, (folder / "answers.jsonl").open("wb") as answers:
        for i in range(ROWS):
            severity = draw.randrange(5)
            gold = {"label": draw.choice(labels), "severity": severity, "escalate": severity >= 3}
            said = {
                "label": gold["label"] if draw.random() < 0.9 else draw.choice(labels),
                "severity": severity if draw.random() < 0.9 else draw.randrange(5),
                "escalate": gold["escalate"],
            }
            row = {"id": f"row-{i}", "text": f"item {i % 97}", "gold": {part: gold[part] for part in parts}}
            answer = {"id": row["id"], **{part: said[part] for part in parts}, "confidence": round(draw.random(), 4)}
            rows.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            answers.write(orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE))


def label_task(folder: Path) -> Path:
    """The labels of ops as a task of their own, without severities."""
    path = folder / "labels.toml"
    lines = ['name = "labels"', 'out_of_scope = "out_of_scope"', "[labels]"]
    path.write_text("\n".join([*lines, *(f'{label} = "-"' for label in open_task("ops").labels)]), encoding="utf-8")
    return path


def scoring(runs: int) -> None:
    print(f"{ROWS:,} recorded answers (goal: at most 2.0 x the floor)")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        install(work)
        write_rows(work / "rows.jsonl", ROWS)
        floor = str(Path(__file__).with_name("triage_floor.py"))
        for title, parts in (("label", ("label",)), ("label, severity, escalate", ("label", "severity", "escalate"))):
            folder = work / str(len(parts))
            folder.mkdir()
            write_answers(folder, parts=parts)
            task = str(label_task(folder)) if len(parts) == 1 else "ops"
            rows, answers = str(folder / "rows.jsonl"), str(folder / "answers.jsonl")
            commands = {
                "floor": [sys.executable, floor, rows, answers, str(folder / "results.jsonl")],
                "yb-eval run triage": [
                    YB_EVAL, "run", "triage", "--task", task, "--rows", rows, "--target", f"predictions:{answers}",
                    "--store", str(folder / "store"),
                ],
                "the runner, exact match": [YB_EVAL, "run", "exact-match", "--store", str(folder / "store")],
            }  # fmt: skip
            print(f"\n {title}")
            print(table(in_turn(commands, runs, cwd=work, env={"PYTHONPATH": str(work)}), "floor"))


def throughput(runs: int) -> None:
    print("\nThe built-in triager, in one process (goal: at least 20,000 items a second)")
    with tempfile.TemporaryDirectory() as name:
        for task in map(open_task, SHIPPED):
            triager = BuiltinTriager.prepare(task, cache=Path(name))
            rows = read_examples(task.path("test").read_bytes(), task=task, where=task.name)
            texts = [row.text for row in rows] * (ITEMS // len(rows) + 1)
            metas = [row.meta for row in rows] * (ITEMS // len(rows) + 1)
            rates = []
            for _ in range(runs + 1):
                began = time.perf_counter()
                triager.answer(texts, metas)
                rates.append(len(texts) / (time.perf_counter() - began))
            size = statistics.fmean(map(len, texts))
            print(f"  {task.name:<12} {statistics.median(rates[1:]):>9,.0f} items/s  {size:6,.0f} characters each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    scoring(chosen.runs)
    throughput(chosen.runs)


if __name__ == "__main__":
    main()
