"""What the core costs: start-up, 10,000 trivial rows beside the stack's own floor and a peer, and growth to 1,000,000.

    make benchmark                        everything but the million
    .venv/bin/python benchmarks/core.py --million

The peer (pydantic-evals) is measured where it is installed: pip install -r benchmarks/requirements.txt
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from measure import in_turn, run, table

HERE = Path(__file__).parent / "exact_match"
YB_EVAL = str(Path(sys.executable).with_name("yb-eval"))


def install(site: Path) -> None:
    """Makes the benchmark's suite a distribution in `site`."""
    info = site / "yb_exact_match-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: yb-exact-match\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[yb_eval.suites]\nexact-match = yb_exact_match\n", encoding="utf-8")
    (site / "yb_exact_match.py").write_bytes((HERE / "yb_exact_match.py").read_bytes())


def write_rows(path: Path, number: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for i in range(number):
            label = "no" if i % 50 == 0 else f"answer {i % 97}"
            file.write(f'{{"id": "row-{i}", "input": "answer {i % 97}", "expected": "{label}"}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="measure 100,000 and 1,000,000 rows too")
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        install(work)
        env = {"PYTHONPATH": str(work)}
        python = sys.executable
        start = {
            "import click": [python, "-c", "import click"],
            "yb-eval --help": [YB_EVAL, "--help"],
            "yb-eval list": [YB_EVAL, "list"],
        }
        print("Start-up (goal: at most 2.0)")
        print(table(in_turn(start, 3 * chosen.runs, cwd=work, env=env), "import click"))
        write_rows(work / "rows.jsonl", 10_000)
        ours = [YB_EVAL, "run", "exact-match", "--store", "store"]
        commands = {"floor": [python, str(HERE / "floor.py"), "rows.jsonl", "results.jsonl"], "yb-eval": ours}
        if find_spec("pydantic_evals"):
            commands["pydantic-evals"] = [python, str(HERE / "peer_pydantic_evals.py"), "rows.jsonl"]
        print("\n10,000 rows (goal: yb-eval at most 2.0 x the floor and at most 0.1 x pydantic-evals)")
        used = in_turn(commands, chosen.runs, cwd=work, env=env)
        print(table(used, "floor"))
        if "pydantic-evals" in used:
            print(f"  yb-eval / pydantic-evals: {used['yb-eval'].cpu / used['pydantic-evals'].cpu:.3f}")
        if chosen.million:
            print("\nGrowth (goal: linear, under 250 MiB)")
            grown = {}
            for number in (10_000, 100_000, 1_000_000):
                write_rows(work / "rows.jsonl", number)
                grown[f"{number:>9,}"] = run(ours, cwd=work, env=env)
            print(table(grown, f"{10_000:>9,}"))


if __name__ == "__main__":
    main()
