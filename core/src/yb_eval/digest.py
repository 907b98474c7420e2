"""Content addressing: canonical JSON, domain-separated ids, file digests.

Canonical JSON here is a subset of RFC 8785 (JSON Canonicalization Scheme) small enough to be right by construction:
keys are `[a-z0-9_.-]+`, so that sorting by bytes and by UTF-16 code units agree; there are no floats, so that no
number formatting is involved; integers stay within ±(2^53-1). Within it `orjson` with sorted keys *is* the RFC 8785
form; `tests/core/test_digest.py` checks that against the `rfc8785` library.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
import xxhash

from yb_eval.model import FileDigest

_KEY = re.compile(r"[a-z0-9_.-]+\Z")
_SAFE_INTEGER = 2**53 - 1
_MAX_DEPTH = 64
_DOMAIN = b"yb-eval/1/"

HEX_ID = re.compile(r"[0-9a-f]{64}\Z")


def canonical(value: Any) -> bytes:
    """The canonical JSON of `value`, as UTF-8 bytes.

    Raises `ValueError`, naming the JSON path, for anything outside the subset.
    """
    _check(value, "$", 0)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _check(value: Any, path: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError(f"{path}: nested deeper than {_MAX_DEPTH}")
    # The exact types: a str subclass or an IntEnum would be written by orjson in ways of its own.
    kind = type(value)
    if value is None or kind is bool:
        return
    if kind is int:
        if abs(value) > _SAFE_INTEGER:
            raise ValueError(f"{path}: the integer {value} is beyond 2^53-1; write it as a string")
    elif kind is str:
        _encodable(value, path)
    elif kind is dict:
        for key, item in value.items():
            if type(key) is not str or not _KEY.match(key):
                raise ValueError(f"{path}: the key {key!r} is not of [a-z0-9_.-]+")
            _check(item, f"{path}.{key}", depth + 1)
    elif kind is list or kind is tuple:
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]", depth + 1)
    elif kind is float:
        raise ValueError(f"{path}: a float; write it with decimal_string()")
    else:
        raise ValueError(f"{path}: a {kind.__name__} is not JSON")


def _encodable(text: str, path: str) -> None:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f"{path}: a lone surrogate") from None


def identify(kind: str, value: Any) -> str:
    """The id of `value`: 64 lowercase hex characters of sha256(`yb-eval/1/` + kind + NUL + canonical JSON)."""
    return hashlib.sha256(_DOMAIN + kind.encode("ascii") + b"\0" + canonical(value)).hexdigest()


def decimal_string(number: float | int | None) -> str | None:
    """A number as the shortest decimal string that reads back as the same float (`0.1`, `12`, `1e-07`)."""
    if number is None:
        return None
    if isinstance(number, bool) or not math.isfinite(number):
        raise ValueError(f"{number!r} is not a finite number")
    return repr(float(number)) if isinstance(number, float) else str(number)


def identifiable(value: Any) -> Any:
    """`value` with every float written as a decimal string and every mapping as a list of pairs: what any JSON value
    looks like inside an id."""
    if isinstance(value, float):
        return decimal_string(value)
    if type(value).__name__ == "Decimal":  # importing it to ask would be a hundredth of a short run
        return str(value)
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and _KEY.match(key) for key in value):
            return {key: identifiable(item) for key, item in value.items()}
        return [[str(key), identifiable(item)] for key, item in sorted(value.items())]
    if isinstance(value, list | tuple):
        return [identifiable(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_INTEGER:
        return str(value)
    return value


def finite_json(value: Any, path: str = "$", depth: int = 0) -> None:
    """Raises `ValueError`, naming the JSON path, unless `value` is JSON that a strict parser reads back as it was.

    orjson writes NaN and Infinity as null without a word; nothing is written before it has passed here.
    """
    kind = type(value)
    if kind is bool or value is None:
        return
    if kind is str:
        _encodable(value, path)
    elif kind is int:
        # What orjson writes and reads as an integer.
        if not -(2**63) <= value < 2**64:
            raise ValueError(f"{path}: the integer {value} is beyond 64 bits; write it as a string")
    elif kind is float:
        if not math.isfinite(value):
            raise ValueError(f"{path}: {value!r} is not a finite number")
    elif kind is dict or isinstance(value, Mapping):
        if depth > _MAX_DEPTH:
            raise ValueError(f"{path}: nested deeper than {_MAX_DEPTH}")
        for key, item in value.items():
            if type(key) is not str:
                raise ValueError(f"{path}: the key {key!r} is not a string")
            _encodable(key, path)
            finite_json(item, f"{path}.{key}", depth + 1)
    elif kind is list or kind is tuple:
        if depth > _MAX_DEPTH:
            raise ValueError(f"{path}: nested deeper than {_MAX_DEPTH}")
        for index, item in enumerate(value):
            finite_json(item, f"{path}[{index}]", depth + 1)
    else:
        raise ValueError(f"{path}: a {kind.__name__} is not JSON")


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def revision_id(files: Iterable[FileDigest]) -> str:
    """The revision of a dataset: of one file, the sha256 of its bytes; of several, the id of the sorted list of
    (role, size, sha256)."""
    listed = sorted((file.role, file.size, file.sha256) for file in files)
    if not listed:
        raise ValueError("a dataset has at least one file")
    if len(listed) == 1:
        return listed[0][2]
    if len({role for role, _, _ in listed}) != len(listed):
        raise ValueError("two files of a dataset have one role")
    return identify("dataset", [list(entry) for entry in listed])


def content_key(data: bytes) -> str:
    """A short key of `data` inside our own store (xxh3-128, 32 hex characters). Not for anybody to believe: entries
    under it keep the sha256 beside them."""
    return xxhash.xxh3_128_hexdigest(data)
