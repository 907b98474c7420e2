"""Stores for the tests of `yb-eval view`, with runs whose digests and ids hold. A plain helper, loaded by path.

`keep` puts one run into a store; `busy` makes a store as it is after some weeks of work.
"""

from __future__ import annotations

import copy
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson

from yb_eval.record import Store, composed_ids, plan_id, run_id
from yb_eval.record.manifest import COMPOSED_SCHEMA, SUITE_SCHEMA

Json = dict[str, Any]


def keep(store: Store, made: Json, outcomes: list[Json], *, started: str, target: str = "builtin", **plan: Any) -> str:
    """Records a suite's run (from the factory of documents) and returns its id."""
    log = b"".join(orjson.dumps(outcome, option=orjson.OPT_APPEND_NEWLINE) for outcome in outcomes)
    report = copy.deepcopy(made)
    report["target"]["spec"] = target
    report["outcomes"] = {"sha256": store.put(log), "size": len(log), "count": len(outcomes)}
    content = {"suite": made["suite"], "target": target, "started": started, "limit": None, "filter": None, **plan}
    report["plan_id"] = plan_id(content)
    report["run_id"] = run_id(report["plan_id"], report["outcomes"]["sha256"], report["measurements"], report["gates"])
    manifest = {
        "schema": SUITE_SCHEMA,
        "plan_id": report["plan_id"],
        "run_id": report["run_id"],
        "plan": content,
        "report": report,
        "envelope": envelope(started),
    }
    store.record(manifest)
    return str(report["run_id"])


def envelope(started: str) -> Json:
    return {"started": started, "seconds": 1.5, "host": "runner-1", "python": "3.11.9", "yb_eval": "0.1.0", "git": None}


def compose(store: Store, *run_ids: str, started: str) -> str:
    """Records the run that is composed of stored ones."""
    runs = [store.find(one) for one in run_ids]
    children = [
        {
            "name": run.manifest["report"]["name"],
            "plan_id": run.manifest["plan_id"],
            "run_id": run.run_id,
            "manifest": run.sha256,
        }
        for run in runs
    ]
    plan, made = composed_ids(children)
    manifest = {
        "schema": COMPOSED_SCHEMA,
        "plan_id": plan,
        "run_id": made,
        "verdict": "fail",
        "children": children,
        "envelope": envelope(started),
    }
    store.record(manifest)
    return made


def guards(documents: ModuleType, *, fixed: int = 0, revision: str = "data guards") -> tuple[Json, list[Json]]:
    """A failing run of guards in which the first `fixed` mistakes are not made."""
    made, outcomes = documents.guards()
    made = {**copy.deepcopy(made), "comparison": None}
    wrong = [place for place, outcome in enumerate(outcomes) if outcome["correct"] is False]
    for place in wrong[:fixed]:
        outcomes[place] = {**outcomes[place], "predicted": outcomes[place]["expected"], "correct": True, "reason": None}
    made["measurements"]["precision"]["value"] += fixed * 0.0015
    made["datasets"][0]["revision_id"] = documents.digest(revision)
    return made, outcomes


def busy(root: Path, documents: ModuleType) -> tuple[Store, dict[str, str]]:
    """A store of runs of guards, triage and a hostile suite, and the ids of those that tests name."""
    store = Store(root)
    ids: dict[str, str] = {}
    for day, fixed in enumerate((0, 3, 2, 6, 9, 8, 12, 14), 1):
        made, outcomes = guards(documents, fixed=fixed, revision="old data" if day < 3 else "data guards")
        ids[f"guards {day}"] = keep(store, made, outcomes, started=f"2026-11-{day:02}T09:30:00.000+00:00")
    made, outcomes = documents.guards(failing=False)
    ids["passing"] = keep(store, made, outcomes, started="2026-11-09T08:00:00.000+00:00", target="python:mine:guard")
    ids["part"] = keep(store, made, outcomes[:100], started="2026-11-09T09:00:00.000+00:00", limit=100)
    for day in (10, 11):
        made, outcomes = documents.triage()
        ids[f"triage {day}"] = keep(store, made, outcomes, started=f"2026-11-{day}T09:30:00.000+00:00")
    ids["composed"] = compose(store, ids["guards 8"], ids["triage 11"], started="2026-11-11T10:00:00.000+00:00")
    view = documents.hostile()
    for day in (12, 13):
        ids[f"hostile {day}"] = keep(
            store,
            view.document["suites"][0],
            list(view.outcomes(0)),
            started=f"2026-11-{day}T09:30:00.000+00:00",
            target=documents.HOSTILE[2],
            filter=documents.HOSTILE[0] if day == 12 else None,
        )
    store.latest(store.find(ids["hostile 13"]).sha256)
    return store, ids
