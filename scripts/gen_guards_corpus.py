"""Make the labelled corpus of the guards suite and the example revision document.

    python scripts/gen_guards_corpus.py [--check]

The corpus is a pure function of the seed in `guards_corpus/rows.py`: the same bytes on every machine, under every
Python version and hash seed. `--check` compares instead of writing and ends with 1 if a file differs.

Rows are `{"id", "text", "type", "expect", "tags"}`. `expect` says what a careful person wants of a guard at deny
strength, not what any detector does. Tags are `key:value`; the classes are:

    kind:positive  a valid datum of the row's type, or an attack phrase that is meant as one           detect
    kind:quoted    an article that quotes an attack phrase word for word                               clean
    kind:decoy     looks like a datum; its check fails, or it is a placeholder, a hash, a name         clean
    kind:chance    passes a checksum by chance and is something else, or says nothing of what it is    clean
    kind:benign    ordinary text, some of it with the words that attacks use                           clean

Other keys: lang, shape, sep, script, bidi, encoding, variant, format, brand, digits, family, aim, decoy, about,
reported, sum, length.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from guards_corpus import decoys, injections, positives, reported, secret_rows
from guards_corpus.rows import Rows, line

EVAL = Path(__file__).resolve().parent.parent / "datasets" / "eval"
CORPUS = EVAL / "guards_labeled.jsonl"
REVISION = EVAL / "guards-revision.json"

REVISION_FAMILIES = (
    "inn10-text-ru",
    "snils-text-ru",
    "pan-text-en",
    "secret-openai",
    "injection-typed-ru",
    "broken-inn10-ru",
    "chance-epoch-ms",
    "benign-trigger-ru",
)
"""The example revision takes the first row of each of these families."""


def build() -> Rows:
    """All rows, in the order of the file."""
    rows = Rows()
    for part in (positives, secret_rows, injections, decoys, reported):
        part.add_all(rows)
    return rows


def corpus(rows: Rows) -> str:
    """The corpus as JSON Lines."""
    return "".join(line(row) + "\n" for row in rows)


def revision(rows: Rows) -> str:
    """A small revision document of rows of the corpus, in the form that `--revision` reads."""
    first = {f"{family}-001" for family in REVISION_FAMILIES}
    samples = [
        f'    {{"id": {json.dumps(row.id)}, "payload": {{"text": {text_of(line(row))}, '
        f'"type": {json.dumps(row.type)}, "expect": {json.dumps(row.expect)}}}}}'
        for row in rows
        if row.id in first
    ]
    head = '{\n  "schema_version": 1,\n  "dataset_id": "guards-example",\n  "samples": [\n'
    return head + ",\n".join(samples) + "\n  ]\n}\n"


def text_of(written: str) -> str:
    """The text of a written row as it stands in the file, escapes included."""
    start = written.index('"text":') + len('"text":')
    return written[start : written.rindex(',"type":')]


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or compare them under `--check`; the exit code."""
    parser = argparse.ArgumentParser(description="Make the labelled corpus of the guards suite.")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    options = parser.parse_args(arguments)
    rows = build()
    stale = []
    for path, text in ((CORPUS, corpus(rows)), (REVISION, revision(rows))):
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        elif not path.is_file() or path.read_bytes() != text.encode("utf-8"):
            stale.append(path.name)
    if stale:
        print(f"out of date: {', '.join(stale)}; run scripts/gen_guards_corpus.py", file=sys.stderr)
        return 1
    print(f"{len(rows)} rows")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
