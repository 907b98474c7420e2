"""Detectors that users define in a TOML file: a pattern, a validator, words, issuer ranges.

    [[detector]]
    name = "steuer-id"                  # the finding's type
    pattern = '\\b[0-9]{2}(?: ?[0-9]{3}){3}\\b'   # google-re2; group 1, where there is one, is the datum
    validator = "stdnum.de.idnr"        # any module of python-stdnum with is_valid, or "luhn"
    context = ["steuer-id", "idnr"]     # words one of which must stand near it at deny strength
    issuers = ["220000-220499"]         # prefixes or ranges of prefixes, one of which the digits must have
    confidence = 0.9                    # 0..1

A pattern runs on a linear-time engine. Every mistake is refused with the file and the line of its entry.
"""

from __future__ import annotations

import difflib
import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from .finding import Finding, Strength
from .matching import compile_bytes, matches
from .views import ByteCursor, View

__all__ = ["CustomDetector", "CustomDetectorError", "CustomRule", "load_custom", "parse_custom"]

_KEYS = ("name", "pattern", "validator", "context", "issuers", "confidence")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
_MODULE = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*\Z")
_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?\Z")
_RESERVED = frozenset({"inn", "snils", "ogrn", "ogrnip", "pan", "iban", "secret", "injection", "clean"})
_CONTEXT_BEFORE, _CONTEXT_AFTER = 64, 32
_MAX_VALUE = 256


class CustomDetectorError(ValueError):
    """A file of custom detectors is wrong; the message is one line: `file:line: what (how to mend it)`."""


@attrs.frozen(slots=True, kw_only=True)
class CustomRule:
    """One `[[detector]]` entry, checked."""

    name: str
    pattern: str
    validator: str | None = None
    context: tuple[str, ...] = ()
    issuers: tuple[tuple[str, str], ...] = ()
    confidence: float = 0.8

    def canonical(self) -> str:
        """Return the rule as one JSON text, for digests."""
        return json.dumps(attrs.asdict(self), sort_keys=True, ensure_ascii=True)


