"""What a system says, whatever is right: a near-constant one must be visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal, localcontext

from attrs import frozen

from yb_eval.metrics.base import JudgementMetric, label_text, null, rate, slice_name
from yb_eval.model import Declared, Measurement, Outcome

#: From this share of one label on, a system counts as near-constant.
NEAR_CONSTANT = 0.95
MAX_LABELS = 200
_NOTHING = "no outcome was scored"


@frozen(slots=True, kw_only=True)
class Distribution(JudgementMetric):
    """`share[label]` of each predicted label, their `entropy` in bits, and `max_share`, the largest of the shares.

    The denominator is the scored outcomes; a null prediction is the label `(no answer)`. `labels` are shown even
    where nothing was predicted so. `max_share` names its label in the details, and says `near_constant` from 0.95 on;
    gate it (`max_share <= 0.95`) to refuse a constant router. Beyond 200 labels only the most frequent have a share
    of their own. Shares have Wilson intervals, the entropy (Shannon 1948, of the observed shares) has none.
    """

    labels: tuple[str, ...] | None = None

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("entropy", "Entropy of the predicted labels, in bits.", high=None, better=None),
            self.declare("max_share", "The share of the most frequent prediction.", better=None),
            self.declare("share", "The share of a predicted label.", better=None, sliced=True),
        )

    def start(self) -> Counter[str]:
        return Counter()

    def add(self, state: Counter[str], outcomes: Sequence[Outcome]) -> Counter[str]:
        state.update([label_text(judged.predicted) for judged in self.scored(outcomes)])
        return state

    def merge(self, left: Counter[str], right: Counter[str]) -> Counter[str]:
        left.update(right)
        return left

    def finish(self, state: Counter[str]) -> Sequence[Measurement]:
        n = state.total()
        name = self.named("share")
        if n == 0:
            shares = [null(slice_name(name, label), _NOTHING) for label in self.labels or ()]
            return (null(self.named("entropy"), _NOTHING), null(self.named("max_share"), _NOTHING), *shares)
        frequent = sorted(state, key=lambda label: (-state[label], label))
        shown = dict.fromkeys((*(self.labels or ()), *sorted(frequent[:MAX_LABELS])))
        most = frequent[0]
        details = {"label": most, "near_constant": state[most] >= NEAR_CONSTANT * n}
        return (
            Measurement(self.named("entropy"), entropy_bits(state.values()), n),
            rate(self.named("max_share"), state[most], n, empty=_NOTHING, details=details),
            *(rate(slice_name(name, label), state[label], n, empty=_NOTHING) for label in shown),
        )


def entropy_bits(counts: Iterable[int]) -> float:
    """The entropy of the shares of `counts`, in bits."""
    many = sorted(Counter(count for count in counts if count).items())
    n = sum(count * times for count, times in many)
    # In decimals: their logarithm is correctly rounded everywhere, while a platform's log2 may differ in the last bit.
    with localcontext(Context(prec=40)):
        whole = Decimal(n).ln()
        terms = sum((times * count * (whole - Decimal(count).ln()) for count, times in many), Decimal(0))
        return float(terms / (n * Decimal(2).ln()))
