"""Detectors of other plugins, found by their entry point (hook `yb_eval_detectors`): no import between plugins."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import field, frozen

from yb_eval.discovery import DETECTORS
from yb_eval.errors import PluginError, printable, shorten
from yb_eval.plugins import load_extensions
from yb_eval_decision.detection.finding import DECISIVE, Finding
from yb_eval_decision.detection.known import BY_CONTEXT, HOOKED

HOOK = "yb_eval_detectors"


@frozen(slots=True)
class Hooked:
    """A detector of another plugin. `kinds` are our types that it answers for."""

    name: str
    detect: Callable[[str], Sequence[Mapping[str, Any]]]
    kinds: frozenset[str]

    @property
    def looks_again(self) -> bool:
        return True

    @property
    def fingerprint(self) -> str:
        """What it says of itself; nothing where it says nothing."""
        return str(getattr(self.detect, "fingerprint", ""))

    def find(self, text: str) -> list[Finding]:
        """Its findings in our types. Raises `PluginError` for an answer that is none."""
        try:
            answers = [_read(one, len(text)) for one in self.detect(text)]
        except PluginError as error:
            raise PluginError(f"detector {self.name!r}: {error.what}") from error
        except Exception as error:
            raise PluginError(f"detector {self.name!r} failed: {type(error).__name__}") from error
        return [found for found in answers if found is not None]


@frozen(slots=True)
class Installed:
    """The detectors that are there, by name, and those that could not be loaded, with the reason."""

    detectors: tuple[Hooked, ...] = ()
    broken: Mapping[str, str] = field(factory=dict)


def installed() -> Installed:
    """The detectors of the plugins that are installed and allowed here."""
    environment = os.environ
    return _load(tuple(sys.path), environment.get("YB_EVAL_PLUGINS"), environment.get("YB_EVAL_DISABLE_PLUGINS"))


@cache
def _load(path: tuple[str, ...], listed: str | None, disabled: str | None) -> Installed:
    """Loaded once for each set of plugins that may be loaded."""
    extensions = load_extensions(DETECTORS)
    broken = dict(extensions.broken)
    offered: dict[str, Hooked] = {}
    for plugin, answer in extensions.each(HOOK):
        if not isinstance(answer, Mapping):
            broken[plugin] = f"{HOOK}() failed: {shorten(answer)}"
            continue
        for name, detect in answer.items():
            kinds = _kinds(getattr(detect, "types", None))
            if name in offered:
                broken[plugin] = f"the name {name!r} is taken"
            elif kinds:
                offered[name] = Hooked(printable(str(name)), detect, kinds)
    return Installed(tuple(offered[name] for name in sorted(offered)), broken)


def _kinds(types: Any) -> frozenset[str]:
    """Our types that a detector of `types` answers for; of all it may know, where it does not say."""
    every = types is None
    return frozenset(kind for known, kind in HOOKED.items() if every or known.partition("/")[0] in types)


def _read(answer: Mapping[str, Any], size: int) -> Finding | None:
    kind = HOOKED.get(f"{answer['type']}/{answer.get('kind')}") or HOOKED.get(answer["type"])
    start, end, confidence = answer["start"], answer["end"], answer["confidence"]
    whole = all(type(offset) is int for offset in (start, end))
    if not whole or not 0 <= start < end <= size or not 0.0 <= float(confidence) <= 1.0:
        raise PluginError(f"no finding: {start!r}..{end!r}, confidence {shorten(confidence)}")
    if kind is None:
        return None
    secret = answer["type"] == "secret"
    return Finding(kind, start, end, float(confidence), secret and confidence >= DECISIVE and kind not in BY_CONTEXT)
