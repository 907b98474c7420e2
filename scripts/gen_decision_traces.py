"""Make the labelled traces of the decision suite.

    python scripts/gen_decision_traces.py [--check]

Writes `datasets/decision/traces.jsonl` and `datasets/decision/rag.jsonl`: pure functions of the texts in `decision_traces/`
and the seed in `decision_traces/rows.py`, the same bytes on every machine, under every Python version and hash seed.
`--check` compares instead of writing and ends with 1 if a file differs.

A scenario is a good trace with what may go wrong in it, written by hand in English or Russian; each row is a scenario with
one thing done to it, written down as OpenAI chat, Anthropic blocks, Responses items or plain fields. Rows are
`{"id", "sample", "labels", "tags"}`. A label says what a careful person wants of the eval: true (it passes), false, or the
option of a choice. A row has the labels that its construction decides, those that it breaks and those that it surely leaves
alone, and no others. Tags: lang, group, domain (rag: topic), scenario, kind (what was done), turns, format; `risk` (approve, escalate,
block) on rows with a proposed call; `synthetic:credential` where the answer holds a key that was drawn and never issued.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from decision_traces import agent_rows, quality_rows, security_rows
from decision_traces.rows import Rows, line
from decision_traces.scenarios import scenarios

HOME = Path(__file__).resolve().parent.parent / "datasets" / "decision"


def traces() -> Rows:
    """The rows of the traces, in the order of the file."""
    rows = Rows()
    every = scenarios()
    for sc in every:
        agent_rows.add_all(rows, sc)
        security_rows.add_all(rows, sc)
        quality_rows.add_all(rows, sc, [other for other in every if other.lang == sc.lang])
    return rows


def rag() -> Rows:
    """The rows of the RAG set."""
    rows = Rows()
    quality_rows.add_rag(rows)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or compare them under `--check`; the exit code."""
    parser = argparse.ArgumentParser(description="Make the labelled traces of the decision suite.")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    options = parser.parse_args(arguments)
    stale = []
    for name, rows in (("traces.jsonl", traces()), ("rag.jsonl", rag())):
        path, data = HOME / name, "".join(line(row) + "\n" for row in rows).encode("utf-8")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        elif not path.is_file() or path.read_bytes() != data:
            stale.append(name)
        print(f"{name}: {len(rows)} rows")
    if stale:
        print(f"out of date: {', '.join(stale)}; run scripts/gen_decision_traces.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
