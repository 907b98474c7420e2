"""From what the user wrote after `--backend` to a backend.

Without a spec it is YB_EVAL_DECISION_BACKEND, and without that `local`, which is offline: a key that happens to be in the
environment never turns a run into one that asks a service, costs money or sends data away. What each scheme needs is imported
when it is used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve

from yb_eval import PluginError, UsageError
from yb_eval.digest import HEX_ID
from yb_eval.errors import nearest, shorten
from yb_eval.targets import Settings, mask
from yb_eval_decision.backends.base import Backend

if TYPE_CHECKING:
    from yb_eval_decision.backends.cascade import Bands

BACKEND_VARIABLE = "YB_EVAL_DECISION_BACKEND"
#: What answers where nothing is named.
DEFAULT = "local"

#: Opens the backend that a spec (the whole of it) names, within a run's settings.
Factory = Callable[[str, Settings | None], Backend]

_SCHEME = re.compile(r"[a-z][a-z0-9+-]{0,31}\Z")
_registered: dict[str, Factory] = {}


def open_backend(
    spec: str | Backend | None = None,
    *,
    settings: Settings | None = None,
    store: Any = None,
    bands: Bands | None = None,
) -> Backend:
    """The backend that `spec` names; one that is a backend already is given back as it is. See `SCHEMES`.

    `settings` bound the work of one that waits for a network, and are where relative files are looked up. `bands` say where a
    cascade's answers are undecided; without them a `store` that knows calibrated bands (a method `bands(specs)`) is asked.

    Raises `UsageError` for what cannot be opened, without showing credentials.
    """
    if isinstance(spec, Backend):
        return spec
    if spec is not None:
        return _opened(spec, settings, store, bands)
    try:
        return _opened(os.environ.get(BACKEND_VARIABLE, "").strip() or DEFAULT, settings, store, bands)
    except UsageError as error:
        raise UsageError(error.what, where=error.where or BACKEND_VARIABLE, hint=error.hint) from error


def register(name: str, factory: Factory) -> None:
    """Has the scheme `name` (`name`, `name:...`, `name://...`) opened by `factory(spec, settings)`.

    Raises `UsageError` for a name that is no scheme or is one of this package's.
    """
    if not _SCHEME.match(name):
        raise UsageError(f"a scheme is lower-case letters, digits, + and -, not {name!r}")
    if name in SCHEMES:
        raise UsageError(f"the backend {name!r} is built in and cannot be replaced")
    _registered[name] = factory


def _opened(spec: str, settings: Settings | None, store: Any, bands: Bands | None) -> Backend:
    named = spec.strip() if isinstance(spec, str) else ""
    if not named or not spec.isprintable():
        raise UsageError(f"a backend's name is a text that can be printed, not {shorten(spec)}")
    if settings is not None:
        # The cache and the recording are put around a backend by the run: what is opened here has neither inside.
        settings = evolve(settings, cache=None, record=None)
    if "->" not in named and "~>" not in named:
        return _single(named, settings)
    return _cascade(named, settings, store, bands)


def schemes() -> tuple[str, ...]:
    """The schemes that can be opened now."""
    return (*SCHEMES, *_registered)


def _single(spec: str, settings: Settings | None) -> Backend:
    name = spec.partition(":")[0].partition("#")[0]
    if name in SCHEMES:
        return SCHEMES[name](spec, settings)
    if name not in _registered:
        raise UsageError(f"unknown backend {shorten(mask(spec))}", hint=nearest(name, schemes()))
    backend = _registered[name](spec, settings)
    if not isinstance(backend, Backend) or not HEX_ID.match(str(backend.fingerprint)):
        raise PluginError(
            f"the backend {name}: has no fingerprint of 64 hex characters", hint="use yb_eval.digest.identify"
        )
    return backend


def _cascade(spec: str, settings: Settings | None, store: Any, bands: Bands | None) -> Backend:
    from yb_eval_decision.backends.cascade import CascadeBackend, parse

    stages = parse(spec)
    _one_owner([stage for stage, _ in stages])
    if bands is None:
        known = getattr(store, "bands", None)
        bands = known([stage for stage, _ in stages]) if callable(known) else None
    opened: list[Backend] = []
    try:
        for stage, _ in stages:
            opened.append(_single(stage, settings))
        return CascadeBackend(opened, bands=bands, on_failure=[failures for _, failures in stages[:-1]])
    except BaseException:
        for backend in opened:
            backend.close()
        raise


def _one_owner(specs: list[str]) -> None:
    """Refuses two addresses that would be sent one key that cannot belong to both."""
    from yb_eval_decision.backends.addresses import OWN_HOST, OWN_KEY, origin, split, variable

    bare = [spec.partition("#")[0] for spec in specs if spec.startswith(("http://", "https://"))]
    if len({origin(split(url, url)) for url in bare}) > 1 and variable(OWN_KEY) and not variable(OWN_HOST):
        raise UsageError(f"{OWN_KEY} cannot belong to two addresses", hint=f"set {OWN_HOST} to the host that it is for")


# The schemes of this package


def _remote(module: str, function: str) -> Factory:
    def opened(spec: str, settings: Settings | None) -> Backend:
        from importlib import import_module

        from yb_eval_decision.backends.pacing import Pace

        made: Backend = getattr(import_module(f"yb_eval_decision.backends.{module}"), function)(spec, Pace.of(settings))
        return made

    return opened


def _local(spec: str, settings: Settings | None) -> Backend:
    from yb_eval_decision.backends.local import LocalBackend

    if spec != "local":
        raise UsageError("the backend 'local' takes no argument", where=mask(spec))
    return LocalBackend()


def _mock(spec: str, settings: Settings | None) -> Backend:
    from yb_eval_decision.backends.mock import MockBackend

    if spec != "mock":
        raise UsageError(
            "the backend 'mock' takes no argument", where=mask(spec), hint="MockBackend(answers) in Python"
        )
    return MockBackend(keep=0)


def _replay(spec: str, settings: Settings | None) -> Backend:
    from yb_eval_decision.backends.replay import ReplayBackend

    name = spec.partition(":")[2]
    if not name:
        raise UsageError("replay: names no file", hint="replay:FILE")
    return ReplayBackend((settings or Settings()).base / name, spec=mask(spec))


def _python(spec: str, settings: Settings | None) -> Backend:
    from yb_eval_decision.backends.python_backend import PythonBackend

    return PythonBackend(spec, settings)


def _laya(spec: str, settings: Settings | None) -> Backend:
    from yb_eval_decision.backends.laya import laya

    return laya(spec)


def _chat(spec: str, settings: Settings | None) -> Backend:
    """`llm:MODEL`: the vendor is the model's first part (`anthropic/...`, `openai/...`, `openrouter/...`), or follows from its
    name."""
    from yb_eval_decision.backends.pacing import Pace

    scheme, _, model = spec.partition(":")
    vendor = scheme
    if scheme == "llm":
        first, slash, rest = model.partition("/")
        if slash and first in ("openai", "anthropic", "openrouter"):
            vendor, model = first, rest
        else:
            vendor = "anthropic" if model.startswith("claude") else "openai"
    if not model:
        raise UsageError("it names no model", where=scheme, hint=f"{scheme}:MODEL")
    pace = Pace.of(settings)
    if vendor == "anthropic":
        from yb_eval_decision.backends.chat_anthropic import anthropic_chat

        return anthropic_chat(model, spec, pace)
    from yb_eval_decision.backends.chat_openai import openai_chat, openrouter_chat

    return (openrouter_chat if vendor == "openrouter" else openai_chat)(model, spec, pace)


SCHEMES: Mapping[str, Factory] = {
    "local": _local,
    "typesafe": _remote("systemone", "typesafe"),
    "jev": _remote("systemone", "typesafe"),
    "vercel": _remote("vercel", "vercel"),
    "openrouter": _remote("openrouter", "openrouter"),
    "openai-decisions": _remote("openai_decisions", "openai_decisions"),
    "kev": _remote("kev", "kev"),
    "kev+https": _remote("kev", "kev"),
    "vllm": _remote("kev", "vllm"),
    "vllm+https": _remote("kev", "vllm"),
    "http": _remote("systemone", "anywhere"),
    "https": _remote("systemone", "anywhere"),
    "llm": _chat,
    "openai": _chat,
    "anthropic": _chat,
    "laya": _laya,
    "mock": _mock,
    "replay": _replay,
    "python": _python,
}
