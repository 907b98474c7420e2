"""The evals of what an answer is worth: faithful, relevant, right, complete, coherent, obedient, willing.

```python
from yb_eval_decision.quality import AnswerRelevancy, Faithfulness
```
"""

from yb_eval_decision.evals.grounding import ContextRecall, Faithfulness, Hallucination
from yb_eval_decision.evals.responses import (
    AnswerRelevancy,
    Coherence,
    Completeness,
    Correctness,
    InstructionFollowing,
    Refusal,
)
from yb_eval_decision.evals.retrieval import ContextPrecision
from yb_eval_decision.evals.rubrics import CustomRubric

__all__ = [
    "AnswerRelevancy",
    "Coherence",
    "Completeness",
    "ContextPrecision",
    "ContextRecall",
    "Correctness",
    "CustomRubric",
    "Faithfulness",
    "Hallucination",
    "InstructionFollowing",
    "Refusal",
]
