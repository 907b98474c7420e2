"""The ids of a run, and the manifest that carries them.

- `plan_id` identifies all that was asked; it is known before the run.
- `run_id` identifies the plan, the outcome log, the measurements and the verdicts.
- A composed run's ids are built from its children's; with one child they are the child's.

A manifest is a JSON object with the plan and everything the ids are made of, the suite's report, and an `envelope` of
observations (time, host, git) that no id covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yb_eval.digest import decimal_string, identifiable, identify
from yb_eval.errors import StoreError
from yb_eval.gates import decide
from yb_eval.model import Verdict

SUITE_SCHEMA = "yb-eval/manifest/1"
COMPOSED_SCHEMA = "yb-eval/composed/1"


def plan_id(plan: Mapping[str, Any]) -> str:
    """The id of a plan; every float in it counts by its shortest decimal form."""
    return identify("plan", identifiable(plan))


def run_id(
    plan: str,
    outcomes_sha256: str,
    measurements: Mapping[str, Mapping[str, Any]],
    gates: Sequence[Mapping[str, Any]],
) -> str:
    """The id of a finished run, from the JSON forms of its measurements and verdicts."""
    measured = [
        [
            name,
            decimal_string(m["value"]),
            m["n"],
            [decimal_string(bound) for bound in m["interval"]] if m["interval"] else None,
            m["reason"],
            identifiable(m.get("details", {})),
        ]
        for name, m in sorted(measurements.items())
    ]
    verdicts = [[gate["gate"], gate["severity"], gate["verdict"]] for gate in gates]
    return identify("run", {"plan": plan, "outcomes": outcomes_sha256, "measured": measured, "verdicts": verdicts})


def composed_ids(children: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """(plan_id, run_id) of a run composed of `children` (each with `name`, `plan_id`, `run_id`), in their order by
    name."""
    if len(children) == 1:
        return children[0]["plan_id"], children[0]["run_id"]
    ordered = sorted(children, key=lambda child: str(child["name"]))
    plans = [[child["name"], child["plan_id"]] for child in ordered]
    runs = [[child["name"], child["run_id"]] for child in ordered]
    return identify("composed-plan", plans), identify("composed-run", runs)


def composed_plan_id(children: Sequence[tuple[str, str]]) -> str:
    """The plan id of a composed run from its children's (name, plan_id), known before anything runs."""
    return composed_ids([{"name": name, "plan_id": plan, "run_id": plan} for name, plan in children])[0]


def verify_manifest(manifest: Mapping[str, Any]) -> None:
    """Recomputes the ids of a suite's manifest from its parts. Raises `StoreError` naming the one that does not
    hold."""
    try:
        report = manifest["report"]
        claims = {
            "plan_id": (report["plan_id"], plan_id(manifest["plan"])),
            "run_id": (
                report["run_id"],
                run_id(report["plan_id"], report["outcomes"]["sha256"], report["measurements"], report["gates"]),
            ),
        }
        verdict = decide(Verdict(g["gate"], g["verdict"], g["reason"], g["severity"]) for g in report["gates"])
        claims["verdict"] = (report["verdict"], verdict)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"a manifest is not complete: {error}") from error
    for name, (claimed, recomputed) in claims.items():
        if claimed != recomputed:
            raise StoreError(f"the {name} {claimed} does not follow from the manifest; its parts give {recomputed}")
