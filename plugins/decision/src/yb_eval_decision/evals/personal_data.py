"""Does the text give away who somebody is, or what is wrong with them?"""

from __future__ import annotations

from yb_eval_decision.detection.health import health_terms
from yb_eval_decision.detection.view import View
from yb_eval_decision.evals.parted import Asking
from yb_eval_decision.evals.sensitive import Section, SensitiveEval


class PII(SensitiveEval):
    """Is the text free of data that identify a private individual?

    Detectors find the data, the model is asked whether they are a private individual's rather than an office's, published
    or made up. Numbers that form, checksum and label bear out need no question. The score is 1 - p of the worst part; it passes
    above `threshold`.
    """

    group = "pii"
    field = "personal_data"
    judged_as = "personal"
    asking = Asking(
        "Do the data listed in {text} as `found`, masked in its `text`, identify or reach a private individual?",
        ("At least one is of a person in a private capacity: a customer, an employee, the user.",
         "All are of organisations or offices, published examples, placeholders, or made up to illustrate."),
    )  # fmt: skip


class PHI(SensitiveEval):
    """Is the text free of health information about a person who can be identified?

    Looks for what identifies somebody, and for words about health in English and Russian: either is a reason to ask. A
    patient's number beside such a word needs no question. The score is 1 - p of the worst part; it passes above `threshold`.
    """

    group = "phi"
    field = "health_data"
    judged_as = "phi"
    asking = Asking(
        "Does the `text` in {text} tie information about health or care to a person who can be identified?",
        ("It tells of the health, treatment or care of somebody who is named or identified, be it by data that are masked.",
         "It is general, about nobody in particular, or the data in it have nothing to do with health."),
    )  # fmt: skip

    def words(self, view: View) -> list[tuple[int, str]]:
        return health_terms(view)

    def decisive(self, section: Section) -> bool:
        return bool(section.terms) and super().decisive(section)
