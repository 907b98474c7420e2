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
| `Auroc` | how well a score tells the positive samples from the others |
| `Sets` | `exact_match set_recall set_precision set_f1` |
| `Amount` | sum and mean of a number in the details |
| `Repeats`, `average` | several outcomes per sample |
| `Sliced` | any of them per tag, detail or key |
"""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.metrics.accuracy import Accuracy as Accuracy
    from yb_eval.metrics.accuracy import Predicate as Predicate
    from yb_eval.metrics.accuracy import Rate as Rate
    from yb_eval.metrics.accuracy import acceptable as acceptable
    from yb_eval.metrics.accuracy import wrong as wrong
    from yb_eval.metrics.auroc import Auroc as Auroc
    from yb_eval.metrics.base import NO_ANSWER as NO_ANSWER
    from yb_eval.metrics.base import JudgementMetric as JudgementMetric
    from yb_eval.metrics.base import declarations as declarations
    from yb_eval.metrics.base import label_text as label_text
    from yb_eval.metrics.baselines import BestConstant as BestConstant
    from yb_eval.metrics.calibration import Calibration as Calibration
    from yb_eval.metrics.classification import Classification as Classification
    from yb_eval.metrics.cost import Amount as Amount
    from yb_eval.metrics.cost import ExpectedCost as ExpectedCost
    from yb_eval.metrics.cost import linear_costs as linear_costs
    from yb_eval.metrics.counts import Counts as Counts
    from yb_eval.metrics.detection import Detection as Detection
    from yb_eval.metrics.distribution import Distribution as Distribution
    from yb_eval.metrics.exact import Moments as Moments
    from yb_eval.metrics.mean_score import MeanScore as MeanScore
    from yb_eval.metrics.ordinal import Ordinal as Ordinal
    from yb_eval.metrics.ordinal import OrdinalMetric as OrdinalMetric
    from yb_eval.metrics.repeats import Repeats as Repeats
    from yb_eval.metrics.repeats import average as average
    from yb_eval.metrics.selective import Selective as Selective
    from yb_eval.metrics.sets import Sets as Sets
    from yb_eval.metrics.slices import Sliced as Sliced

__getattr__, __all__ = lazily(
    __name__,
    {
        "accuracy": ["Accuracy", "Predicate", "Rate", "acceptable", "wrong"],
        "auroc": ["Auroc"],
        "base": ["NO_ANSWER", "JudgementMetric", "declarations", "label_text"],
        "baselines": ["BestConstant"],
        "calibration": ["Calibration"],
        "classification": ["Classification"],
        "cost": ["Amount", "ExpectedCost", "linear_costs"],
        "counts": ["Counts"],
        "detection": ["Detection"],
        "distribution": ["Distribution"],
        "exact": ["Moments"],
        "mean_score": ["MeanScore"],
        "ordinal": ["Ordinal", "OrdinalMetric"],
        "repeats": ["Repeats", "average"],
        "selective": ["Selective"],
        "sets": ["Sets"],
        "slices": ["Sliced"],
    },
)
