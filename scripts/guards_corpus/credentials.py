"""Credentials of every family, assembled from parts: right by format and entropy, working nowhere.

Every body is drawn, none was ever issued: where a format carries its own check (GitHub and npm end in a CRC-32) the
check is wrong on purpose, and hosts, accounts and key ids are the reserved or documented example ones.
"""

from __future__ import annotations

import base64
import json
import string
import zlib
from collections.abc import Callable

from .rows import Draw

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def _prefixed(prefix: str, alphabet: str, length: int, suffix: str = "") -> Callable[[Draw], str]:
    return lambda draw: prefix + draw.text(alphabet, length) + suffix


def _one_of(*makers: Callable[[Draw], str]) -> Callable[[Draw], str]:
    return lambda draw: draw.pick(makers)(draw)


def _crc_base62(body: str) -> str:
    value, text = zlib.crc32(body.encode()), ""
    while value:
        value, digit = divmod(value, 62)
        text = BASE62[digit] + text
    return text.rjust(6, "0")


def _wrong_crc(prefix: str) -> Callable[[Draw], str]:
    """A prefix, 30 characters and 6 that are not their CRC-32 in base 62."""

    def make(draw: Draw) -> str:
        while True:
            body, check = draw.text(ALNUM, 30), draw.text(ALNUM, 6)
            if check != _crc_base62(body):
                return prefix + body + check

    return make


def _openai_project(draw: Draw) -> str:
    kind = draw.pick(("proj", "svcacct", "admin"))
    return f"sk-{kind}-{draw.text(URL_SAFE, 58)}T3BlbkFJ{draw.text(URL_SAFE, 58)}"


def _github_fine_grained(draw: Draw) -> str:
    return f"github_pat_{draw.text(ALNUM, 22)}_{draw.text(ALNUM, 59)}"


def _slack(draw: Draw) -> str:
    kind = draw.pick(("xoxb", "xoxp"))
    user = f"-{draw.digits(12)}" if kind == "xoxp" else ""
    return f"{kind}-{draw.digits(12)}-{draw.digits(12)}{user}-{draw.text(HEX if user else ALNUM, 32 if user else 24)}"


def _slack_hook(draw: Draw) -> str:
    return f"https://hooks.slack.com/services/T{draw.text(UPPER, 10)}/B{draw.text(UPPER, 10)}/{draw.text(ALNUM, 24)}"


def _sendgrid(draw: Draw) -> str:
    return f"SG.{draw.text(URL_SAFE, 22)}.{draw.text(URL_SAFE, 43)}"


def _telegram(draw: Draw) -> str:
    return f"{draw.pick('1567')}{draw.digits(9)}:AA{draw.text(URL_SAFE, 33)}"


def _azure_client(draw: Draw) -> str:
    return f"{draw.text(ALNUM, 3)}8Q~{draw.text(ALNUM + '_.-', 34)}"


def _azure_storage(draw: Draw) -> str:
    account = "example" + draw.text(string.ascii_lowercase, 5)
    return (
        f"DefaultEndpointsProtocol=https;AccountName={account};AccountKey={draw.text(BASE64, 86)}==;"
        "EndpointSuffix=core.windows.net"
    )


def _yandex_iam(draw: Draw) -> str:
    return f"t1.9eu{draw.text(URL_SAFE, 120)}.{draw.text(URL_SAFE, 86)}"


