"""What asking costs: samples a second of this plugin, on one process and on two, and of jevals 0.1.4, all with mock backends.

.venv/bin/python benchmarks/decision.py [--samples 10000] [--runs 3] [--scaling] [--local]

Ten thousand agent traces of six messages, the eight evals of the library's first example, every answer 0.9. Both read one
JSONL file and make the report of the whole, in processes of their own, whose start is counted; jevals reads the file whole.
Seconds are those of the CPU, of all processes together, and of the clock on the wall.
`--scaling` adds runs on a tenth and on ten times as many samples of ours: time must be linear, and memory constant.
`--local` adds the questions that the backend `local` answers in a CPU second.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
from measure import Usage, in_turn, table

HERE = Path(__file__).parent


def write_traces(path: Path, samples: int) -> None:
    """Traces with a system prompt, a question, a call, its result, a follow-up and an answer; no two alike."""
    draw = random.Random(0)
    tools = [
        {"name": name, "description": f"Looks up a {name[5:]}.", "parameters": {"type": "object", "properties": {}}}
        for name in ("find_order", "find_customer", "find_invoice", "find_parcel")
    ]
    with path.open("wb") as file:
        for i in range(samples):
            order, day = f"{draw.randrange(10_000, 99_999)}", draw.randrange(1, 28)
            call = {"name": "find_order", "arguments": f'{{"order": "{order}"}}'}
            messages = [
                {"role": "system", "content": "You help the customers of a shop. Be brief and keep to orders."},
                {"role": "user", "content": f"Hello, where is my order {order}? I have waited for it since day {day}."},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": f"c{i}", "type": "function", "function": call}],
                },
                {"role": "tool", "tool_call_id": f"c{i}", "content": f'{{"order": "{order}", "arrives": {day}}}'},
                {"role": "user", "content": "And can I still change the address?"},
                {
                    "role": "assistant",
                    "content": f"Order {order} arrives on day {day}. The address can be changed until it has shipped.",
                },
            ]
            file.write(orjson.dumps({"messages": messages, "tools": tools}, option=orjson.OPT_APPEND_NEWLINE))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scaling", action="store_true", help="also a tenth and ten times as many samples")
    parser.add_argument("--local", action="store_true", help="also the questions a second of the backend local")
    chosen = parser.parse_args()
    peer = importlib.util.find_spec("jevals") is not None
    if not peer:
        print("jevals is not installed: pip install jevals==0.1.4", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        rows = work / "rows.jsonl"
        write_traces(rows, chosen.samples)
        ours = [sys.executable, str(HERE / "decision_ours.py")]
        commands = {"jevals 0.1.4": [sys.executable, str(HERE / "decision_jevals.py"), str(rows)]} if peer else {}
        commands["yb-eval-decision"] = [*ours, str(rows)]
        commands["concurrency=2"] = [*ours, str(rows), "2"]
        print(f"{chosen.samples:,} samples x 8 evals (goal: at least 5 x jevals' samples a second)")
        used = in_turn(commands, chosen.runs, cwd=work)
        print(table(used, "yb-eval-decision"))
        _print_rates(chosen.samples, used)
        if chosen.scaling:
            _print_scaling(chosen.samples, chosen.runs, ours, work)
        if chosen.local:
            local = [sys.executable, str(HERE / "decision_local.py"), str(rows)]
            runs = [subprocess.run(local, check=True, capture_output=True, text=True) for _ in range(chosen.runs)]
            questions, answered, cpu = sorted((run.stdout.split() for run in runs), key=lambda n: float(n[2]))[
                len(runs) // 2
            ]
            print("\nThe backend local (goal: at least 5,000 questions a second)")
            print(
                f"  {int(questions) / float(cpu):,.0f} questions a CPU second; {int(answered) / int(questions):.0%} answered"
            )


def _print_rates(samples: int, used: dict[str, Usage]) -> None:
    """Samples a second, and how many times jevals' that is, where it was run."""
    peer = used.get("jevals 0.1.4")
    for command, usage in used.items():
        line = f"  {command:<18} {samples / usage.wall:8,.0f} samples a wall second, {samples / usage.cpu:8,.0f} a CPU second"
        if peer is not None:
            line += f"; {peer.wall / usage.wall:6.2f} and {peer.cpu / usage.cpu:6.2f} x jevals"
        print(line)


def _print_scaling(samples: int, runs: int, ours: list[str], work: Path) -> None:
    sizes = {}
    counts = (samples // 10, samples, samples * 10)
    for count in counts:
        path = work / f"rows-{count}.jsonl"
        write_traces(path, count)
        sizes[f"{count:,} samples"] = [*ours, str(path)]
    used = in_turn(sizes, runs, cwd=work)
    few, some, many = used.values()
    print("\nScaling (goal: time linear, memory constant)")
    print(table(used, f"{samples:,} samples"))
    # The differences, so that the start of the process is not taken for work on samples.
    first, second = ((b.cpu - a.cpu) / (n - m) for a, b, m, n in ((few, some, *counts[:2]), (some, many, *counts[1:])))
    print(
        f"  a sample more: {first * 1e6:,.0f} us of CPU, then {second * 1e6:,.0f} us; peak {many.peak / few.peak:.2f} times"
    )


if __name__ == "__main__":
    main()
