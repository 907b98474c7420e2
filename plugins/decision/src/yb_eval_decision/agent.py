"""The evals of what an agent does: its tools, its steps, its way to the goal.

```python
from yb_eval_decision.agent import Grounded, ToolCallRisk
```
"""

from yb_eval_decision.evals.grounding import Grounded
from yb_eval_decision.evals.loops import LoopDetection
from yb_eval_decision.evals.progress import GoalCompletion, PlanAdherence, StayedInScope, StepProgress
from yb_eval_decision.evals.responses import Quality
from yb_eval_decision.evals.risk import ToolCallRisk
from yb_eval_decision.evals.tool_use import ArgumentValidity, ToolChoice, UsedToolResult
from yb_eval_decision.evals.trajectory import ToolCallF1, TrajectoryMatch

__all__ = [
    "ArgumentValidity",
    "GoalCompletion",
    "Grounded",
    "LoopDetection",
    "PlanAdherence",
    "Quality",
    "StayedInScope",
    "StepProgress",
    "ToolCallF1",
    "ToolCallRisk",
    "ToolChoice",
    "TrajectoryMatch",
    "UsedToolResult",
]
