"""Kev and vLLM: System One models on a machine of one's own.

Kev (Apache-2.0) is served by `python -m kev.serve --port 8009`, vLLM from 0.32 on answers `/v1/systemone` itself.
"""

from __future__ import annotations

from yb_eval_decision.backends.addresses import origin, split, variable
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.systemone import JEV_LIMITS, KEV_LIMITS, SystemOneBackend, served

KEV = "http://localhost:8009"


def kev(spec: str, pace: Pace) -> SystemOneBackend:
    """`kev`, `kev://HOST:PORT[#MODEL]`, `kev+https://...`. A bare `kev` is at KEV_BASE_URL or localhost:8009. KEV_API_KEY, if the
    server wants one, goes to KEV_BASE_URL where that is set, else to the address of the spec."""
    home = variable("KEV_BASE_URL")
    if spec.partition("#")[0] == "kev":
        base = home or KEV
        base = base if "://" in base else f"http://{base}"
        parts = split(base, "KEV_BASE_URL")
        scheme = "kev+https" if parts.scheme == "https" else "kev"
        spec = f"{scheme}://{parts.netloc}{parts.path}{spec[3:]}"
    elif home is not None:
        given = spec.partition("#")[0].replace("kev+https://", "https://").replace("kev://", "http://")
        base = home if "://" in home else f"http://{home}"
        if origin(split(given, spec)) != origin(split(base, "KEV_BASE_URL")):
            return served(spec, pace, keys=(), limits=KEV_LIMITS, default="kev-latest")
    return served(spec, pace, keys=("KEV_API_KEY",), limits=KEV_LIMITS, default="kev-latest")


def vllm(spec: str, pace: Pace) -> SystemOneBackend:
    """`vllm://HOST:PORT[#MODEL]`, `vllm+https://...`. VLLM_API_KEY is what the server was started with."""
    return served(spec, pace, keys=("VLLM_API_KEY",), limits=JEV_LIMITS)
