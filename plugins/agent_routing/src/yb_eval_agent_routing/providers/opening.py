"""From what the user wrote after `--provider` to a provider.

A provider is a target in core's sense: it answers one request, which is one model call, and so can be recorded,
replayed and cached like any other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from yb_eval import Target, UsageError
from yb_eval.errors import nearest
from yb_eval.targets import Settings, open_target
from yb_eval_agent_routing.agent import Offers
from yb_eval_agent_routing.providers.bm25 import bm25_target
from yb_eval_agent_routing.providers.client import ModelOptions
from yb_eval_agent_routing.providers.mock import mock_target

#: What is asked when nothing else is named.
REFERENCE = "bm25:1"

PROVIDER_VARIABLE = "CHAT_EVAL_PROVIDER"
#: The names that CHAT_EVAL_PROVIDER may have, and what each speaks.
_SPEAKS = {"openai": "openai", "custom": "openai", "llm-proxy": "openai", "anthropic": "anthropic"}

Factory = Callable[..., Target]


@frozen(slots=True)
class Named:
    """A provider that the environment names: its spec, and how it is asked."""

    spec: str
    options: ModelOptions


def builtins(offers: Offers, options: ModelOptions) -> dict[str, Factory]:
    """The suite's own providers by name, for `open_target`; SDKs are imported when they are used."""

    def openai(model: str) -> Target:
        from yb_eval_agent_routing.providers.openai_chat import openai_target

        return openai_target(model, options)

    def anthropic(model: str) -> Target:
        from yb_eval_agent_routing.providers.anthropic_messages import anthropic_target

        return anthropic_target(model, options)

    return {
        "builtin": lambda: bm25_target(REFERENCE.partition(":")[2], offers),
        "bm25": lambda k: bm25_target(k, offers),
        "mock": lambda file: mock_target(file),
        "openai": openai,
        "anthropic": anthropic,
    }


def with_provider(spec: str, offers: Offers, options: ModelOptions, settings: Settings) -> dict[str, Factory]:
    """The same, with `spec` in the place of the built-in one: what the user named is what the run opens, caches and
    records."""
    made = builtins(offers, options)
    # The cache and the recording are put around the built-in one by the run: a second recorder would find the first.
    bare = evolve(settings, cache=None, record=None)
    return {**made, "builtin": lambda: open_target(spec, builtins=made, settings=bare)}


def from_environment(options: ModelOptions, environment: Mapping[str, str] | None = None) -> Named | None:
    """The provider that CHAT_EVAL_PROVIDER, _ENDPOINT, _MODEL and _API_KEY name; `None` where the first is not set.

    Raises `UsageError` for a name that means nothing, or without a model.
    """
    found = os.environ if environment is None else environment
    name = found.get(PROVIDER_VARIABLE, "").strip()
    if not name:
        return None
    if name not in _SPEAKS:
        hint = "give it an OpenAI-compatible endpoint" if name == "bedrock" else nearest(name, _SPEAKS)
        raise UsageError(f"the provider {name!r} is not known", where=PROVIDER_VARIABLE, hint=hint)
    model = found.get("CHAT_EVAL_MODEL", "").strip()
    if not model:
        raise UsageError("there is no model", where=PROVIDER_VARIABLE, hint="set CHAT_EVAL_MODEL")
    endpoint = options.endpoint or found.get("CHAT_EVAL_ENDPOINT", "").strip() or None
    key = found.get("CHAT_EVAL_API_KEY", "").strip() or None
    return Named(f"{_SPEAKS[name]}:{model}", evolve(options, endpoint=endpoint, api_key=key))
