"""Convert recorded outcomes of model pairs to the rows of the suite ``routing-quality``, the same bytes every time.

    python scripts/import_routing_outcomes.py --source DIR [--out DIR] [--check] [--whole-mmlu FILE]

DIR holds ``routellm_gsm8k.jsonl``, ``routellm_mmlu.jsonl.gz``, their two ``_contaminated_prompts.jsonl``,
``routerarena_sub10_outcomes.jsonl`` and ``routerarena_cost.json``; commits and licences are in
``datasets/routing/NOTICE.md``. ``--check`` writes nothing and ends with 1 when a file would change.
``--whole-mmlu`` also writes all MMLU rows to a file of yours, for ``yb-eval run routing-quality --data FILE``.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DEFAULT_OUT = Path(__file__).resolve().parent.parent / "datasets/routing"

MMLU_ROWS = 2_000
MMLU_SEED = "routing-mmlu-1"

#: RouterArena's outcomes name the models in short, its price list by version.
PRICED_AS = {"claude-3-haiku": "claude-3-haiku-20240307", "gemini-2.0-flash": "gemini-2.0-flash-001"}

#: The weak and the strong model of RouterArena's rows, by accuracy over the file; the strong one is the cheaper here.
ROUTERARENA_PAIR = ("claude-3-haiku", "gemini-2.0-flash")

Row = dict[str, Any]


def read_lines(path: Path) -> list[Row]:
    """The JSON objects of a file, gzipped or not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.decode("utf-8").split("\n") if line]


def routellm(source: Path, name: str, suffix: str) -> list[Row]:
    """All rows of one of RouteLLM's benchmarks; the prompts it leaves out of its own evals carry a tag."""
    contaminated = {row["eval_prompt"] for row in read_lines(source / f"routellm_{name}_contaminated_prompts.jsonl")}
    rows = []
    for row in read_lines(source / f"routellm_{name}.jsonl{suffix}"):
        tags = [f"domain:{row['domain']}"] if "domain" in row else []
        if row["prompt"] in contaminated:
            tags.append("contaminated:routellm")
        served = {side: {"score": int(row[f"{side}_correct"])} for side in ("weak", "strong")}
        rows.append({"id": row["id"], "prompt": row["prompt"], **served, **({"tags": tags} if tags else {})})
    return rows


def sample(rows: Sequence[Row], size: int, seed: str) -> list[Row]:
    """``size`` rows in the file's order: each of the four outcomes (who is right) in proportion, and within an outcome
    each domain.

    So the sample's models and its oracle are as good as the whole set's, up to rounding. Within a stratum the rows with
    the smallest sha256 of seed and id are taken: a draw that no order of the rows changes.
    """
    chosen: set[str] = set()
    outcomes = strata(rows, lambda row: f"{row['weak']['score']} {row['strong']['score']}")
    for outcome, quota in shares(outcomes, size).items():
        domains = strata(outcomes[outcome], lambda row: str(row["tags"][0]))
        for domain, places in shares(domains, quota).items():
            chosen.update(row["id"] for row in sorted(domains[domain], key=lambda row: draw(seed, row["id"]))[:places])
    return [row for row in rows if row["id"] in chosen]


def strata(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def shares(groups: Mapping[str, Sequence[Row]], size: int) -> dict[str, int]:
    """``size`` places for the groups in proportion to their rows, by largest remainders (the first name of equals)."""
    total = sum(map(len, groups.values()))
    quotas = {name: divmod(size * len(rows), total) for name, rows in groups.items()}
    left = size - sum(whole for whole, _ in quotas.values())
    favoured = set(sorted(quotas, key=lambda name: (-quotas[name][1], name))[:left])
    return {name: whole + (name in favoured) for name, (whole, _) in quotas.items()}


def draw(seed: str, row_id: str) -> str:
    return hashlib.sha256(f"{seed}:{row_id}".encode()).hexdigest()


def routerarena(source: Path, prices: dict[str, dict[str, float]]) -> list[Row]:
    """RouterArena's outcomes with token counts; the costs must be what the price list makes of these."""
    rows = []
    for row in read_lines(source / "routerarena_sub10_outcomes.jsonl"):
        served = {}
        for side, name in zip(("weak", "strong"), ROUTERARENA_PAIR, strict=True):
            said = row["models"][name]
            model = PRICED_AS[name]
            cost = said["input_tokens"] * prices[model]["input_token_price_per_million"]
            cost += said["output_tokens"] * prices[model]["output_token_price_per_million"]
            if abs(cost / 1e6 - said["cost_usd"]) > 1e-12:
                raise SystemExit(f"{row['id']}: {name} cost {said['cost_usd']}, by the price list {cost / 1e6}")
            tokens = {key: said[key] for key in ("input_tokens", "output_tokens")}
            served[side] = {"score": shortest(said["score"]), "model": model, **tokens}
        rows.append({"id": row["id"], **served, "tags": [f"source:{row['id'].rpartition('_')[0]}"]})
    return rows


def shortest(score: float) -> float | int:
    """A score on the scale 0..1: one metric takes points off below 0, which is not less useful than a wrong answer."""
    held = max(score, 0)
    return int(held) if held in (0, 1) else held


def jsonl(rows: Iterable[Row]) -> bytes:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Convert recorded outcomes of model pairs to routing-quality rows.")
    parser.add_argument("--source", type=Path, required=True, help="the folder of the published files")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    parser.add_argument("--whole-mmlu", type=Path, help="also write all MMLU rows to this file")
    arguments = parser.parse_args()
    prices = json.loads((arguments.source / "routerarena_cost.json").read_text(encoding="utf-8"))
    mmlu = routellm(arguments.source, "mmlu", ".gz")
    files = {
        "gsm8k.jsonl": jsonl(routellm(arguments.source, "gsm8k", "")),
        "mmlu.jsonl": jsonl(sample(mmlu, MMLU_ROWS, MMLU_SEED)),
        "routerarena.jsonl": jsonl(routerarena(arguments.source, prices)),
        "prices.json": (json.dumps(prices, indent=2) + "\n").encode("utf-8"),
    }
    if arguments.whole_mmlu is not None:
        arguments.whole_mmlu.write_bytes(jsonl(mmlu))
    changed = []
    for name, data in files.items():
        path = arguments.out / name
        if not path.is_file() or path.read_bytes() != data:
            changed.append(name)
            if not arguments.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
    if arguments.check and changed:
        print(f"out of date: {', '.join(changed)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
