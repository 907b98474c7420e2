"""Credentials that show themselves: vendor tokens by prefix, JSON web tokens, private keys."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator

import attrs

from ..finding import Finding
from ..matching import LazyPattern
from ..tables import load_table
from ..views import ByteCursor, View
from .base import report
from .values import entropy, is_placeholder, is_stand_in

__all__ = ["JwtDetector", "PrivateKeyDetector", "SecretRule", "TokenDetector", "load_secret_rules"]


@attrs.frozen(slots=True, kw_only=True)
class SecretRule:
    """One row of `data/secrets.toml`."""

    name: str
    pattern: str
    trigger: str
    entropy: float


def load_secret_rules() -> tuple[SecretRule, ...]:
    """Return the shipped rules in the order of the table."""
    return tuple(SecretRule(**row) for row in load_table("secrets.toml")["secret"])


class TokenDetector:
    """Finds the tokens of `data/secrets.toml` with google-re2."""

    types = frozenset({"secret"})

    def __init__(self, *, features: dict[str, int], rules: tuple[SecretRule, ...]) -> None:
        """`features`: for each rule's name the bit of its trigger."""
        self._rules = [(features[rule.name], rule, LazyPattern(rule.pattern)) for rule in rules]
        self.announced_by = 0
        for bit, _, _ in self._rules:
            self.announced_by |= bit

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield the tokens that are long and varied enough and no placeholder."""
        for bit, rule, pattern in self._rules:
            if not features & bit:
                continue
            cursor = ByteCursor(view)
            for match in pattern.matches(view.data):
                group = next(number for number in range(1, 9) if match.span(number) != (-1, -1))
                start, end = (cursor.chars(offset) for offset in match.span(group))
                value = view.text[start:end]
                if self._holds(rule, view.text, start, match.span(group)[0] > match.start(), value):
                    yield report(
                        view,
                        start,
                        end,
                        type="secret",
                        kind=rule.name,
                        value=value,
                        evidence=("prefix", "entropy") if rule.entropy else ("structure",),
                        confidence=0.95,
                    )

    @staticmethod
    def _holds(rule: SecretRule, text: str, start: int, introduced: bool, value: str) -> bool:
        before = text[start - 1 : start] if start else ""
        if rule.name == "database-url":
            user, _, password = value.partition(":")
            return not is_placeholder(password) and password != user
        if not introduced and (before.isalnum() or before == "-"):
            return False
        if value.islower() and value.replace("-", "").replace("_", "").isalpha():
            return False  # words joined by hyphens and underscores
        return entropy(value) >= rule.entropy and not is_stand_in(value)


_JWT = re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3}")


class JwtDetector:
    """Finds JSON web tokens (RFC 7519) whose header decodes to an object that names an algorithm."""

    types = frozenset({"secret"})

    def __init__(self, *, feature: int) -> None:
        self.announced_by = feature

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield the tokens with a decodable header."""
        for match in _JWT.finditer(view.text):
            if _header_names_algorithm(match.group().split(".", 1)[0]):
                yield report(
                    view,
                    match.start(),
                    match.end(),
                    type="secret",
                    kind="jwt",
                    value=match.group(),
                    evidence=("prefix", "structure"),
                    confidence=0.96,
                )


def _header_names_algorithm(segment: str) -> bool:
    try:
        header = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and isinstance(header.get("alg"), str)


_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# The body of a key that was cut off: what base64, its line breaks (real or written out) and PEM headers are made of.
_CUT_BODY = re.compile(r"(?:\s|\\[nr])*[A-Za-z0-9+/=]{16}[A-Za-z0-9+/=\s\\]*")


class PrivateKeyDetector:
    """Finds PEM and OpenPGP private keys, from the header to the end of the key, or of what is left of it."""

    types = frozenset({"secret"})

    def __init__(self, *, feature: int) -> None:
        self.announced_by = feature

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield every key. Each header looks no further than the next dashes, so repeated headers cost nothing."""
        text = view.text
        for begin in _BEGIN.finditer(text):
            dashes = text.find("-----", begin.end())
            closing = _END.match(text, dashes) if dashes >= 0 else None
            if closing is not None:
                end = closing.end()
            else:
                limit = dashes if dashes >= 0 else len(text)
                cut = _CUT_BODY.match(text, begin.end(), limit)
                if cut is None and text[begin.end() : limit].strip(" \t\r\n\"'`"):
                    continue  # prose that names the header
                end = cut.end() if cut else begin.end()
            yield report(
                view,
                begin.start(),
                end,
                type="secret",
                kind="private-key",
                value=text[begin.start() : end],
                evidence=("prefix", "structure") if closing else ("prefix",),
                confidence=0.99 if closing else 0.9,
            )
