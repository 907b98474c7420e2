"""What tool routing costs: scenarios per second of the policies that ask no model, on a catalogue of 70 servers and 527
tools; and model calls in flight, with the memory they take.

    .venv/bin/python benchmarks/agent_routing.py

The catalogue and the requests are LiveMCPBench's, as they ship. Rates are what a run of many scenarios takes beyond a
run of few (start-up, reading the catalogue and building menus and indexes are in both), the median over rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from measure import in_turn

from yb_eval_datasets import path

YB_EVAL = str(Path(sys.executable).with_name("yb-eval"))
FEW, MANY = 90, 1_890
#: Scenarios of the slow model: waiting is what they cost.
WAITING = 240
LATENCY = 0.05

SLOW_MODEL = f"""
import threading, time
_lock, _now, _most = threading.Lock(), 0, 0

def answer(request):
    global _now, _most
    with _lock:
        _now += 1
        if _now > _most:
            _most = _now
            open("most", "w").write(str(_most))
    time.sleep({LATENCY})
    with _lock:
        _now -= 1
    return {{"text": "Done."}}
"""


def write_scenarios(folder: Path, name: str, number: int) -> None:
    """`number` scenarios over the shipped catalogue, the shipped tasks again and again."""
    shipped = path("agent_routing/livemcpbench")
    head = json.loads((shipped / "scenarios.json").read_text(encoding="utf-8"))
    (folder / "catalogue.json").write_bytes((shipped / "catalogue.json").read_bytes())
    tasks = [json.loads(line) for line in (shipped / "tasks.jsonl").read_text(encoding="utf-8").splitlines() if line]
    rows = [{**task, "id": f"{task['id']}-{i}"} for i, task in enumerate(islice(cycle(tasks), number))]
    (folder / name).write_text(json.dumps({**head, "scenarios": rows}), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        for number in (FEW, MANY, WAITING, 4 * WAITING):
            write_scenarios(work, f"{number}.json", number)
        (work / "slow_model.py").write_text(SLOW_MODEL, encoding="utf-8")
        base = [YB_EVAL, "run", "agent-routing", "--store", "store", "--min-top1", "0"]
        print(f"Scenarios per second on 70 servers and 527 tools (goal: at least 200), {MANY - FEW} of them")
        for policy in ("in-band", "router", "search", "all", "none"):
            commands = {
                str(number): [*base, "--policy", policy, "--scenarios", f"{number}.json"] for number in (FEW, MANY)
            }
            used = in_turn(commands, chosen.runs, cwd=work)
            beyond = used[str(MANY)].cpu - used[str(FEW)].cpu
            print(
                f"  {policy:<8} {(MANY - FEW) / beyond:8.0f} / s   {FEW} scenarios take {used[str(FEW)].cpu:.2f} s of CPU, "
                f"peak {used[str(FEW)].peak:.0f} -> {used[str(MANY)].peak:.0f} MiB"
            )
        slow = [*base, "--provider", "python:slow_model:answer", "--no-nudge"]
        print(
            f"\nA model that takes {LATENCY:g} s for each call, {WAITING} scenarios (goal: time / jobs, the same log)"
        )
        for jobs in (1, 8, 32):
            named = {f"--jobs {jobs}": [*slow, "--jobs", str(jobs), "--scenarios", f"{WAITING}.json"]}
            ((name, used_),) = in_turn(named, 1, cwd=work).items()
            latest = json.loads(_report(work))
            print(
                f"  {name:<9} wall {used_.wall:6.2f} s = {used_.wall / (WAITING * LATENCY / jobs):.2f} x the waiting / jobs, "
                f"{(work / 'most').read_text()} calls in flight, peak {used_.peak:.0f} MiB, "
                f"log {latest['suites'][0]['outcomes']['sha256'][:12]}"
            )
        four = {"4 x": [*slow, "--jobs", "32", "--scenarios", f"{4 * WAITING}.json"]}
        print(f"  four times the scenarios: peak {in_turn(four, 1, cwd=work)['4 x'].peak:.0f} MiB")


def _report(work: Path) -> str:
    import subprocess

    shown = [YB_EVAL, "show", "--store", "store", "--format", "json"]
    return subprocess.run(shown, cwd=work, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
