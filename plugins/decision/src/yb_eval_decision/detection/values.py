"""Is it a secret, or does it only stand where one would stand?"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections import Counter

#: Looked up, filled in or hidden already: no value at all.
_TEMPLATES = ("<", "${", "{{", "$(", "%(", "***", "•••", "[redacted", "os.environ", "process.env", "getenv", "...")
#: Words that a value says of itself. The short ones can stand in a random token by chance.
_EXAMPLES = ("example", "placeholder", "changeme", "change_me", "change-me", "sample_", "xxxx", "your_", "your-", "replace_",
             "notreal", "not-real", "000000000", "1234567890", "пример")  # fmt: skip
_SHORT = ("your", "dummy", "sample", "insert", "fake", "foobar", "test1234", "1234567", "abcdefg", "qwerty", "ваш")

_WORDS = frozenset((
    "password", "passwd", "passphrase", "secret", "token", "none", "null", "nil", "true", "false", "undefined",
    "required", "optional", "string", "user", "username", "admin", "root", "guest", "default", "value", "hidden",
    "redacted", "removed", "пароль", "токен", "секрет", "ключ", "скрыт",
))  # fmt: skip


def entropy(text: str) -> float:
    """Shannon's entropy of the characters, in bits a character; 0 for no text."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values()) if size else 0.0


def is_template(value: str) -> bool:
    """Whether `value` is a place for a value, a reference to one, or one that was masked."""
    small = value.lower()
    return small.startswith(_TEMPLATES) or set(value) <= {"*", "x", "X", ".", "-", "_", "#"}


def is_stand_in(value: str, chosen: bool = True) -> bool:
    """Whether `value` says of itself that it is an example, or is too even to be anything else. `chosen`: by a person,
    not at random."""
    small = value.lower()
    said = any(word in small for word in _EXAMPLES) or (chosen and any(word in small for word in _SHORT))
    return said or small in _WORDS or len(set(small)) < 4


def may_be_password(value: str, quoted: bool) -> bool:
    """Whether what a password's name is followed by may be one: not a word of a sentence. In quotes any word may."""
    if len(value) < 4 or is_template(value) or value.lower() in _WORDS or "(" in value:
        return False
    letters = any(sign.isalpha() for sign in value)
    digits = any(sign.isdigit() for sign in value)
    signs = any(sign in "!@#$%^&*+=?~" for sign in value[:-1])
    mixed = letters and (digits or signs)
    return mixed or (quoted and " " not in value and len(value) >= 6) or (digits and len(value) >= 6 and not letters)


def may_be_token(value: str) -> bool:
    """Whether what a key's name is followed by may be one: long, mixed, and not made of words."""
    if len(value) < 12 or is_template(value) or "(" in value or " " in value:
        return False
    parts = value.replace("-", "_").replace(".", "_").split("_")
    if len(parts) > 1 and all(part.isalpha() and part.islower() and len(part) < 14 for part in parts if part):
        return False
    letters = any(sign.isalpha() for sign in value)
    mixed = letters and (any(sign.isdigit() for sign in value) or not (value.islower() or value.isupper()))
    return mixed and entropy(value) >= 2.8


def is_jwt(value: str) -> bool:
    """Whether the first part of a JSON web token is a header that names an algorithm (RFC 7519, RFC 7515)."""
    first = value.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and isinstance(header.get("alg"), str)
