"""The reference routing pipeline: classifier, rules, tier router, model and price, from one TOML policy.

    pipeline = Pipeline(load_policy("policy.toml"))
    decision = pipeline.route({"prompt": "Prove that there are infinitely many primes."})
    decision.tier, decision.score, decision.signals, decision.rule, decision.model, decision.cost_usd

Deterministic and offline. :class:`PolicyError` and :class:`RequestError` carry one line each.
"""

from yb_eval_routing.pipeline.errors import PolicyError, RequestError
from yb_eval_routing.pipeline.loading import load_policy, reference_policy
from yb_eval_routing.pipeline.policy import Policy
from yb_eval_routing.pipeline.router import Decision, Pipeline, length_tier

__all__ = [
    "Decision",
    "Pipeline",
    "Policy",
    "PolicyError",
    "RequestError",
    "length_tier",
    "load_policy",
    "reference_policy",
]
