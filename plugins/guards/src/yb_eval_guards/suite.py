"""The suite `guards`: do detectors find what they should, and only that?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

from attrs import frozen

from yb_eval import Context, Plan, Suite, UsageError, hookimpl, option
from yb_eval_guards.corpora import CORPORA, Corpus, corpus_of
from yb_eval_guards.custom import CustomDetectorError, load_custom
from yb_eval_guards.dataset import corpus_dataset, revision_dataset
from yb_eval_guards.evaluator import GuardEvaluator, ScannerTarget
from yb_eval_guards.gates import guard_gates
from yb_eval_guards.metrics import guard_metrics
from yb_eval_guards.peers import PEERS, open_peer
from yb_eval_guards.scanner import Scanner
from yb_eval_guards.schemas import ANSWER, REQUEST

YB_EVAL_API = 1


@frozen(kw_only=True)
class Options:
    """The options of `yb-eval run guards`."""

    corpus: str | None = option(
        None,
        help=f"Labelled rows: a file, or one of {', '.join(CORPORA)}.  [default: the shipped corpus]",
        identity=False,
    )
    revision: Path | None = option(
        None, help="A revision document (JSON) instead of a corpus: identified by its exact bytes.", identity=False
    )
    min_precision: float | None = option(
        None, help="The precision that must be reached.  [default: 0.98]", minimum=0, maximum=1
    )
    min_recall: float | None = option(
        None, help="The recall that must be reached.  [default: 0.90]", minimum=0, maximum=1
    )
    bound: Literal["estimate", "lower"] = option(
        "estimate", help="What must reach them: the number itself, or the lower end of its 95 % interval."
    )
    strength: Literal["deny", "warn"] = option(
        "deny", help="Which evidence counts: enough to block on, or enough to point at."
    )
    detectors: Path | None = option(None, help="User-defined detectors (TOML), beside the built-in ones.")


def build(options: Options, context: Context) -> Plan:
    """The plan of one run."""
    if options.corpus is not None and options.revision is not None:
        raise UsageError("--corpus and --revision name two inputs", hint="choose one")
    corpus = corpus_of(options.corpus)
    if options.revision is not None:
        dataset, corpus = revision_dataset(options.revision), Corpus(options.revision)
    else:
        jobs = context.settings.jobs if context.settings is not None else 1
        dataset = corpus_dataset(corpus.path, context.formats, jobs=jobs)
    target = context.open_target(
        {
            "builtin": lambda: ScannerTarget(_scanner(options, context)),
            **{name: partial(open_peer, name) for name in PEERS},
        },
        # A recording must not become a copy of the data that a guard is there to keep from spreading.
        private={"text"},
    )
    return Plan(
        dataset=dataset,
        evaluator=GuardEvaluator(target),
        metrics=guard_metrics(),
        gates=guard_gates(options.min_precision, options.min_recall, options.bound, corpus),
    )


def _scanner(options: Options, context: Context) -> Scanner:
    try:
        custom = load_custom(options.detectors) if options.detectors is not None else ()
    except CustomDetectorError as error:
        raise UsageError(str(error)) from error
    return Scanner(strength=options.strength, custom=custom, folder=context.store)


@hookimpl
def yb_eval_suite() -> Suite[Options]:
    return Suite(
        name="guards",
        summary="Do the detectors find what they should, and only that?",
        options=Options,
        build=build,
        request=REQUEST,
        answer=ANSWER,
        targets={name: peer.summary for name, peer in PEERS.items()},
        baseline=Path("datasets/eval/guards_baseline.json"),
    )
