"""Trains the local decision model: weights.json with its digest, and docs/decision-local.md with what was measured.

    python scripts/train_decision_local.py           writes the three files
    python scripts/train_decision_local.py --check   says whether they are what training gives, and exits with 1 if not

Offline and seeded: the data are datasets/decision/local and what other suites ship, and the same data give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "plugins/decision/src")]

from decision_local.fitting import CURVE, fit_measures, fit_wordings  # noqa: E402
from decision_local.pairs import relevance, support  # noqa: E402
from decision_local.report import report  # noqa: E402
from decision_local.rows import Row  # noqa: E402
from decision_local.texts import indirect_injection, injection, jailbreak, replies  # noqa: E402

from yb_eval_decision.local.bearing import RELEVANCE  # noqa: E402
from yb_eval_decision.local.bearing import relevance as relevance_measures  # noqa: E402
from yb_eval_decision.local.language import plain_words  # noqa: E402
from yb_eval_decision.local.lexicon import LIGHT  # noqa: E402
from yb_eval_decision.local.model import FORMAT, read_model  # noqa: E402
from yb_eval_decision.local.overlap import read_evidence  # noqa: E402
from yb_eval_decision.local.reading import read_text  # noqa: E402
from yb_eval_decision.local.supporting import SUPPORT  # noqa: E402
from yb_eval_decision.local.supporting import support as support_measures  # noqa: E402

PACKAGE = ROOT / "plugins/decision/src/yb_eval_decision/local"
DOCUMENT = ROOT / "docs/decision-local.md"
#: What a word weighs that is not in the table of common ones, a light one, and a common one at least; rows a common one stands in.
RAREST, LIGHTEST, COMMONEST, COMMON = 950, 350, 200, 12


def gathered() -> dict[str, list[Row]]:
    """The rows of every task."""
    return {
        "support": list(support()),
        "relevance": list(relevance()),
        "injection": list(injection()),
        "indirect_injection": list(indirect_injection()),
        "jailbreak": list(jailbreak()),
        "refusal": list(replies("refusal")),
        "noncommittal": list(replies("noncommittal")),
    }


def trained(data: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """The content of weights.json."""
    rarity = _rarity([*data["support"], *data["relevance"]])
    wordings = {
        task: fit_wordings(data[task], "text" if task.endswith("injection") or task == "jailbreak" else "answer")
        for task in ("injection", "indirect_injection", "jailbreak", "refusal", "noncommittal")
    }
    supports = [
        support_measures(read_text(r.parts["claim"]), read_evidence(r.parts["evidence"]), rarity, RAREST)
        for r in data["support"]
    ]
    relevances = [
        relevance_measures(
            read_text(r.parts["question"]),
            list(plain_words(r.parts["question"])),
            read_evidence(r.parts["text"]),
            rarity,
            RAREST,
        )
        for r in data["relevance"]
    ]
    return {
        "format": FORMAT,
        "data": {task: {"rows": len(rows), "sha256": _digest(rows)} for task, rows in data.items()},
        "curve": CURVE,
        "rarest": RAREST,
        "rarity": rarity,
        "wordings": wordings,
        "measures": {
            "support": fit_measures(
                supports,
                data["support"],
                SUPPORT,
                lambda row: row.source == "own topics",
                weight=12.0,
                decided_right=0.95,
            ),
            "relevance": fit_measures(relevances, data["relevance"], RELEVANCE, lambda row: True, decided_right=0.93),
        },
    }


def _rarity(rows: Sequence[Row]) -> dict[str, int]:
    """What common words weigh, in thousandths: 1 - log(texts with the word) / log(texts), from the fitting rows."""
    texts = dict.fromkeys(str(list(row.parts.values())[1]) for row in rows if row.split == "fit")
    counts = Counter(word for text in texts for word in {w for statement in read_text(text) for w in statement.words})
    common = {
        word: max(COMMONEST, round(1000 * (1 - math.log(count) / math.log(len(texts)))))
        for word, count in counts.items()
        if count >= COMMON
    }
    common.update({word: min(LIGHTEST, common.get(word, LIGHTEST)) for word in LIGHT})
    return dict(sorted(common.items()))


def _digest(rows: Sequence[Row]) -> str:
    lines = (json.dumps([row.parts, row.label, row.group], ensure_ascii=False, sort_keys=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def main(arguments: Sequence[str]) -> int:
    data = gathered()
    weights = json.dumps(trained(data), ensure_ascii=False, sort_keys=True, separators=(",", ":"), indent=None)
    body = (weights + "\n").encode()
    sha256 = hashlib.sha256(body).hexdigest()
    digest = f'"""The sha256 of weights.json. Written by scripts/train_decision_local.py."""\n\nWEIGHTS_SHA256 = "{sha256}"\n'
    files = {
        PACKAGE / "weights.json": body,
        PACKAGE / "digest.py": digest.encode(),
        DOCUMENT: report(data, read_model(body), len(body)).encode(),
    }
    if "--check" in arguments:
        stale = [path for path, content in files.items() if not path.is_file() or path.read_bytes() != content]
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what training gives", file=sys.stderr)
        return 1 if stale else 0
    for path, content in files.items():
        path.write_bytes(content)
        print(f"{path.relative_to(ROOT)}: {len(content):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
