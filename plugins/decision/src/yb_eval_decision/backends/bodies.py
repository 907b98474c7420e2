"""The JSON of an answer's body, where a number may have come to be none.

A server in Python writes a NaN or an infinity as `NaN`, `Infinity` or `-Infinity`, which JSON does not have. Such a body is read
all the same, with that float in the number's place: where it stands in an answer it is an error of that question
(`validation`), and the other questions keep their answers. Whatever else is no JSON fails the whole body, as in core.
"""

from __future__ import annotations

import json
import re
from typing import Any

from yb_eval.targets.wire import NotJson, decode

# A text in quotes is passed over; one without an end is passed over to the end, so each byte is looked at once.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|-?Infinity|NaN', re.DOTALL)


def decode_body(raw: bytes) -> Any:
    """The JSON value in `raw`; a number that is no number is a NaN or an infinity. Raises `NotJson` as core's `decode` does."""
    try:
        return decode(raw)
    except NotJson:
        if b"NaN" not in raw and b"Infinity" not in raw:
            raise
        bare = _TOKEN.sub(_without, raw)
        if bare == raw:
            raise
    decode(bare)  # all the rest is held against core's rules
    return json.loads(raw)


def _without(token: re.Match[bytes]) -> bytes:
    found = token.group()
    return found if found.startswith(b'"') else b"null"