def _encoded(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode("ascii").rstrip("=")


def _jwt(draw: Draw) -> str:
    header = _encoded({"alg": draw.pick(("HS256", "RS256", "ES256")), "typ": "JWT"})
    claims = _encoded(
        {"sub": f"user-{draw.below(9000)}", "aud": "example.com", "iat": 1_900_000_000 + draw.below(9999)}
    )
    return f"{header}.{claims}.{draw.text(URL_SAFE, 43)}"


PASSWORD = ALNUM + "!#*-_"
"""Characters of a password that needs no quoting in an address, a shell or a config file."""


def password(draw: Draw, length: int = 16) -> str:
    """A drawn password with all four kinds of characters."""
    body = draw.text(PASSWORD, length - 4)
    return (
        body
        + draw.pick(string.ascii_lowercase)
        + draw.pick(string.ascii_uppercase)
        + draw.pick("789")
        + draw.pick("!#*")
    )


def _database(draw: Draw) -> str:
    scheme, port = draw.pick(
        (("postgres", 5432), ("postgresql", 5432), ("mysql", 3306), ("mongodb", 27017), ("amqp", 5672), ("redis", 6379))
    )
    user = "" if scheme == "redis" else draw.pick(("app", "billing", "reports", "svc_api"))
    secret = draw.text(ALNUM, 18)
    return (
        f"{scheme}://{user}:{secret}@db{draw.below(9)}.internal.example:{port}/{draw.pick(('main', 'prod', 'orders'))}"
    )


def pem(draw: Draw, label: str, lines: int) -> str:
    """A PEM block whose body is drawn: the armour is right, the inside is no key."""
    body = "\n".join(draw.text(BASE64, 64) for _ in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n{draw.text(BASE64, 30)}==\n-----END {label}-----"


TOKENS: dict[str, Callable[[Draw], str]] = {
    "openai": _one_of(_prefixed("sk-", ALNUM, 24), lambda d: f"sk-{d.text(ALNUM, 20)}T3BlbkFJ{d.text(ALNUM, 20)}"),
    "openai-project": _openai_project,
    "anthropic": _one_of(
        _prefixed("sk-ant-api03-", URL_SAFE, 93, "AA"), _prefixed("sk-ant-admin01-", URL_SAFE, 93, "AA")
    ),
    "aws-access-key": _one_of(_prefixed("AKIA", BASE32, 16), _prefixed("ASIA", BASE32, 16)),
    "github-classic": _one_of(*(_wrong_crc(prefix) for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"))),
    "github-fine-grained": _github_fine_grained,
    "gitlab": _one_of(
        _prefixed("glpat-", URL_SAFE, 20), _prefixed("glptt-", HEX, 40), _prefixed("gldt-", URL_SAFE, 20)
    ),
    "slack": _one_of(_slack, _slack_hook),
    "stripe": _one_of(*(_prefixed(prefix, ALNUM, 24) for prefix in ("sk_live_", "rk_live_", "sk_test_"))),
    "stripe-long": _one_of(*(_prefixed(prefix, ALNUM, 99) for prefix in ("sk_live_51", "sk_test_51"))),
    "google-api": _prefixed("AIza", URL_SAFE, 35),
    "google-oauth": _one_of(_prefixed("GOCSPX-", URL_SAFE, 28), _prefixed("ya29.a0", URL_SAFE, 120)),
    "azure-client": _azure_client,
    "azure-storage": _azure_storage,
    "huggingface": _prefixed("hf_", string.ascii_letters, 34),
    "npm": _wrong_crc("npm_"),
    "pypi": _prefixed("pypi-AgEIcHlwaS5vcmc", URL_SAFE, 120),
    "sendgrid": _sendgrid,
    "twilio": _prefixed("SK", HEX, 32),
    "telegram": _telegram,
    "yandex-api": _prefixed("AQVN", URL_SAFE, 36),
    "yandex-iam": _yandex_iam,
    "yandex-oauth": _prefixed("y0_AgAAAA", URL_SAFE, 48),
    "yandex-static": _one_of(_prefixed("YCM", URL_SAFE, 37), _prefixed("YCP", URL_SAFE, 37)),
    "jwt": _jwt,
    "database-url": _database,
}
"""Makers of credentials that can be told by their own shape."""

PEM_LABELS = (
    ("RSA PRIVATE KEY", 24),
    ("PRIVATE KEY", 25),
    ("EC PRIVATE KEY", 2),
    ("OPENSSH PRIVATE KEY", 5),
    ("ENCRYPTED PRIVATE KEY", 26),
    ("DSA PRIVATE KEY", 9),
)
"""Armour labels of private keys and the usual number of full lines."""
