"""What a training row is, how templates become texts and how rows are split."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from attrs import field, frozen

ROOT = Path(__file__).resolve().parents[2]
DATASETS = ROOT / "datasets"
HOME = DATASETS / "decision" / "local"

#: Of ten groups, eight are for fitting (weights, and by four folds of groups calibration and band) and two for the test.
FOLDS = 4
_PARTS = ("fit",) * 8 + ("test",) * 2

_SLOT = re.compile(r"\{(\w+)\}")


@frozen(kw_only=True)
class Row:
    """A labelled question: the `parts` of a task and whether the answer is yes. Rows of one `group` share a template, a topic or
    a source text and stay in one part of the split. `source` names the data that it comes from, for the report."""

    parts: Mapping[str, Any]
    label: bool
    group: str
    lang: str
    source: str
    split: str = field()

    @split.default
    def _split(self) -> str:
        return split_of(self.group)


def split_of(group: str) -> str:
    """The part of the split that a group falls into: by its name's hash, so it stays there when other groups come or go."""
    return _PARTS[_number(group) % len(_PARTS)]


def fold_of(group: str) -> int:
    """The fold of a group of the fitting part."""
    return _number(f"fold/{group}") % FOLDS


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def seeded(*names: object) -> random.Random:
    """A random generator of its own for what `names` name."""
    return random.Random("/".join(map(str, names)))


def load_yaml(name: str) -> Any:
    return yaml.safe_load((HOME / name).read_text(encoding="utf-8"))


def load_lines(path: str) -> list[dict[str, Any]]:
    """The rows of a JSONL file under datasets/."""
    return [json.loads(line) for line in (DATASETS / path).read_text(encoding="utf-8").splitlines() if line]


def fill(template: str, slots: Mapping[str, Sequence[Any]], rng: random.Random) -> str:
    """`template` with each slot replaced by one of its values, and the slots in those values likewise."""
    while True:
        found = _SLOT.search(template)
        if found is None:
            return tidy(template)
        value = str(rng.choice(slots[found.group(1)])) if found.group(1) in slots else found.group(1)
        template = template[: found.start()] + value + template[found.end() :]


def tidy(text: str) -> str:
    """Without the double spaces and stray marks that an empty slot leaves."""
    text = re.sub(r" +([.,;:?!])", r"\1", re.sub(r" {2,}", " ", text)).strip()
    return re.sub(r"([.!?])\.(?!\.)", r"\1", text)


def varied(text: str, rng: random.Random) -> str:
    """`text` as somebody may have typed it: capital or not, an end mark or not, all in capitals now and then."""
    roll = rng.random()
    if roll < 0.05:
        return text.upper()
    if roll < 0.65 and text[:1].isalpha():
        text = text[0].upper() + text[1:]
    if rng.random() < 0.5 and text[-1:].isalnum():
        text += rng.choice(".!.")
    return text


def family_texts(spec: Mapping[str, Any], count: int, seed: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """(family, text): up to `count` different texts of each family of a template file."""
    for family in spec["families"]:
        rng = seeded(seed, family["id"])
        seen: dict[str, None] = {}
        for turn in range(count * 3):
            if len(seen) >= count:
                break
            template = family["texts"][turn % len(family["texts"])]
            seen.setdefault(varied(fill(template, spec["slots"], rng), rng))
        for text in seen:
            yield family, text
