"""The scanner: an engine that finds the texts worth a look, and the detectors that look."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import resources
from itertools import compress, count
from pathlib import Path
from typing import Any, get_args

from attrs import frozen

from .compiled import shared_parts
from .custom import CustomDetector, CustomRule
from .decoding import DECODERS, MAX_DECODED, MAX_DEPTH, Decoder
from .detectors.base import Detector
from .detectors.phrases import LEET_START
from .engine import EngineChoice, EngineName
from .engine.protocol import BORDER
from .finding import STRENGTHS, Finding, Strength
from .normalise import fold, has_leet, join_spaced, unleet, unmix
from .overlaps import resolve
from .views import View, encode

__all__ = ["BUILTIN_TYPES", "Scanner"]

BUILTIN_TYPES = frozenset({"inn", "snils", "ogrn", "ogrnip", "pan", "iban", "secret", "injection"})

# Texts are handed to the engine in slices of about this many characters, so that memory stays bounded.
_SLICE = 4_000_000
# Combinations of features whose plans are remembered.
_REMEMBERED = 4096
# Decoders that read characters which folding removes.
_BEFORE_FOLDING = ("utf16", "tags")


class _Reading:
    """A view of one row that is to be examined, and what the engine saw in it."""

    __slots__ = ("depth", "features", "folded", "phrases_only", "row", "view")

    def __init__(
        self,
        row: int,
        view: View,
        features: int = 0,
        *,
        depth: int = 0,
        folded: bool = False,
        phrases_only: bool = False,
    ) -> None:
        self.row = row
        self.view = view
        self.features = features
        self.depth = depth
        self.folded = folded
        self.phrases_only = phrases_only


@frozen(slots=True, kw_only=True)
class _Plan:
    """What is to be done with a view, told from its features. `reads_on`: whether it may be read in another way, too."""

    reads_on: bool
    early_decoders: tuple[Decoder, ...]
    folds: bool
    detectors: tuple[Detector, ...]
    phrases: bool
    other_readings: tuple[Callable[[View], View], ...]
    decoders: tuple[Decoder, ...]


class Scanner:
    """Compiled detectors, ready to scan any number of texts from any number of threads.

    `strength="deny"` reports what is founded well enough to block on; `"warn"` reports what a checksum alone, or a
    phrase that ordinary requests share, points at as well. `detectors` narrows the types reported (None: all).
    `custom` adds user-defined detectors (see `load_custom`). `engine` chooses the matching engine; findings are the same
    with either. `folder` is where the compiled engine may be kept, so that the next process need not compile it. A scanner
    can be pickled: it is compiled again where it is unpickled and used.

    Text is scanned as code points. Text that is really UTF-16 is not refused: NULs between the letters are skipped, and
    UTF-16 bytes with a byte order mark, one character a byte, are decoded; spans refer to the text as it was given.
    """

    def __init__(
        self,
        *,
        strength: Strength = "deny",
        detectors: Iterable[str] | None = None,
        custom: Sequence[CustomRule] = (),
        engine: EngineChoice = "auto",
        folder: Path | None = None,
    ) -> None:
        """Compiles nothing yet: the first scan does. Raises ValueError for an unknown strength, type or engine name."""
        if engine not in get_args(EngineChoice):
            raise ValueError(f"unknown engine {engine!r}: use one of {', '.join(get_args(EngineChoice))}")
        if strength not in STRENGTHS:
            raise ValueError(f"unknown strength {strength!r}: use one of {', '.join(STRENGTHS)}")
        self.strength = strength
        self.custom = tuple(custom)
        known = BUILTIN_TYPES | {rule.name for rule in self.custom}
        self.types = known if detectors is None else frozenset(detectors)
        if unknown := sorted(self.types - known):
            raise ValueError(f"unknown detector {unknown[0]!r}: use any of {', '.join(sorted(known))}")
        self._choice: EngineChoice = engine
        self._folder = folder
        self._ready = False

    def _compile(self) -> None:
        """Make ready for scans. Threads that meet here do the same work twice, to the same end."""
        self._reads_phrases = "injection" in self.types
        shared = shared_parts(self.strength, self._choice, self._folder, phrases=self._reads_phrases)
        wanted_custom = tuple(rule for rule in self.custom if rule.name in self.types)
        self._custom = CustomDetector(wanted_custom) if wanted_custom else None
        self._engine = shared.engine
        self._bits = shared.bits
        self._phrase_bits = shared.phrase_bits
        self._detectors = [detector for detector in shared.detectors if detector.types & self.types]
        self._injection = shared.injection
        self._leet_starts = shared.leet_starts
        decoders = {name: (shared.bits[name], decoder) for name, decoder in DECODERS.items()}
        self._early_decoders = [decoders.pop(name) for name in _BEFORE_FOLDING]
        self._decoders = list(decoders.values())
        self._plans: dict[int, _Plan] = {}
        self._ready = True

    def __getstate__(self) -> dict[str, Any]:
        return {
            "strength": self.strength,
            "custom": self.custom,
            "types": self.types,
            "_choice": self._choice,
            "_folder": self._folder,
            "_ready": False,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def engine(self) -> EngineName:
        """The name of the engine that does the scans."""
        if not self._ready:
            self._compile()
        return self._engine.name

    @property
    def fingerprint(self) -> str:
        """sha256 (lowercase hex) over the code and tables of the detectors and this scanner's settings.

        The engine is left out, for findings do not depend on it.
        """
        digest = hashlib.sha256(b"yb-eval-guards/scanner/1\0")
        for name, content in _sources():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        settings = [self.strength, *sorted(self.types), *(rule.canonical() for rule in self.custom)]
        digest.update("\0".join(settings).encode())
        return digest.hexdigest()

    def scan(self, text: str) -> list[Finding]:
        """Return the findings in `text`, in text order and without overlaps. Linear in the size of the text."""
        if not self._ready:
            self._compile()
        return self._scan_batch((text,)).get(0, [])

    def scan_many(self, texts: Iterable[str]) -> list[list[Finding]]:
        """Return the findings of each text, in the order given. One pass of the engine serves many texts."""
        listed = list(texts)
        results: list[list[Finding]] = [[] for _ in listed]
        for place, findings in self.scan_each(listed):
            results[place] = findings
        return results

    def scan_each(self, texts: Sequence[str]) -> Iterator[tuple[int, list[Finding]]]:
        """Yield the place and the findings of each text that has any, in order: `scan_many`, for texts that mostly have
        none."""
        distinct = list(dict.fromkeys(texts))
        if len(distinct) == len(texts):
            yield from self._scan_distinct(texts)
            return
        # What is said twice in a corpus or a log is looked at once.
        found = {distinct[place]: findings for place, findings in self._scan_distinct(distinct)}
        for place in compress(count(), map(found.__contains__, texts)):
            yield place, found[texts[place]].copy()

    def _scan_distinct(self, texts: Sequence[str]) -> Iterator[tuple[int, list[Finding]]]:
        if not self._ready:
            self._compile()
        for first, batch in _slices(texts):
            for row, findings in sorted(self._scan_batch(batch).items()):
                if findings:
                    yield first + row, findings

    def _scan_batch(self, texts: Sequence[str]) -> dict[int, list[Finding]]:
        """Scan texts, then what could be read in them, then what could be read in that: one engine pass a round."""
        found: dict[int, list[Finding]] = {}
        budgets: dict[int, int] = {}
        seen = self._engine.seen(_joined(texts))
        work: list[_Reading] = []
        if self._custom is not None:
            work += [_Reading(row, View(text), seen.get(row, 0)) for row, text in enumerate(texts)]
            seen = {}
        plans = self._plans
        for row, features in seen.items():
            plan = plans.get(features) or self._plan(features)
            if plan.reads_on:
                work.append(_Reading(row, View(texts[row]), features))
            elif plan.detectors:
                view = View(texts[row])
                findings: list[Finding] = []
                for detector in plan.detectors:
                    findings += detector.find(view, features)
                if findings:
                    found[row] = findings
        while work:
            readings: list[_Reading] = []
            for reading in work:
                self._examine(reading, found.setdefault(reading.row, []), readings, budgets)
            seen_again = self._engine.features([reading.view.data for reading in readings])
            for reading, features in zip(readings, seen_again, strict=True):
                reading.features = features
            work = readings
        return {row: self._select(findings) for row, findings in found.items()}

    def _plan(self, features: int) -> _Plan:
        """What is to be done with a view that has these features; the same few combinations occur again and again."""
        plan = self._plans.get(features)
        if plan is None:
            if len(self._plans) >= _REMEMBERED:
                self._plans.clear()
            plan = self._plans[features] = self._make_plan(features)
        return plan

    def _make_plan(self, features: int) -> _Plan:
        wanted = self._injection is not None and self._injection.wanted(features)
        if not wanted and not features & ~self._phrase_bits:
            features = 0  # words of phrases alone mean nothing unless some phrase has all of its own
        steps = ((self._bits["mixed"], unmix), (self._bits["spaced"], join_spaced))
        early_decoders = tuple(decoder for bit, decoder in self._early_decoders if features & bit)
        folds = bool(features & self._bits["fold"])
        other_readings = tuple(step for bit, step in steps if features & bit) if self._reads_phrases else ()
        decoders = tuple(decoder for bit, decoder in self._decoders if features & bit)
        return _Plan(
            reads_on=bool(early_decoders or folds or wanted or other_readings or decoders),
            early_decoders=early_decoders,
            folds=folds,
            detectors=tuple(
                detector
                for detector in self._detectors
                if (wanted if detector is self._injection else features & detector.announced_by)
            ),
            phrases=wanted,
            other_readings=other_readings,
            decoders=decoders,
        )

    def _select(self, found: list[Finding]) -> list[Finding]:
        if self.strength == "deny":
            found = [finding for finding in found if finding.strength == "deny"]
        if found and self.types != BUILTIN_TYPES:
            found = [finding for finding in found if finding.type in self.types]
        return resolve(found) if len(found) > 1 else found

    def _examine(
        self, reading: _Reading, found: list[Finding], readings: list[_Reading], budgets: dict[int, int]
    ) -> None:
        """Add what a reading holds to `found`, and the readings to be made of it to `readings`."""
        view, features = reading.view, reading.features
        plan = self._plan(features)
        if reading.phrases_only:
            self._read_phrases(plan, reading, found, readings)
            return
        if not reading.folded:
            if plan.early_decoders:
                self._decode(plan.early_decoders, reading, readings, budgets)
            if plan.folds:
                folded = fold(view)
                if folded is not view:
                    readings.append(_Reading(reading.row, folded, depth=reading.depth, folded=True))
                    return
        for detector in plan.detectors:
            found.extend(detector.find(view, features))
        if self._custom is not None:
            found.extend(self._custom.find(view))
        if plan.phrases or plan.other_readings:
            self._read_phrases(plan, reading, found, readings)
        if plan.decoders:
            self._decode(plan.decoders, reading, readings, budgets)

    def _read_phrases(self, plan: _Plan, reading: _Reading, found: list[Finding], readings: list[_Reading]) -> None:
        """Look for phrases in the readings that would ruin other data: one script, single letters joined, leet."""
        view, features, injection = reading.view, reading.features, self._injection
        if plan.phrases and injection is not None:
            if reading.phrases_only:
                found.extend(injection.find(view, features))
            for one in "il" if has_leet(view.text) else "":
                plain = unleet(view, self._leet_starts, size=LEET_START, one=one)
                if plain is not view:
                    # The features of words are found in leet writing as well, so they hold for this reading.
                    found.extend(injection.find(plain, features))
        for step in plan.other_readings:
            other = step(view)
            if other is not view:
                readings.append(_Reading(reading.row, other, depth=reading.depth, phrases_only=True))
                return

    def _decode(
        self,
        decoders: Sequence[Decoder],
        reading: _Reading,
        readings: list[_Reading],
        budgets: dict[int, int],
    ) -> None:
        if reading.depth >= MAX_DEPTH:
            return
        for decoder in decoders:
            for view in decoder(reading.view):
                left = budgets[reading.row] = budgets.get(reading.row, MAX_DECODED) - len(view.text)
                if left < 0:
                    return
                readings.append(_Reading(reading.row, view, depth=reading.depth + 1))


def _slices(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield texts that are scanned together, each time with the place of the first."""
    if sum(map(len, texts)) < _SLICE:
        if texts:
            yield 0, texts
        return
    first = size = 0
    for place, text in enumerate(texts, 1):
        size += len(text)
        if size >= _SLICE or place == len(texts):
            yield first, texts[first:place]
            first, size = place, 0


def _joined(texts: Sequence[str]) -> bytes:
    """Return the texts as UTF-8 with borders before, between and after them, as an engine reads them."""
    try:
        return BORDER.join([b"", *map(str.encode, texts), b""])
    except UnicodeEncodeError:  # a lone surrogate
        return BORDER.join([b"", *map(encode, texts), b""])


# What decides findings: these modules, and everything in these folders.
_MODULES = (
    "bytepatterns.py", "checksums.py", "compiled.py", "confusables.py", "custom.py", "features.py", "issuers.py", "matching.py",
    "normalise.py", "overlaps.py", "scanner.py", "views.py",
)  # fmt: skip
_FOLDERS = {"data": (".toml", ".txt"), "decoding": (".py",), "detectors": (".py",)}


def _sources() -> list[tuple[str, bytes]]:
    """Return the name and bytes of every file that decides what is found, in a fixed order."""
    root = resources.files(__package__)
    names = list(_MODULES)
    for folder, endings in _FOLDERS.items():
        names += [f"{folder}/{entry.name}" for entry in root.joinpath(folder).iterdir() if entry.name.endswith(endings)]
    return [(name, root.joinpath(*name.split("/")).read_bytes()) for name in sorted(names)]
