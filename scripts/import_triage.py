"""Convert the public triage data sets to the project's rows and task files, the same bytes every time.

    python scripts/import_triage.py --source DIR [--out DIR] [--check]

DIR holds the upstream files: `clinc150_data_full.json`, `clinc150_domains.json`, `banking77_train.csv`,
`banking77_test.csv`, `banking77_categories.json`, `aurelio_healthcare_routing_evaluation.csv`. Commits and licences are
in each data set's NOTICE. `--check` writes nothing and ends with 1 when a file would change.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

DEFAULT_OUT = Path(__file__).resolve().parent.parent / "datasets/triage"

SAMPLE_ROWS = 1_000
SAMPLE_SEED = "clinc150-sample-1"
VALIDATION_SEED = "banking77-validation-1"
VALIDATION_SHARE = 0.1

Row = dict[str, Any]


def clinc150(source: Path) -> dict[str, str]:
    """Three splits, each with its out-of-scope rows at the end, and the fixed sample of the test split."""
    data = json.loads((source / "clinc150_data_full.json").read_text(encoding="utf-8"))
    domains = json.loads((source / "clinc150_domains.json").read_text(encoding="utf-8"))
    domain = {intent: name for name, intents in domains.items() for intent in intents}
    files: dict[str, str] = {}
    splits: dict[str, list[Row]] = {}
    for ours, theirs in (("train", "train"), ("validation", "val"), ("test", "test")):
        rows = [*data[theirs], *data[f"oos_{theirs}"]]
        splits[ours] = [
            {
                "id": f"clinc150-{ours}-{number:05d}",
                "text": text,
                "gold": {"label": intent},
                "tags": [f"domain:{domain.get(intent, 'oos')}"],
            }
            for number, (text, intent) in enumerate(rows, start=1)
        ]
        files[f"{ours}.jsonl"] = jsonl(splits[ours])
    files["sample.jsonl"] = jsonl(proportional_sample(splits["test"]))
    labels = {
        intent: f"{name.replace('_', ' ')}: {intent.replace('_', ' ')}"
        for name, intents in domains.items()
        for intent in intents
    }
    labels["oos"] = "none of the 150 intents"
    files["task.toml"] = task_toml(
        "clinc150",
        labels,
        out_of_scope="oos",
        files=("train", "validation", "test", "sample"),
        training=(
            "# The operating point keeps 0.92 of the in-scope rows right (95 % sure, by the validation rows).",
            "in_scope_accuracy = 0.92",
            "# Confidences are calibrated for the published share of out-of-scope items, 1,000 of 5,500 in the test split.",
            "out_of_scope_share = 0.18",
        ),
    )
    return files


def proportional_sample(rows: Sequence[Row]) -> list[Row]:
    """`SAMPLE_ROWS` rows with in-scope and out-of-scope in the proportion of `rows`, in the order of `rows`.

    Each of the two parts is ranked by sha256(seed + NUL + id) and the lowest are taken, so the draw depends on nothing
    but the rows and the seed.
    """
    outside = [row for row in rows if row["gold"]["label"] == "oos"]
    inside = [row for row in rows if row["gold"]["label"] != "oos"]
    wanted = round(SAMPLE_ROWS * len(outside) / len(rows))
    drawn = {
        row["id"]
        for part, size in ((outside, wanted), (inside, SAMPLE_ROWS - wanted))
        for row in sorted(part, key=lambda row: digest(SAMPLE_SEED, row["id"]))[:size]
    }
    return [row for row in rows if row["id"] in drawn]


def banking77(source: Path) -> dict[str, str]:
    """The published test split; a tenth of the training split, drawn by the digest of the text, becomes validation."""
    labels = json.loads((source / "banking77_categories.json").read_text(encoding="utf-8"))
    rows: dict[str, list[Row]] = {"train": [], "validation": [], "test": []}
    for theirs in ("train", "test"):
        for number, record in enumerate(read_csv(source / f"banking77_{theirs}.csv"), start=1):
            held_out = int(digest(VALIDATION_SEED, record["text"])[:8], 16) < VALIDATION_SHARE * 2**32
            ours = "validation" if theirs == "train" and held_out else theirs
            rows[ours].append(
                {
                    "id": f"banking77-{theirs}-{number:05d}",
                    "text": record["text"],
                    "gold": {"label": record["category"]},
                    "tags": [],
                }
            )
    files = {f"{split}.jsonl": jsonl(part) for split, part in rows.items()}
    definitions = {label: label.replace("_", " ").replace("?", "").lower() for label in sorted(labels)}
    files["task.toml"] = task_toml("banking77", definitions, files=tuple(rows))
    return files


HEALTHCARE_LABELS = {
    "claims": "A billed or submitted claim: receipt, processing, payment, correction.",
    "eligibility": "Whether and since when somebody is enrolled.",
    "prior_authorization": "Approval before a service: whether it is needed, its request, status or extension.",
    "benefits": "What the plan covers and what the member pays.",
    "pharmacy": "Filling prescriptions: formulary, refills, limits, dispensing pharmacies.",
    "infusion_therapy": "Scheduling, site and delivery of infusions.",
    "appeals": "A formal challenge to a denial.",
    "out_of_scope": "None of the routes: clinical questions, portal support, demographics, job applications.",
}


def healthcare(source: Path) -> dict[str, str]:
    """Rows with an expected route; negative rows are out of scope; ambiguous rows have acceptable labels and no gold.

    Where upstream names one expected route *and* alternates, its rationale decides for the expected one, so the
    alternates become `alternate:` tags (the wrong answers to look for) and not acceptable labels.
    """
    rows: dict[str, list[Row]] = {"train": [], "validation": [], "test": []}
    for record in read_csv(source / "aurelio_healthcare_routing_evaluation.csv"):
        alternates = [name for name in record["alternate_routes"].split("|") if name]
        tags = [f"speaker:{record['speaker']}", f"kind:{record['example_type']}"]
        row: Row = {"id": record["id"], "text": record["utterance"]}
        if record["expected_route"]:
            row["gold"] = {"label": record["expected_route"]}
            tags += [f"alternate:{name}" for name in alternates]
        elif alternates:
            row["gold"] = {}
            row["acceptable"] = {"label": alternates}
        else:
            row["gold"] = {"label": "out_of_scope"}
        rows[record["split"]].append({**row, "tags": tags, "note": record["rationale"]})
    files = {f"{split}.jsonl": jsonl(part) for split, part in rows.items()}
    files["task.toml"] = task_toml(
        "healthcare",
        HEALTHCARE_LABELS,
        out_of_scope="out_of_scope",
        files=tuple(rows),
        rules="healthcare",
        training=(
            "# 55 training rows: a word that stands in one of them is all there is.",
            "min_documents = 1",
            "word_lists = true",
        ),
    )
    return files


def task_toml(
    name: str,
    labels: dict[str, str],
    *,
    files: Sequence[str],
    out_of_scope: str | None = None,
    rules: str | None = None,
    training: Iterable[str] = (),
) -> str:
    """A task file; the definitions of labels are written in the given order."""
    lines = [f'name = "{name}"']
    if out_of_scope:
        lines.append(f'out_of_scope = "{out_of_scope}"')
    if rules:
        lines.append(f'rules = "{rules}"')
    lines += ["", "[labels]", *(f"{json.dumps(label)} = {json.dumps(text)}" for label, text in labels.items())]
    lines += ["", "[files]", *(f'{role} = "{role}.jsonl"' for role in files)]
    training = list(training)
    if training:
        lines += ["", "[training]", *training]
    return "\n".join(lines) + "\n"


def jsonl(rows: Iterable[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def digest(seed: str, text: str) -> str:
    return hashlib.sha256(f"{seed}\0{text}".encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="folder with the upstream files")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="the triage folder of the datasets package")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 when a file would change")
    options = parser.parse_args(arguments)
    changed = 0
    for name, convert in (("clinc150", clinc150), ("banking77", banking77), ("healthcare", healthcare)):
        for file, text in convert(options.source).items():
            path = options.out / name / file
            if path.is_file() and path.read_bytes() == text.encode():
                continue
            changed += 1
            print(f"{'differs' if options.check else 'wrote'}: {name}/{file}")
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
