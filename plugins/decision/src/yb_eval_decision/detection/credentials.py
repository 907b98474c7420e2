"""Our own patterns of secrets: by a vendor's form, by a key's own frame, or by the name before a value.

Sources of the forms: the vendors' public documentation of their tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from yb_eval_decision.detection.finding import Finding
from yb_eval_decision.detection.hints import secret_hints
from yb_eval_decision.detection.patterns import Accept, Rule
from yb_eval_decision.detection.values import entropy, is_jwt, is_template, may_be_password, may_be_token
from yb_eval_decision.detection.view import View

SURE, LIKELY, POSSIBLE, UNLIKELY = 0.95, 0.8, 0.6, 0.4


def _found(view: View, kind: str, start: int, end: int, confidence: float) -> Finding:
    said = secret_hints(kind, view.text[start:end])
    return Finding(kind, start, end, UNLIKELY if said else confidence, bool(not said and confidence >= SURE), said)


def _token(kind: str, least: float = 3.0, confidence: float = SURE, holds: Callable[[str], bool] = bool) -> Accept:
    """A token of a vendor's form that is varied enough (`least` bits a character)."""

    def accept(view: View, start: int, end: int) -> Iterator[Finding]:
        value = view.text[start:end]
        before = view.text[start - 1 : start] if start else ""
        if before.isalnum() or before == "_" or entropy(value) < least or not holds(value):
            return
        yield _found(view, kind, start, end, confidence)

    return accept


def _stripe(view: View, start: int, end: int) -> Iterator[Finding]:
    live = "_live_" in view.text[start : start + 9]
    yield from _token("STRIPE_KEY", confidence=SURE if live else POSSIBLE)(view, start, end)


_JWT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}")


def _jwt(view: View, start: int, end: int) -> Iterator[Finding]:
    """A token of any length. It begins where no sign of a token stands before, so each sign is read a few times at most."""
    before = view.text[start - 1 : start] if start else ""
    if before.isalnum() or before in ("-", "_", "."):
        return
    whole = _JWT.match(view.text, start)
    if whole and is_jwt(whole.group()):
        yield _found(view, "JWT", start, whole.end(), SURE)


_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# What is left of a key that was cut off: base64 and its line breaks, real or written out, and PEM headers.
_REST = re.compile(r"[A-Za-z0-9+/=\s\\:,.]*")


def _private_key(view: View, start: int, end: int) -> Iterator[Finding]:
    """From the header to the end of the key, or of what is left of it. Looks no further than the next five dashes."""
    dashes = view.text.find("-----", end)
    closing = _END.match(view.text, dashes) if dashes >= 0 else None
    if closing is not None:
        last = closing.end()
    else:
        rest = _REST.match(view.text, end, dashes if dashes >= 0 else len(view.text))
        body = rest.group() if rest else ""
        first = body.split(None, 1)[0] if body.strip() else ""
        # Prose that names the header goes on in words; what is left of a key in a long run of base64.
        last = end + len(body.rstrip()) if len(first) >= 16 else end
    whole = closing is not None and last - end > 64
    yield Finding("PRIVATE_KEY", start, last, SURE if whole or last - end > 64 else UNLIKELY, last - end > 64)


def _password(view: View, start: int, end: int) -> Iterator[Finding]:
    start, end, quoted = _bare(view, start, end)
    value = view.text[start:end]
    if may_be_password(value, quoted):
        yield _found(view, "PASSWORD", start, end, POSSIBLE)


def _named(kind: str) -> Accept:
    def accept(view: View, start: int, end: int) -> Iterator[Finding]:
        start, end, _ = _bare(view, start, end)
        if may_be_token(view.text[start:end]):
            yield _found(view, kind, start, end, POSSIBLE)

    return accept


def _bare(view: View, start: int, end: int) -> tuple[int, int, bool]:
    """The value without the quotes and the sentence's signs around it."""
    quoted = view.text[start] in "\"'`"
    if quoted:
        start, end = start + 1, end - 1 if view.text[end - 1] == view.text[start] and end - start > 1 else end
    else:
        while end > start and view.text[end - 1] in ".,;:\\":
            end -= 1
    return start, end, quoted


def _database(view: View, start: int, end: int) -> Iterator[Finding]:
    if not is_template(view.text[start:end]):
        yield _found(view, "DATABASE_URL", start, end, LIKELY)


