"""From observations to a calibration: fits, numbers on the rows that no fit has seen, thresholds, and what is too little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen, validators

from yb_eval_decision.calibration.bands import band_of
from yb_eval_decision.calibration.curves import FITS, Curve, FitName, Same, fit
from yb_eval_decision.calibration.measures import Reliability, auroc, reliability
from yb_eval_decision.calibration.observing import Observation, Observed
from yb_eval_decision.calibration.thresholds import SHOWN, ThresholdRow, choose, passing, row, rows_needed

SCHEMA = "yb-eval-decision/calibration-report/1"
#: Fewer rows of either verdict are too few: to fit a curve, and to say how good probabilities are.
FEWEST = 10


@frozen(slots=True, kw_only=True)
class Settings:
    """How to calibrate: which curve, which share of the rows it is fitted on, which share of false passes is allowed, and how
    probable a verdict must be to be decided (beyond it lies the undecided band)."""

    fit: FitName = field(default="platt", validator=validators.in_(FITS))
    split: float = field(default=0.5, validator=[validators.gt(0), validators.lt(1)])
    max_false_pass: float = field(default=0.01, validator=[validators.ge(0), validators.le(1)])
    sure: float = field(default=0.9, validator=[validators.ge(0.5), validators.lt(1)])

    def to_dict(self) -> dict[str, Any]:
        return {"fit": self.fit, "split": self.split, "max_false_pass": self.max_false_pass, "sure": self.sure}


@frozen(slots=True, kw_only=True)
class EvalCalibration:
    """What was found for one eval. `curve`, `threshold` and `band` come from the fit part; all other numbers are those of the
    report part. Whatever is `None` is unmeasured, and `warnings` say why. `band` is the range of raw scores that are undecided.
    """

    name: str
    fit_n: int
    fit_passes: int
    report_n: int
    report_passes: int
    left_out: Mapping[str, int]
    curve: Curve | None
    threshold: float | None
    band: tuple[float, float] | None
    auroc: float | None
    before: Reliability | None
    after: Reliability | None
    own: ThresholdRow | None
    table: Sequence[ThresholdRow]
    warnings: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        return {
            "n": {"fit": self.fit_n, "report": self.report_n},
            "passes": {"fit": self.fit_passes, "report": self.report_passes},
            "left_out": dict(sorted(self.left_out.items())),
            "fit": None if self.curve is None else self.curve.to_dict(),
            "threshold": self.threshold,
            "band": None if self.band is None else list(self.band),
            "auroc": self.auroc,
            "before": None if self.before is None else self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "own_verdicts": None if self.own is None else self.own.to_dict(),
            "thresholds": [each.to_dict() for each in self.table],
            "warnings": list(self.warnings),
        }


@frozen(slots=True, kw_only=True)
class Report:
    """The calibrations of all evals, and of what they were made."""

    settings: Settings
    evals: Mapping[str, EvalCalibration]
    observed: Observed
    revision_id: str
    backend: str
    fingerprint: str

    def to_dict(self) -> dict[str, Any]:
        seen = self.observed
        return {
            "schema": SCHEMA,
            "backend": {"spec": self.backend, "fingerprint": self.fingerprint},
            "models": sorted(seen.models),
            "data": {"revision_id": self.revision_id, "rows": seen.rows, "unlabelled": seen.unlabelled},
            "settings": self.settings.to_dict(),
            "evals": {name: one.to_dict() for name, one in self.evals.items()},
        }


def calibrate(observed: Observed, settings: Settings) -> dict[str, EvalCalibration]:
    """The calibration of each eval that was observed."""
    return {
        name: _one(name, seen, observed.left_out.get(name, {}), settings)
        for name, seen in observed.observations.items()
    }


def _one(name: str, seen: Sequence[Observation], left_out: Mapping[str, int], settings: Settings) -> EvalCalibration:
    fitted = [one for one in seen if one.part == "fit"]
    held = [one for one in seen if one.part == "report"]
    warnings: list[str] = []
    curve = _fitted(fitted, settings, warnings) if seen else None
    if not seen:
        warnings.append("nothing to calibrate: " + (_told(left_out) or "no row has a label"))
    threshold = None if curve is None else _chosen(curve, fitted, settings, warnings)
    before, after, order = None, None, None
    should = [one.should for one in held]
    enough = min(sum(should), len(held) - sum(should)) >= FEWEST
    if enough:
        order = auroc([one.score for one in held], should)
        before = reliability([one.score for one in held], should)
        after = None if curve is None else reliability([curve(one.score) for one in held], should)
    elif seen:
        warnings.append(
            f"AUROC, Brier and ECE are unmeasured: {_balance(held)} in the report part, {FEWEST} of each are needed"
        )
    if before is not None and after is not None and after.brier > before.brier and settings.fit != "none":
        warnings.append(f"the fit makes Brier worse on the report part: {before.brier:.3f} to {after.brier:.3f}")
    table, own = _table(curve, threshold, held, settings, warnings)
    return EvalCalibration(
        name=name,
        fit_n=len(fitted),
        fit_passes=sum(one.should for one in fitted),
        report_n=len(held),
        report_passes=sum(should),
        left_out=dict(left_out),
        curve=curve,
        threshold=threshold,
        band=None if curve is None else band_of(curve, settings.sure),
        auroc=order,
        before=before,
        after=after,
        own=own,
        table=table,
        warnings=warnings,
    )


def _fitted(fitted: Sequence[Observation], settings: Settings, warnings: list[str]) -> Curve | None:
    if settings.fit == "none":
        return Same()
    passes = sum(one.should for one in fitted)
    if min(passes, len(fitted) - passes) < FEWEST:
        warnings.append(f"not fitted: {_balance(fitted)} in the fit part, {FEWEST} of each are needed")
        return None
    curve = fit(settings.fit, [one.score for one in fitted], [one.should for one in fitted])
    if curve is None:
        warnings.append("not fitted: the score does not rise with the labels")
    return curve


def _chosen(curve: Curve, fitted: Sequence[Observation], settings: Settings, warnings: list[str]) -> float | None:
    chosen = choose(
        [curve(one.score) for one in fitted],
        [one.vetoed for one in fitted],
        [one.should for one in fitted],
        settings.max_false_pass,
    )
    if chosen is not None:
        return chosen
    needed = rows_needed(settings.max_false_pass)
    if needed is None or len(fitted) < needed:
        least = "no number of rows shows a limit of 0" if needed is None else f"{needed} are needed at least"
        warnings.append(
            f"no threshold keeps false passes within {settings.max_false_pass:g}: "
            f"the fit part has {len(fitted)} rows, {least}"
        )
    else:
        warnings.append(f"no threshold keeps false passes within {settings.max_false_pass:g}")
    return None


def _table(
    curve: Curve | None,
    threshold: float | None,
    held: Sequence[Observation],
    settings: Settings,
    warnings: list[str],
) -> tuple[list[ThresholdRow], ThresholdRow | None]:
    """The rows of the report part: the usual thresholds and the chosen one; and the eval's own verdicts."""
    if not held:
        return [], None
    should, vetoes = [one.should for one in held], [one.vetoed for one in held]
    judged = [one for one in held if one.passed is not None]
    own = row(None, [bool(one.passed) for one in judged], [one.should for one in judged]) if judged else None
    if curve is None:
        return [], own
    p = [curve(one.score) for one in held]
    wanted = sorted({*SHOWN, *([] if threshold is None else [threshold])})
    table = [row(each, passing(p, vetoes, each), should) for each in wanted]
    if threshold is not None:
        false_pass = next(each for each in table if each.threshold == threshold).false_pass
        if (false_pass.value or 0.0) > settings.max_false_pass:
            warnings.append(
                f"on the report part {false_pass.value:.3f} pass wrongly from {threshold:g} on, "
                f"above the limit of {settings.max_false_pass:g}"
            )
    return table, own


def _balance(seen: Sequence[Observation]) -> str:
    passes = sum(one.should for one in seen)
    return f"{passes} should pass and {len(seen) - passes} should not"


def _told(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {why}" for why, n in sorted(left_out.items()) if n)
