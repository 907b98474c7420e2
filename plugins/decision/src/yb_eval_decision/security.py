"""The evals of security, and the detectors they use.

```python
from yb_eval_decision.security import PHI, PromptInjection, detect_secrets, redact
```
"""

from yb_eval_decision.detection import (
    Finding,
    detect_phi,
    detect_pii,
    detect_secrets,
    health_terms,
    redact,
)
from yb_eval_decision.evals.conduct import Bias, ExcessiveAgency, NonAdvice, TopicAdherence, Toxicity
from yb_eval_decision.evals.disclosure import SystemPromptLeakage
from yb_eval_decision.evals.injection import GoalHijacking, IndirectInjection, Jailbreak, PromptInjection
from yb_eval_decision.evals.personal_data import PHI, PII
from yb_eval_decision.evals.secrets_exposure import SecretsExposure
from yb_eval_decision.evals.sensitive import redacted_texts
from yb_eval_decision.surfaces import SURFACES

__all__ = [
    "PHI",
    "PII",
    "SURFACES",
    "Bias",
    "ExcessiveAgency",
    "Finding",
    "GoalHijacking",
    "IndirectInjection",
    "Jailbreak",
    "NonAdvice",
    "PromptInjection",
    "SecretsExposure",
    "SystemPromptLeakage",
    "TopicAdherence",
    "Toxicity",
    "detect_phi",
    "detect_pii",
    "detect_secrets",
    "health_terms",
    "redact",
    "redacted_texts",
]