_JOIN = r"[\"'`\]]{0,2}[ \t]{0,4}(?:=>|:=|==?|:|-|\bis\b:?|\bwas\b:?|это:?|такой:?)[ \t]{0,4}"
# What is said of a secret between its name and the value: "password (temporary): ...". After a space: without, it is a call.
_NOTE = r"(?:[ \t]{1,2}(?:\([^()\n]{1,40}\)|\[[^\[\]\n]{1,40}\]))?"
_VALUE = r"(\"[^\"\n]{4,200}\"|'[^'\n]{4,200}'|`[^`\n]{4,200}`|[^\s\"'`,;<>(){}\[\]]{4,200})"

# Names of what is no password but as secret. In Russian too.
_KEY = (
    r"api[_ -]?key|secret(?:[_ -]?key)?|(?:access|auth|refresh|bearer)[_ -]?token|token|client[_ -]?secret|credentials?|"
    r"токен[а-я]{0,2}|ключ[а-я]{0,2}(?: api)?|секрет[а-я]{0,2}"
)
_HEADER = r"authorization[\"']?[:=][ ]{0,2}[\"']?(?:bearer|token|basic) ([a-z0-9._~+/=-]{16,200})"

RULES = (
    Rule(r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b", _token("AWS_ACCESS_KEY", 2.8)),
    Rule(r"(?:aws|amazon)[^\n]{0,24}secret[^\n=:]{0,24}[=:][\"' ]{0,3}([a-z0-9/+]{40})", _named("AWS_SECRET_KEY"), lower=True),
    Rule(r"gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{36,255}", _token("GITHUB_TOKEN")),
    Rule(r"gl(?:pat|dt|ptt|rt|cbt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_-]{20,128}", _token("GITLAB_TOKEN")),
    Rule(r"sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{20,200}", _token("ANTHROPIC_KEY")),
    Rule(r"sk-or-v1-[0-9a-f]{64}", _token("OPENROUTER_KEY")),
    Rule(r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,200}|sk-[A-Za-z0-9]{20,64}\b", _token("OPENAI_KEY")),
    Rule(r"hf_[A-Za-z0-9]{30,40}\b", _token("HUGGING_FACE_TOKEN")),
    Rule(r"npm_[A-Za-z0-9]{36}\b", _token("NPM_TOKEN")),
    Rule(r"pypi-AgE[A-Za-z0-9_-]{50,250}", _token("PYPI_TOKEN")),
    Rule(r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}", _token("SENDGRID_KEY")),
    Rule(r"AccountKey=([A-Za-z0-9+/]{86}==)", _token("AZURE_STORAGE_KEY", holds=lambda value: True)),
    Rule(r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", _token("AZURE_CLIENT_SECRET")),
    Rule(r"xox[abeoprs]-(?:[0-9]-)?[A-Za-z0-9-]{16,250}|xapp-[0-9]-[A-Za-z0-9-]{20,250}", _token("SLACK_TOKEN", 2.8)),
    Rule(r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{30,120}", _token("SLACK_WEBHOOK")),
    Rule(r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}", _stripe),
    Rule(r"AIza[A-Za-z0-9_-]{35}", _token("GOOGLE_API_KEY")),
    Rule(r"GOCSPX-[A-Za-z0-9_-]{28}", _token("GOOGLE_OAUTH")),
    Rule(r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", _token("TELEGRAM_TOKEN")),
    Rule(r"SK[0-9a-f]{32}\b", _token("TWILIO_KEY")),
    Rule(r"dop_v1_[0-9a-f]{64}", _token("DIGITALOCEAN_TOKEN")),
    Rule(r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", _token("SHOPIFY_TOKEN")),
    Rule(r"AQVN[A-Za-z0-9_-]{35,38}|y[0-6]_[A-Za-z0-9_-]{50,200}", _token("YANDEX_TOKEN")),
    Rule(r"eyJ[A-Za-z0-9_-]{8}", _jwt),
    Rule(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----", _private_key),
    Rule(r"[a-z][a-z0-9+.-]{1,20}://[^\s:@/\"'<>]{1,64}:([^\s@/\"'<>]{1,128})@", _database),
    Rule(rf"(?:password|passwd|passphrase|pwd|парол[ьяею]{{1,2}}){_NOTE}{_JOIN}{_VALUE}", _password, lower=True),
    Rule(rf"(?:{_KEY}){_NOTE}{_JOIN}{_VALUE}", _named("GENERIC_SECRET"), lower=True),
    Rule(_HEADER, _named("GENERIC_SECRET"), lower=True),
)  # fmt: skip