def load_custom(path: str | Path) -> tuple[CustomRule, ...]:
    """Read custom detectors from a TOML file. Raises CustomDetectorError, also when the file cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CustomDetectorError(f"{path}:1: cannot be read: {type(error).__name__}") from error
    return parse_custom(text, source=str(path))


def parse_custom(text: str, *, source: str = "<string>") -> tuple[CustomRule, ...]:
    """Parse the text of a custom detector file; `source` names it in errors. Raises CustomDetectorError."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        raise CustomDetectorError(f"{source}:{found.group(1) if found else 1}: not TOML: {error}") from error
    lines = _Lines(text, source)
    for key in document:
        if key != "detector":
            raise lines.error(None, key, f"unknown key {key!r}{_nearest(key, ('detector',))}")
    entries = document.get("detector", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise lines.error(None, "detector", "'detector' must be an array of tables: write [[detector]]")
    rules: list[CustomRule] = []
    for index, entry in enumerate(entries):
        rule = _rule(entry, index, lines)
        if any(other.name == rule.name for other in rules):
            raise lines.error(index, "name", f"detector {rule.name!r} is defined twice")
        rules.append(rule)
    if not rules:
        raise CustomDetectorError(f"{source}:1: no [[detector]] in the file")
    return tuple(rules)


class _Lines:
    """Knows on which line an entry, and a key of an entry, was written."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._entries: list[int] = []
        self._lines = text.splitlines()
        quote = ""
        for number, line in enumerate(self._lines, 1):
            if not quote and re.match(r"\s*\[\[\s*[\"']?detector[\"']?\s*\]\]", line):
                self._entries.append(number)
            for mark in re.findall("\"\"\"|'''", line):
                quote = mark if not quote else ("" if mark == quote else quote)

    def error(self, entry: int | None, key: str | None, message: str) -> CustomDetectorError:
        """Return an error that points at `key` of the numbered entry, or at the entry when the key is not there."""
        first = self._entries[entry] if entry is not None and entry < len(self._entries) else 1
        last = len(self._lines)
        if entry is not None and entry + 1 < len(self._entries):
            last = self._entries[entry + 1] - 1
        line = first
        if key is not None:
            written = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
            line = next((at for at in range(first, last + 1) if written.match(self._lines[at - 1])), first)
        return CustomDetectorError(f"{self._source}:{line}: {message}")


def _nearest(key: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else f" (known: {', '.join(known)})"


def _rule(entry: dict[str, Any], index: int, lines: _Lines) -> CustomRule:
    for key in entry:
        if key not in _KEYS:
            raise lines.error(index, key, f"unknown key {key!r}{_nearest(key, _KEYS)}")
    for key in ("name", "pattern"):
        if not isinstance(entry.get(key), str):
            raise lines.error(index, key, f"a detector needs {key!r}, a string")
    if not _NAME.match(entry["name"]):
        raise lines.error(index, "name", f"name {entry['name']!r} must be lower-case letters, digits, '-' and '_'")
    if entry["name"] in _RESERVED:
        raise lines.error(index, "name", f"name {entry['name']!r} is a built-in type")
    confidence = entry.get("confidence", 0.8)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise lines.error(index, "confidence", "confidence must be a number from 0 to 1")
    _check_pattern(entry["pattern"], index, lines)
    validator = entry.get("validator")
    if validator is not None:
        _check_validator(validator, index, lines)
    return CustomRule(
        name=entry["name"],
        pattern=entry["pattern"],
        validator=validator,
        context=_strings(entry, "context", index, lines),
        issuers=tuple(_range(text, index, lines) for text in _strings(entry, "issuers", index, lines)),
        confidence=float(confidence),
    )


def _strings(entry: dict[str, Any], key: str, index: int, lines: _Lines) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise lines.error(index, key, f"{key} must be a list of non-empty strings")
    return tuple(value)


def _range(text: str, index: int, lines: _Lines) -> tuple[str, str]:
    match = _RANGE.match(text)
    low, high = (match.group(1), match.group(2) or match.group(1)) if match else ("", "")
    if not match or len(low) != len(high) or low > high:
        raise lines.error(index, "issuers", f"issuer range {text!r} must be digits, or low-high of the same length")
    return low, high


def _check_pattern(pattern: str, index: int, lines: _Lines) -> None:
    import re2

    try:
        compiled = compile_bytes(pattern)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise lines.error(index, "pattern", f"bad pattern: {reason} (google-re2 syntax)") from None
    if compiled.search(b"") is not None:
        raise lines.error(index, "pattern", "bad pattern: it matches the empty text")


def _module_name(validator: str) -> str:
    return validator if validator.startswith("stdnum.") else f"stdnum.{validator}"


def _check_validator(validator: object, index: int, lines: _Lines) -> None:
    if not isinstance(validator, str) or not _MODULE.match(validator):
        raise lines.error(
            index, "validator", "validator must be a python-stdnum module such as 'stdnum.de.idnr' or 'luhn'"
        )
    try:
        module = importlib.import_module(_module_name(validator))
    except ImportError:
        raise lines.error(
            index, "validator", f"unknown validator {validator!r}: python-stdnum has no such module"
        ) from None
    if not callable(getattr(module, "is_valid", None)):
        raise lines.error(index, "validator", f"validator {validator!r} has no is_valid: name a number's own module")


def _words(words: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])", re.IGNORECASE)


@attrs.frozen(slots=True)
class _Compiled:
    rule: CustomRule
    pattern: Any
    module: ModuleType | None
    context: re.Pattern[str] | None


class CustomDetector:
    """Runs custom rules over views. A rule with `context` is a finding at warn strength where none of its words is near."""

    def __init__(self, rules: tuple[CustomRule, ...]) -> None:
        self._rules: list[_Compiled] = []
        for rule in rules:
            self._rules.append(
                _Compiled(
                    rule,
                    compile_bytes(rule.pattern),
                    importlib.import_module(_module_name(rule.validator)) if rule.validator else None,
                    _words(rule.context) if rule.context else None,
                )
            )

    def find(self, view: View) -> Iterator[Finding]:
        """Yield what the rules match and their validators accept."""
        for compiled in self._rules:
            cursor = ByteCursor(view)
            for match in matches(compiled.pattern, view.data):
                span = match.span(1) if compiled.pattern.groups and match.span(1) != (-1, -1) else match.span()
                start, end = cursor.chars(span[0]), cursor.chars(span[1])
                if start < end:
                    yield from _judge(compiled, view, start, end)


def _judge(compiled: _Compiled, view: View, start: int, end: int) -> Iterator[Finding]:
    rule, text = compiled.rule, view.text
    value = text[start:end]
    evidence: list[str] = []
    if compiled.module is not None:
        if len(value) > _MAX_VALUE or not compiled.module.is_valid(value):
            return
        evidence.append("checksum")
    if rule.issuers:
        digits = "".join(char for char in value if char.isdigit())
        if not any(low <= digits[: len(low)] <= high for low, high in rule.issuers):
            return
        evidence.append("issuer")
    strength: Strength = "deny"
    if compiled.context is not None:
        window = text[max(0, start - _CONTEXT_BEFORE) : start] + " " + text[end : end + _CONTEXT_AFTER]
        if compiled.context.search(window) is None:
            strength = "warn"
        else:
            evidence.append("context")
    first, last = view.span(start, end)
    yield Finding(
        type=rule.name,
        kind=rule.name,
        start=first,
        end=last,
        value=value,
        evidence=(*(evidence or ["pattern"]), *view.trail),
        confidence=rule.confidence,
        strength=strength,
    )
