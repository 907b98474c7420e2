"""Mergeable metrics that serve every suite; each folds one judgement by its name.

| metric | measurements |
|---|---|
| `Counts` | `samples scored errors skipped coverage` |
| `Accuracy`, `MeanScore`, `Rate`, `BestConstant` | rates and means over scored outcomes, the best constant policy |
| `Detection` | `tp fp fn tn precision recall f1 f2 specificity fpr alerts_per_100` |
| `Classification` | `confusion macro_f1 balanced_accuracy`, per class `precision[c] recall[c] f1[c]` |
| `Distribution` | `share[label] entropy max_share` of the predictions |
| `Ordinal`, `ExpectedCost` | error, agreement, direction and cost over ordered levels |
| `Calibration`, `Selective` | whether confidence is true, and what it is good for |
| `Sets` | `exact_match set_recall set_precision set_f1` |
| `Amount` | sum and mean of a number in the details |
| `Repeats`, `average` | several outcomes per sample |
| `Sliced` | any of them per tag, detail or key |
"""

from yb_eval.metrics.accuracy import Accuracy, MeanScore, Predicate, Rate, acceptable, wrong
from yb_eval.metrics.base import NO_ANSWER, JudgementMetric, declarations, label_text
from yb_eval.metrics.baselines import BestConstant
from yb_eval.metrics.calibration import Calibration
from yb_eval.metrics.classification import Classification
from yb_eval.metrics.cost import Amount, ExpectedCost, linear_costs
from yb_eval.metrics.counts import Counts
from yb_eval.metrics.detection import Detection
from yb_eval.metrics.distribution import Distribution
from yb_eval.metrics.exact import Moments
from yb_eval.metrics.ordinal import Ordinal, OrdinalMetric
from yb_eval.metrics.repeats import Repeats, average
from yb_eval.metrics.selective import Selective
from yb_eval.metrics.sets import Sets
from yb_eval.metrics.slices import Sliced

__all__ = [
    "NO_ANSWER",
    "Accuracy",
    "Amount",
    "BestConstant",
    "Calibration",
    "Classification",
    "Counts",
    "Detection",
    "Distribution",
    "ExpectedCost",
    "JudgementMetric",
    "MeanScore",
    "Moments",
    "Ordinal",
    "OrdinalMetric",
    "Predicate",
    "Rate",
    "Repeats",
    "Selective",
    "Sets",
    "Sliced",
    "acceptable",
    "average",
    "declarations",
    "label_text",
    "linear_costs",
    "wrong",
]
