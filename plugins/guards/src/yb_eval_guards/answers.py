"""Reading what a guard answers: strictly, and without letting a datum through to a report.

Messages never quote what came back, since a guard may answer with the very text it was asked about.
"""

from __future__ import annotations

import math
import re
from typing import Any

from yb_eval.targets import AnswerError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_. /-]{0,59}\Z")
_EVIDENCE = re.compile(r"[a-z]{1,20}(?::[a-z0-9-]{1,20})?\Z")
_MOST_EVIDENCE = 12
# From this length on a word of a text may be a datum; shorter ones are ordinary words that say what is wrong.
_LONG_WORD = 6
# No datum of any type is shorter: a finding that spans less is a word of the text.
_DATUM = 10
_WORD = re.compile(r"[^\s'\"()\[\]{},;]+")
_LONG_NUMBER = re.compile(r"[0-9](?:[ .\-]{0,2}[0-9]){6,}")
# Types whose last two characters tell people which datum it was without giving it away.
_TAIL_SHOWN = frozenset({"inn", "snils", "ogrn", "ogrnip", "pan", "iban"})
_TAIL, _MASK_WIDTH = 2, 16
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def mask(type: str, datum: str) -> str:
    """`datum` with every character hidden but the last two of a number, and its length where that is more than 16."""
    hidden = "*" * min(len(datum), _MASK_WIDTH)
    if type in _TAIL_SHOWN and len(datum) > _LONG_WORD and datum[-_TAIL:].isascii() and datum[-_TAIL:].isalnum():
        return hidden[:-_TAIL] + datum[-_TAIL:]
    return hidden


def read_findings(answer: Any, text: str) -> list[dict[str, Any]]:
    """The findings of an answer to `text`, checked: type and place, kind, evidence and confidence where they are given.

    Whatever else a finding has is left out. Raises `AnswerError` for what is not of the shape of `schemas.ANSWER`.
    """
    if not isinstance(answer, dict):
        raise AnswerError(f"the answer is {_kind(answer)}, not an object")
    findings = answer.get("findings")
    if not isinstance(findings, list):
        raise AnswerError(f"findings is {_kind(findings) if 'findings' in answer else 'missing'}, not a list")
    return [_finding(said, text, f"findings[{index}]") for index, said in enumerate(findings)]


def _finding(said: Any, text: str, where: str) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise AnswerError(f"{where} is {_kind(said)}, not an object")
    start, end = said.get("start"), said.get("end")
    if type(start) is not int or type(end) is not int:
        raise AnswerError(f"{where}: start and end must be integers")
    if not 0 <= start < end <= len(text):
        raise AnswerError(f"{where}: {start}..{end} is no place in a text of {len(text)} characters")
    datum = text[start:end]
    read: dict[str, Any] = {"type": _name(said.get("type"), datum, f"{where}.type")}
    if said.get("kind") is not None:
        read["kind"] = _name(said["kind"], datum, f"{where}.kind")
    read["start"], read["end"] = start, end
    if said.get("evidence") is not None:
        read["evidence"] = _evidence(said["evidence"], f"{where}.evidence")
    if said.get("confidence") is not None:
        confidence = said["confidence"]
        if type(confidence) not in (int, float) or not (math.isfinite(confidence) and 0 <= confidence <= 1):
            raise AnswerError(f"{where}.confidence must be a number from 0 to 1")
        read["confidence"] = confidence
    return read


def _name(value: Any, datum: str, where: str) -> str:
    if not isinstance(value, str) or not _NAME.match(value):
        raise AnswerError(f"{where} must be a name of up to 60 letters, digits, '_', '-', '.', '/' and spaces")
    if len(datum) >= _DATUM and datum in value:
        raise AnswerError(f"{where} repeats what was found")
    return value


def _evidence(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or len(value) > _MOST_EVIDENCE:
        raise AnswerError(f"{where} must be a list of at most {_MOST_EVIDENCE} words")
    if not all(isinstance(word, str) and _EVIDENCE.match(word) for word in value):
        raise AnswerError(f"{where} must hold words like 'checksum' or 'decoded:base64'")
    return value


def _kind(value: Any) -> str:
    return "null" if value is None else _KINDS.get(type(value), "of no JSON type")


def without_data(reason: str, text: str) -> str:
    """`reason`, why a guard failed on `text`, with long numbers and every longer word that `text` holds masked.

    An exception's message often quotes the input. Which part of it is the datum is what the guard failed to say, so
    whatever it may be goes.
    """
    reason = _LONG_NUMBER.sub(lambda match: mask("", match.group()), reason)

    def hidden(match: re.Match[str]) -> str:
        word = match.group()
        return mask("", word) if len(word) >= _LONG_WORD and word in text else word

    return _WORD.sub(hidden, reason)
