"""Calibration: fitting what a backend's scores mean on labelled rows, keeping it, and judging by it.

`calibrate` makes a `Report` of labelled rows; `Calibration` is what is kept of it in a file and applied to results. The fit and
the threshold come from one part of the rows, the numbers that are reported from the other.
"""

from __future__ import annotations

from yb_eval_decision.calibration.observing import Observation, Observed, observe
from yb_eval_decision.calibration.report import EvalCalibration, Report, Settings, calibrate
from yb_eval_decision.calibration.saved import CalibratedBands, Calibration, SavedEval

__all__ = [
    "CalibratedBands", "Calibration", "EvalCalibration", "Observation", "Observed", "Report", "SavedEval", "Settings",
    "calibrate", "observe",
]  # fmt: skip
