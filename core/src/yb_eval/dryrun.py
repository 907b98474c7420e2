"""`--dry-run`: all that can be known before a run. Everything is opened, read and checked; nothing is asked or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from attrs import evolve

from yb_eval.composition import refuse_clashes
from yb_eval.errors import printable
from yb_eval.preparation import Environment, Prepared, prepare
from yb_eval.record import composed_plan_id
from yb_eval.reports.wording import plural
from yb_eval.runoptions import SuiteRequest

SCHEMA = "yb-eval/dry-run/1"


def foresee(requests: Sequence[SuiteRequest], environment: Environment) -> dict[str, Any]:
    """The plan of a run as a JSON document: the ids, and for each suite its dataset, target, gates and, where the suite
    can tell (`Plan.estimate`), what asking will take. Raises what the run itself would refuse.
    """
    refuse_clashes(requests)
    with ExitStack() as stack:
        prepared = []
        for request in requests:
            # A recording would be begun by being opened.
            one = prepare(evolve(request, run=evolve(request.run, record=None)), environment)
            stack.callback(one.close)
            prepared.append(one)
        return {
            "schema": SCHEMA,
            "plan_id": composed_plan_id([(one.request.name, one.plan_id) for one in prepared]),
            "suites": [_foreseen(one) for one in prepared],
        }


def _foreseen(prepared: Prepared) -> dict[str, Any]:
    snapshot, target, plan = prepared.snapshot, prepared.target, prepared.plan
    return {
        "suite": prepared.request.suite.name,
        "name": prepared.request.name,
        "plan_id": prepared.plan_id,
        "datasets": [{"id": snapshot.id, "revision_id": snapshot.revision_id, "count": snapshot.count}],
        "target": target.spec if target is not None else "builtin",
        "gates": [{"gate": gate.text, "severity": gate.severity} for gate in prepared.gates],
        "repeats": prepared.request.run.repeats,
        "estimate": dict(plan.estimate(snapshot)) if plan.estimate is not None else None,
        "notes": list(snapshot.notes),
    }


def as_text(document: Mapping[str, Any]) -> Iterator[str]:
    """The document for people, in pieces."""
    yield f"dry run: nothing is asked, nothing is written\nplan {document['plan_id']}\n"
    for suite in document["suites"]:
        data = suite["datasets"][0]
        times = f", {suite['repeats']} times" if suite["repeats"] > 1 else ""
        yield f"\n{suite['name']}\n  {plural(data['count'], 'sample')} of {data['id']}@{data['revision_id'][:12]}{times}\n"
        yield f"  target {printable(suite['target'])}\n"
        for note in suite["notes"]:
            yield f"  note: {printable(note)}\n"
        for gate in suite["gates"]:
            yield f"  gate {'(warn) ' * (gate['severity'] == 'warn')}{printable(gate['gate'])}\n"
        for name, value in (suite["estimate"] or {}).items():
            yield f"  {name.replace('_', ' ')}: {_shown(value)}\n"


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "unknown" if value is None else printable(str(value))
