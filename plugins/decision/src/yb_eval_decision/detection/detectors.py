"""Which detector answers: that of an installed plugin for the types it knows, our own patterns for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal, Protocol

from attrs import evolve, field, frozen

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten
from yb_eval_decision.detection import credentials, health, personal
from yb_eval_decision.detection.finding import DECISIVE, Finding, resolve
from yb_eval_decision.detection.hints import HARMLESS, hints, secret_hints
from yb_eval_decision.detection.installed import installed
from yb_eval_decision.detection.known import NAMED_ENTITIES, SECRETS, TYPES, Group
from yb_eval_decision.detection.patterns import Patterns
from yb_eval_decision.detection.redaction import replaced
from yb_eval_decision.detection.view import View

DetectorName = Literal["auto", "own", "presidio"]
DETECTORS: tuple[DetectorName, ...] = ("auto", "own", "presidio")

#: Rises when our own patterns find something else than before.
OWN_VERSION = 2

# Each round masks a character more at least; texts that need more than two are made on purpose.
_MOST_ROUNDS = 8

_RULES = {
    "pii": personal.RULES,
    "phi": (*personal.RULES, *health.RULES),
    "secrets": credentials.RULES,
}


class Source(Protocol):
    """What finds: an installed plugin's detector, or Presidio. One that `looks_again` is given the text again, masked."""

    @property
    def name(self) -> str: ...
    @property
    def kinds(self) -> frozenset[str]: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def looks_again(self) -> bool: ...
    def find(self, text: str) -> list[Finding]: ...


@frozen(slots=True)
class Detection:
    """A way to find the data of one group. `sources` answer for their types, our own patterns for all others."""

    group: Group
    sources: tuple[Source, ...] = ()
    broken: Mapping[str, str] = field(factory=dict)

    def find(self, text: str, entities: Iterable[str] | None = None, *, view: View | None = None) -> list[Finding]:
        """The data in `text`, in text order, none overlapping another; of the types `entities` only, where they are given.
        `view` is that of `text`, where there is one already.

        What one datum hid by standing close to it is found too, as if the datum were masked: so nothing is left to be found
        in a text that was redacted. Time grows linearly with the text.
        """
        wanted = None if entities is None else frozenset(entities)
        found: list[Finding] = []
        masked = text
        for round in range(_MOST_ROUNDS):
            more = self._find(masked, view if view is not None and round == 0 else View(masked), round)
            if wanted is not None:
                more = [one for one in more if one.type in wanted]
            if not more:
                break
            found = resolve([*found, *map(decided, more)])
            masked = replaced(masked, resolve(more), lambda one: "*" * (one.end - one.start))
        return found

    def _find(self, text: str, view: View, round: int) -> list[Finding]:
        found = _own(self.group).find(view)
        if found:
            taken = frozenset().union(*(source.kinds for source in self.sources))
            found = [one for one in found if one.type not in taken]
        for source in self.sources:
            if round == 0 or source.looks_again:
                found += [_known(one, text) for one in source.find(text) if one.type in self.types]
        return found

    @property
    def types(self) -> frozenset[str]:
        """The types that can be found."""
        named = NAMED_ENTITIES if self.group != "secrets" and any(s.name == "presidio" for s in self.sources) else {}
        return frozenset(TYPES[self.group]) | frozenset(named)

    @property
    def name(self) -> str:
        """Who answers: `own`, or `guards+own`."""
        return "+".join([*(source.name for source in self.sources), "own"])

    def identity(self) -> dict[str, Any]:
        """What decides the findings, for fingerprints."""
        return {"own": OWN_VERSION, **{source.name: source.fingerprint for source in self.sources}}


def open_detection(group: Group, detector: DetectorName = "auto") -> Detection:
    """`auto`: the detectors of installed plugins, and our own patterns for what those do not look for. `own`: our patterns
    alone. `presidio`: Presidio, and our patterns for what it does not look for; `UsageError` where it is not installed."""
    if detector not in DETECTORS:
        raise UsageError(f"no detector {shorten(detector)}", hint=nearest(str(detector), DETECTORS))
    if detector == "presidio":
        from yb_eval_decision.detection.presidio import open_presidio

        if group == "secrets":
            raise UsageError("presidio finds no secrets", hint="detector='auto' or 'own'")
        return Detection(group, (open_presidio(),))
    if detector == "own":
        return Detection(group)
    there = installed()
    return Detection(group, tuple(one for one in there.detectors if one.kinds & frozenset(TYPES[group])), there.broken)


def decided(finding: Finding) -> Finding:
    """`finding` with the say whether it needs anybody's judgement: nothing of which something harmless is known is decisive,
    nor is personal data whose type alone does not make it a person's."""
    if HARMLESS & frozenset(finding.hints):
        return evolve(finding, decisive=False)
    if finding.type in SECRETS or finding.decisive:
        return finding
    sure = finding.confidence >= DECISIVE and finding.type in personal.DECISIVE | health.DECISIVE
    return evolve(finding, decisive=True) if sure else finding


def _known(finding: Finding, text: str) -> Finding:
    """A source's finding with what can be said of its datum."""
    datum = finding.of(text)
    return evolve(
        finding, hints=secret_hints(finding.type, datum) if finding.type in SECRETS else hints(finding.type, datum)
    )


@cache
def _own(group: Group) -> Patterns:
    return Patterns(_RULES[group])
