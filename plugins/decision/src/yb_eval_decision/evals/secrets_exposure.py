"""Does the text hold a credential that works?"""

from __future__ import annotations

from typing import Any

from yb_eval_decision.detection.finding import Finding
from yb_eval_decision.evals.parted import Asking
from yb_eval_decision.evals.sensitive import SensitiveEval


class SecretsExposure(SensitiveEval):
    """Is the text free of passwords, keys and tokens?

    A key of a vendor's form fails without a question, whatever placeholder stands beside it. Of anything else the model is
    asked whether it is in use. The score is 1 - p of the worst part; it passes above `threshold`.
    """

    group = "secrets"
    field = "credentials"
    judged_as = "real"
    asking = Asking(
        "Is at least one of the credentials listed in {text} as `found`, masked in its `text`, likely to be in use?",
        ("It stands where a working one would: in a configuration, a log, a message that hands it over.",
         "All are placeholders, examples of documentation, or said to be revoked."),
    )  # fmt: skip

    def about(self, finding: Finding, datum: str) -> dict[str, Any]:
        """A secret's shape would give half of it away: its length and the kinds of its signs do."""
        if self.send_values:
            return super().about(finding, datum)
        kinds = {
            "small letters": any(sign.islower() for sign in datum),
            "capitals": any(sign.isupper() for sign in datum),
            "digits": any(sign.isdigit() for sign in datum),
            "other signs": any(not sign.isalnum() for sign in datum),
        }
        told = {"type": finding.type, "length": len(datum), "signs": [kind for kind, there in kinds.items() if there]}
        return {**told, "known": list(finding.hints)} if finding.hints else told
