"""Make ``datasets/eval/golden_routing.jsonl`` from the requests in ``scripts/golden_routing``.

    python scripts/gen_golden_routing.py [--check]

``tier`` of a row is what the reference policy gives today: the file is a regression baseline, not an oracle. The
requests and the tiers they were judged to need are written by hand; where the judgement is not just the policy's
tier, it becomes the row's ``acceptable``. A row's id comes from its request, so it outlives a new order of the rows.
``--check`` writes nothing and exits 1 when the file differs from what would be written.
"""

import argparse
import hashlib
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from yb_eval_routing.pipeline import Pipeline, reference_policy

SOURCES = Path(__file__).parent / "golden_routing"
GOLDEN = Path(__file__).parent.parent / "datasets/eval/golden_routing.jsonl"

Row = dict[str, Any]


def read_lines(path: Path) -> Iterator[Row]:
    """Yield judged requests from a text file: headings ``== lang kind [tag ...] : tier ...``, then a prompt a line."""
    heading: Row | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.startswith("== "):
            names, _, tiers = line[3:].partition(" : ")
            language, kind, *tags = names.split()
            heading = {"judged": tiers.split(), "tags": [f"lang:{language}", f"kind:{kind}", *tags]}
        elif line and not line.startswith("# "):
            if heading is None:
                raise SystemExit(f"{path.name}:{number}: a prompt before the first heading")
            yield {"prompt": line, **heading}


def read_tables(path: Path) -> Iterator[Row]:
    """Yield judged requests from a TOML file; ``repeat`` pastes a prompt so often, ``after`` is what follows it."""
    for table in tomllib.loads(path.read_text(encoding="utf-8"))["rows"]:
        row: Row = {key: table[key] for key in ("messages", "metadata") if key in table}
        if "prompt" in table:
            row["prompt"] = (table["prompt"] * table.get("repeat", 1) + table.get("after", "")).strip("\n")
        tags = [f"lang:{table['lang']}", f"kind:{table['kind']}"]
        if "messages" in table:
            tags.append("shape:messages")
        if "metadata" in table:
            tags.append("shape:metadata")
        yield {**row, "judged": table["judged"], "tags": tags}


def golden_rows() -> list[Row]:
    """Return the rows of the golden file, in the order of the sources."""
    pipeline = Pipeline(reference_policy())
    tiers = pipeline.policy.tier_names
    rows: list[Row] = []
    sources = [read_lines(SOURCES / f"{name}.txt") for name in ("english", "russian", "other_languages")]
    for source in [*sources, read_tables(SOURCES / "structured.toml")]:
        for judged in source:
            unknown = set(judged["judged"]) - set(tiers)
            if unknown or not judged["judged"]:
                raise SystemExit(f"judged tiers {judged['judged']} are not all among {tiers}")
            request: Row = {key: judged[key] for key in ("prompt", "messages", "metadata") if key in judged}
            tier = pipeline.route(request).tier
            row = {"id": row_id(request, judged["tags"]), **request, "tier": tier}
            if judged["judged"] != [tier]:
                row["acceptable"] = sorted(judged["judged"], key=tiers.index)
            rows.append({**row, "tags": judged["tags"]})
    repeated = [name for name, times in Counter(row["id"] for row in rows).items() if times > 1]
    if repeated:
        raise SystemExit(f"the same request is listed twice: {', '.join(repeated)}")
    return rows


def row_id(request: Row, tags: list[str]) -> str:
    """Return ``lang-kind-`` and eight hex digits of the request's sha256."""
    canonical = json.dumps(request, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    language, kind = (tag.partition(":")[2] for tag in tags[:2])
    return f"{language}-{kind}-{hashlib.sha256(canonical.encode('ascii')).hexdigest()[:8]}"


def golden_bytes() -> bytes:
    """Return the golden file: one JSON object a line, UTF-8, LF."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in golden_rows())
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the golden routing data from its hand-written sources.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file is out of date")
    arguments = parser.parse_args()
    data = golden_bytes()
    if not arguments.check:
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        GOLDEN.write_bytes(data)
    elif not GOLDEN.is_file() or GOLDEN.read_bytes() != data:
        print(f"{GOLDEN.name} is not what its sources and the reference policy give; run this without --check")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
