"""Data that are found by code and judged by a model: what personal data, health data and secrets have in common.

Code says where something may stand; the model is asked what it is, part by part, and only where something was found. It sees
the text with each datum masked as `<TYPE_1>`, beside what is known of the datum without showing it; `send_values=True` sends the
data themselves. (Evals that are asked beside it send the texts that they read as they are.)

What code can tell alone needs no question: nothing found passes, and a `decisive` finding fails, whatever stands beside it.
No result shows a datum: evidence has types, offsets and hints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from attrs import evolve, frozen

from yb_eval_decision.answers import Answer, NoAnswer
from yb_eval_decision.cuts import OVERLAP, WINDOW, windows
from yb_eval_decision.detection import DETECTORS, STYLES, Finding, Style, check_entities, open_detection
from yb_eval_decision.detection.hints import HARMLESS
from yb_eval_decision.detection.known import Group
from yb_eval_decision.detection.redaction import redact, shape
from yb_eval_decision.detection.view import View
from yb_eval_decision.evals.parted import PartedEval
from yb_eval_decision.parameters import parameter
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.surfaces import Look, Part, missing, surface_parameter, texts

#: Different data that a part describes; the others are counted only.
_DESCRIBED = 20


@frozen(slots=True)
class Section:
    """A part of a text in which something was found: what the model is told of it, and its findings and words."""

    part: Part
    place: str
    told: Mapping[str, Any]
    findings: tuple[Finding, ...]
    terms: tuple[str, ...] = ()


class SensitiveEval(PartedEval):
    """The base. The score is 1 - p of the worst part; it passes above `threshold`.

    `value`, with `action="redact"` and unless it passes: the text of the surface without the data of the parts that were not
    found harmless; a mapping by id where the surface has several texts (see `redacted_texts` for several evals' redactions).
    """

    category = "security"
    group: ClassVar[Group]
    field: ClassVar[str]
    judged_as: ClassVar[str]

    surface = surface_parameter("output")
    action = parameter(None, help="What a gate does where it fails: redact the text, or block it.",
                       choices=("redact", "block"), optional=True)  # fmt: skip
    entities = parameter(None, help="The types that are looked for; all, if not given.", optional=True)
    detector = parameter("auto", help="auto: installed detectors, then our own; own; presidio.", choices=DETECTORS)
    send_values = parameter(False, help="Send the data themselves to the backend, not masked.")
    style = parameter(
        "type", help="How data are redacted: <TYPE>, asterisks, or asterisks with a tail.", choices=STYLES
    )

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._detection = open_detection(self.group, self.detector)  # refused here where it cannot be had
        if self.entities is not None:
            self.entities = check_entities(self.entities, self.group, self.detector)
        self._detected_by = self._detection.name
        asked = (self.surface, self.detector, self.entities, self.send_values)
        self._kept_as = ".".join(map(str, (type(self).__name__, *asked)))

    def identity(self) -> dict[str, Any]:
        """That of an eval, and what decides which data are found."""
        return {**super().identity(), "detection": self._detection.identity()}

    def applicable(self, s: Sample) -> tuple[bool, str]:
        return bool(texts(s, self.surface)), missing(self.surface)

    # What was found.

    def sections(self, s: Sample) -> tuple[Section, ...]:
        """The parts in which something was found, in order."""
        made: tuple[Section, ...] = s._once(self._kept_as, lambda: tuple(self._sections(s)))
        return made

    def _sections(self, s: Sample) -> Iterable[Section]:
        for place, text in texts(s, self.surface).items():
            view = View(text)
            findings = self._detection.find(text, self.entities, view=view)
            words = self.words(view)
            if findings or words:
                yield from self._divide(place, text, findings, words)

    def words(self, view: View) -> list[tuple[int, str]]:
        """Words that are a reason to ask without any datum, with where they stand."""
        return []

    def _divide(
        self, place: str, text: str, findings: Sequence[Finding], words: Sequence[tuple[int, str]]
    ) -> list[Section]:
        """The parts of a text that hold a finding or a word. Each is counted in the first part that shows it whole."""
        shown, spans, moved = (text, [(f.start, f.end) for f in findings], [at for at, _ in words])
        if not self.send_values:
            shown, spans, moved = _masked(text, findings, moved)
        parts = list(windows(shown).values())
        held: list[list[int]] = [[] for _ in parts]
        said: list[list[str]] = [[] for _ in parts]
        for index, (start, end) in enumerate(spans):
            held[_part_of(start, end, len(parts))].append(index)
        for (_, word), at in zip(words, moved, strict=True):
            said[_part_of(at, at + len(word), len(parts))].append(word)
        made = []
        for number, part in enumerate(parts):
            if not held[number] and not said[number]:
                continue
            id = place if len(parts) == 1 else f"{place}.part_{number}"
            mine = tuple(findings[index] for index in held[number])
            terms = tuple(sorted(set(said[number])))
            told = {"text": part, **self._described(text, mine), **({"terms": list(terms)} if terms else {})}
            made.append(Section(Part(id, f"{self.field}.{id}"), place, told, mine, terms))
        return made

    def _described(self, text: str, findings: Sequence[Finding]) -> dict[str, Any]:
        counts: dict[str, int] = {}
        found: list[dict[str, Any]] = []
        for finding in findings:
            counts[finding.type] = counts.get(finding.type, 0) + 1
            if len(found) < _DESCRIBED:
                about = self.about(finding, finding.of(text))
                if about not in found:
                    found.append(about)
        return {"found": found, "counts": counts}

    def about(self, finding: Finding, datum: str) -> dict[str, Any]:
        """What the model is told of a datum."""
        shown = {"value": datum} if self.send_values else {"shape": shape(datum)}
        return {"type": finding.type, **shown, **({"known": list(finding.hints)} if finding.hints else {})}

    def look(self, s: Sample) -> Look:
        sections = self.sections(s)
        state: dict[str, Any] = {}
        for section in sections:
            place, _, number = section.part.id.partition(".")
            if number:
                state.setdefault(place, {})[number] = section.told
            else:
                state[place] = section.told
        return Look({self.field: state}, tuple(section.part for section in sections))

    # What it means.

    def decisive(self, section: Section) -> bool:
        """Whether a part needs no question to fail."""
        return any(finding.decisive for finding in section.findings)

    def pre(self, s: Sample) -> Result | None:
        """Without a question: nothing was found, or something that needs nobody's judgement."""
        sections = self.sections(s)
        if not sections:
            return Result(
                score=1.0, passed=True, probability=0.0, detail="nothing found", evidence=self._evidence(s, [])
            )
        sure = [section for section in sections if self.decisive(section)]
        if not sure:
            return None
        kinds = sorted({finding.type for section in sure for finding in section.findings if finding.decisive})
        taken = [
            (section.place, finding)
            for section in sections
            for finding in section.findings
            if finding.decisive or not HARMLESS & frozenset(finding.hints)
        ]
        failed = Result(score=0.0, passed=False, probability=1.0, detail=f"found by form alone: {', '.join(kinds)}")
        return self._finished(failed, s, taken)

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        result = super().reduce(answers, s)
        if result.passed:
            return self._finished(result, s, [])
        harmless = {
            section.part.id
            for section in self.sections(s)
            if not isinstance(answer := self._answer(answers, section.part.id), NoAnswer)
            and self.passes(self.safety(answer))
        }
        taken = [
            (section.place, finding)
            for section in self.sections(s)
            if section.part.id not in harmless
            for finding in section.findings
        ]
        return self._finished(result, s, taken)

    def _finished(self, result: Result, s: Sample, taken: Sequence[tuple[str, Finding]]) -> Result:
        """`result` with its evidence and, unless it passed, what a gate is to do. `taken` are the data that go."""
        evidence = {**result.evidence, **self._evidence(s, taken)}
        if result.probability is not None:
            evidence[f"p_{self.judged_as}"] = result.probability
        made = evolve(result, evidence=evidence)
        if self.action is None or result.passed:
            return made
        if self.action == "block":
            return evolve(made, action="block") if result.measured else made
        value = _redacted(texts(s, self.surface), taken, self.style)
        several = self.surface == "all" or len(value) > 1
        value_shown = value if several else next(iter(value.values()))
        return evolve(made, value=value_shown, action="modify" if result.measured else None)

    def _evidence(self, s: Sample, taken: Sequence[tuple[str, Finding]]) -> dict[str, Any]:
        gone = {(place, finding.start) for place, finding in taken}
        found: dict[str, list[dict[str, Any]]] = {}
        terms: set[str] = set()
        for section in self.sections(s):
            terms.update(section.terms)
            for finding in section.findings:
                record = {**finding.to_dict(), "redact": (section.place, finding.start) in gone}
                found.setdefault(section.place, []).append(record)
        kinds = sorted({record["type"] for records in found.values() for record in records})
        evidence: dict[str, Any] = {"detector": self._detected_by, "entities": kinds, "found": found}
        if self._detection.broken:
            evidence["broken_detectors"] = dict(self._detection.broken)
        return {**evidence, "terms": sorted(terms)} if terms else evidence


def redacted_texts(s: Sample, *results: Result, style: Style = "type") -> dict[str, str]:
    """The texts of `s` without what any of `results` says is to go, by id (see `surfaces`); texts without such data are left
    out. The redactions of several evals make one, in whatever order they are given."""
    whole = {**texts(s, "all"), **texts(s, "system")}
    taken = [
        (place, Finding(record["type"], record["start"], record["end"], record["confidence"]))
        for result in results
        for place, records in result.evidence.get("found", {}).items()
        for record in records
        if record["redact"] and place in whole
    ]
    return _redacted({place: whole[place] for place in dict.fromkeys(place for place, _ in taken)}, taken, style)


def _redacted(whole: Mapping[str, str], taken: Iterable[tuple[str, Finding]], style: Style) -> dict[str, str]:
    by_place: dict[str, list[Finding]] = {}
    for place, finding in taken:
        by_place.setdefault(place, []).append(finding)
    return {place: redact(text, by_place.get(place, ()), style) for place, text in whole.items()}


def _masked(
    text: str, findings: Sequence[Finding], places: Sequence[int]
) -> tuple[str, list[tuple[int, int]], list[int]]:
    """`text` with each datum as `<TYPE_1>`, where each then stands, and where the characters at `places` (in order) went."""
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    moved: list[int] = []
    numbers: dict[str, int] = {}
    position = size = next_place = 0
    for finding in findings:
        while next_place < len(places) and places[next_place] < finding.end:
            moved.append(size + min(places[next_place], finding.start) - position)
            next_place += 1
        number = numbers[finding.type] = numbers.get(finding.type, 0) + 1
        mask = f"<{finding.type}_{number}>"
        pieces += (text[position : finding.start], mask)
        size += finding.start - position
        spans.append((size, size + len(mask)))
        size += len(mask)
        position = finding.end
    moved += (size + place - position for place in places[next_place:])
    return "".join(pieces) + text[position:], spans, moved


def _part_of(start: int, end: int, parts: int) -> int:
    """The first of the overlapping parts that shows `start`..`end` whole, else the one in which it begins."""
    step = WINDOW - OVERLAP
    first = max(0, -(-(end - WINDOW) // step))
    return min(first if first * step <= start else start // step, parts - 1)
