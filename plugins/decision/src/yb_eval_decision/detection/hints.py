"""What can be said of a datum without showing it: that it is published, reserved, or of an office rather than of a person.

A model that is asked whether a datum identifies somebody gets these instead of the datum.
"""

from __future__ import annotations

import ipaddress
import re

from yb_eval_decision.detection.known import BY_CONTEXT
from yb_eval_decision.detection.values import is_stand_in

#: Domains that belong to nobody (RFC 2606, RFC 6761).
_RESERVED = ("example.com", "example.net", "example.org")
_RESERVED_ENDS = (".example", ".test", ".invalid", ".localhost", ".local")
_ROLES = frozenset((
    "abuse", "admin", "billing", "careers", "contact", "hello", "help", "hr", "info", "jobs", "legal", "mail",
    "marketing", "media", "news", "newsletter", "noreply", "no-reply", "office", "orders", "postmaster", "pr",
    "press", "privacy", "sales", "security", "service", "support", "team", "webmaster",
))  # fmt: skip
#: Card numbers that payment companies publish for tests.
_TEST_CARDS = frozenset((
    "4111111111111111", "4242424242424242", "4012888888881881", "4222222222222", "4000056655665556",
    "5555555555554444", "5105105105105100", "5200828282828210", "2223003122003222", "378282246310005",
    "371449635398431", "6011111111111117", "6011000990139424", "30569309025904", "38520000023237",
    "3530111333300000", "3566002020360505",
))  # fmt: skip
#: The registry's own examples, as everybody copies them.
_EXAMPLE_IBANS = frozenset(("GB82WEST12345698765432", "DE89370400440532013000", "FR1420041010050500013M02606"))
_SEQUENCE = "01234567890123456789"

PUBLISHED, RESERVED, ROLE = "published example", "reserved for documentation", "of an office, not of a person"
PRIVATE_RANGE, EVEN, STAND_IN = "private range", "digits in sequence or all alike", "says it is an example"
#: Data of which this is said are never decisive.
HARMLESS = frozenset((PUBLISHED, RESERVED, ROLE, PRIVATE_RANGE, EVEN, STAND_IN))


def hints(kind: str, datum: str) -> tuple[str, ...]:
    """What is known of `datum`, found as a `kind`."""
    if kind == "EMAIL_ADDRESS":
        return _email(datum.lower())
    if kind == "IP_ADDRESS":
        return _address(datum)
    plain = re.sub(r"[^0-9A-Za-z]", "", datum).upper()
    if kind == "CREDIT_CARD":
        return (PUBLISHED,) if plain in _TEST_CARDS else _even(plain)
    if kind == "IBAN_CODE":
        return (PUBLISHED,) if plain in _EXAMPLE_IBANS else ()
    if kind == "PHONE_NUMBER":
        # 555-0100 to 555-0199 are set aside for fiction (NANPA).
        return (RESERVED,) if re.search(r"55501[0-9]{2}\Z", plain) else _even(plain[-7:])
    if kind.startswith(("RU_", "US_", "BR_")) or kind in ("MEDICAL_RECORD_NUMBER", "HEALTH_PLAN_ID"):
        return _even(plain)
    return ()


def secret_hints(kind: str, datum: str) -> tuple[str, ...]:
    """What is known of a secret of `kind`. The words in a private key are there by chance."""
    return (STAND_IN,) if kind != "PRIVATE_KEY" and is_stand_in(datum, kind in BY_CONTEXT) else ()


def _email(address: str) -> tuple[str, ...]:
    name, _, domain = address.rpartition("@")
    if domain in _RESERVED or domain.endswith((*_RESERVED_ENDS, *(f".{one}" for one in _RESERVED))):
        return (RESERVED,)
    return (ROLE,) if name.partition("+")[0] in _ROLES else ()


def _address(address: str) -> tuple[str, ...]:
    if ":" not in address:
        private = address.startswith(_PRIVATE)
        return (RESERVED,) if address.startswith(_DOCUMENTATION) else (PRIVATE_RANGE,) if private else ()
    known = ipaddress.IPv6Address(address)
    if any(known in network for network in _DOCUMENTATION_6):
        return (RESERVED,)
    return (PRIVATE_RANGE,) if known.is_private or known.is_link_local else ()


#: RFC 5737; RFC 1918 and RFC 3927; RFC 3849 and RFC 9637.
_DOCUMENTATION = ("192.0.2.", "198.51.100.", "203.0.113.")
_PRIVATE = ("10.", "192.168.", "169.254.", *(f"172.{number}." for number in range(16, 32)))
_DOCUMENTATION_6 = tuple(map(ipaddress.IPv6Network, ("2001:db8::/32", "3fff::/20")))


def _even(digits: str) -> tuple[str, ...]:
    numbers = "".join(sign for sign in digits if sign.isdigit())
    alike = len(set(numbers)) == 1 and len(numbers) > 3
    sequence = len(numbers) > 5 and (numbers in _SEQUENCE or numbers in _SEQUENCE[::-1])
    return (EVEN,) if alike or sequence else ()
