"""Write the `ops` triage data set from the hand-written items in `scripts/ops_items/`, the same bytes every time.

    python scripts/gen_ops_triage.py [--out DIR] [--check]

An item is a header line and its text:

    @ LANG SEVERITY(!|-) [LABEL] CHANNEL KIND [~ACCEPTABLE,...] [=GROUP]

`!` means escalate. The label is the file's name unless the file is `enormous.items`, whose headers name it. Items with
one GROUP say the same thing, so they land in the same split. A line `%log LINES SEED` becomes a service log of that
many lines. Splits are drawn by the digest of the group or of the text: adding an item moves no other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ITEMS = HERE / "ops_items"
DEFAULT_OUT = HERE.parent / "datasets/triage/ops"

HEADER = re.compile(
    r"@ (?P<lang>en|ru) (?P<severity>[0-4])(?P<escalate>[!-])(?: (?P<label>[a-z_]+))?"
    r" (?P<channel>alert|ticket|chat|email) (?P<kind>[a-z-]+)(?: ~(?P<acceptable>[a-z_,]+))?(?: =(?P<group>[a-z-]+))?\Z"
)
SPLIT_SEED = "ops-split-1"
TEST_SHARE, VALIDATION_SHARE = 0.40, 0.15

SERVICES = ("gateway", "orders", "ledger", "search", "session", "mailer", "worker-3", "worker-7", "scheduler", "proxy")
MESSAGES = (
    "INFO request finished status=200 duration_ms={n}",
    "INFO request finished status=304 duration_ms={n}",
    "INFO job {n} picked up, {m} left in queue",
    "DEBUG cache hit ratio 0.{n}",
    "DEBUG connection {n} returned to pool, {m} idle",
    "INFO heartbeat sequence={n}",
    "WARN slow call took {n} ms, retrying once",
    "INFO retry of call {n} succeeded",
    "INFO configuration key feature.{m} = {n}",
    "INFO flushed {n} rows in {m} ms",
)

Row = dict[str, Any]


def read_items(path: Path) -> Iterator[Row]:
    """The rows of one items file, each with `group` and without a split."""
    blocks = re.split(r"^(?=@ )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for block in blocks[1:]:
        header, _, body = block.partition("\n")
        match = HEADER.match(header)
        if match is None:
            raise SystemExit(f"{path.name}: cannot read the header {header!r}")
        part = match.groupdict()
        if (part["label"] is None) == (path.stem == "enormous"):
            raise SystemExit(f"{path.name}: {header!r}: a label is named in enormous.items and only there")
        text = re.sub(
            r"^%log (\d+) ([a-z-]+)$", lambda m: service_log(int(m[1]), m[2]), body.strip(), flags=re.MULTILINE
        )
        key = hashlib.sha256(f"{part['lang']}\0{part['channel']}\0{text}".encode()).hexdigest()
        row: Row = {
            "id": f"ops-{key[:12]}",
            "text": text,
            "meta": {"channel": part["channel"]},
            "gold": {
                "label": part["label"] or path.stem,
                "severity": int(part["severity"]),
                "escalate": part["escalate"] == "!",
            },
        }
        if part["acceptable"]:
            row["acceptable"] = {"label": part["acceptable"].split(",")}
        row["tags"] = [f"lang:{part['lang']}", f"channel:{part['channel']}", f"kind:{part['kind']}"]
        row["source"] = "yb-eval"
        yield {**row, "group": part["group"] or text}


def service_log(lines: int, seed: str) -> str:
    """A log of `lines` lines that says nothing about any incident; every number comes from sha256(seed, line)."""
    out: list[str] = []
    second = 0
    for number in range(lines):
        noise = hashlib.sha256(f"{seed}\0{number}".encode()).digest()
        second += noise[0] % 4
        clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{noise[1] * 3:03d}"
        message = MESSAGES[noise[2] % len(MESSAGES)].format(n=noise[3] * 4 + noise[4] % 4, m=noise[5] % 97)
        out.append(f"2026-05-04T{clock}Z {SERVICES[noise[6] % len(SERVICES)]} {message}")
    return "\n".join(out)


def split_of(group: str) -> str:
    """train, validation or test, by the digest of what the item says."""
    place = int(hashlib.sha256(f"{SPLIT_SEED}\0{group}".encode()).hexdigest()[:8], 16) / 2**32
    if place < TEST_SHARE:
        return "test"
    return "validation" if place < TEST_SHARE + VALIDATION_SHARE else "train"


def build(items: Path = ITEMS) -> dict[str, str]:
    """The three files of the data set; rows are sorted by id, so that neighbours in a file have nothing in common."""
    splits: dict[str, list[Row]] = {"train": [], "validation": [], "test": []}
    seen: set[str] = set()
    for path in sorted(items.glob("*.items")):
        for row in read_items(path):
            if row["id"] in seen:
                raise SystemExit(f"{path.name}: the same text twice on one channel: {row['text'][:60]!r}")
            seen.add(row["id"])
            splits[split_of(row.pop("group"))].append(row)
    return {
        f"{split}.jsonl": "".join(
            json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
            for row in sorted(rows, key=lambda row: str(row["id"]))
        )
        for split, rows in splits.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 when a file would change")
    options = parser.parse_args(arguments)
    changed = 0
    for name, text in build().items():
        path = options.out / name
        if path.is_file() and path.read_bytes() == text.encode():
            continue
        changed += 1
        print(f"{'differs' if options.check else 'wrote'}: {name} ({text.count(chr(10))} rows)")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
