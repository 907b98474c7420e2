"""Credentials: every vendor format of the table, what announces a generic one, and what only looks like one.

No working credential stands here: tokens are put together from a prefix and a fixed alphabet at run time, so that a
scanner of this file finds none.
"""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yb_eval_guards import Scanner, redact, scan
from yb_eval_guards.detectors.secrets import load_secret_rules
from yb_eval_guards.engine import FeaturePattern, build_engine

_MIXED = "aZ3kQ9xW2mB7nC5vT1yH8dR4fL6gS0jP"
_HEX = "3f9a1c7e5b2d8064"


def mixed(size: int) -> str:
    return (_MIXED * 10)[:size]


def hexed(size: int) -> str:
    return (_HEX * 10)[:size]


def upper(size: int) -> str:
    return (_MIXED.upper() * 10)[:size]


def jwt(header: object) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part(header)}.{part({'sub': 'synthetic'})}.{mixed(43)}"


TOKENS = {
    "openai-key": ["sk-" + "abcdefghijklmnop12345678", "sk-" + mixed(48), "sk-" + "proj-" + mixed(60)],
    "anthropic-key": ["sk-" + "ant-api03-" + mixed(93) + "AA"],
    "openrouter-key": ["sk-" + "or-v1-" + hexed(64)],
    "aws-access-key-id": ["AK" + "IA" + upper(16), "AS" + "IA" + upper(16)],
    "github-token": ["gh" + kind + "_" + mixed(36) for kind in "pousr"],
    "github-fine-grained-token": ["github" + "_pat_" + mixed(22) + "_" + mixed(59)],
    "gitlab-token": ["gl" + "pat-" + mixed(20), "gl" + "dt-" + mixed(20)],
    "slack-token": [
        "xo" + "xb-123456789012-1234567890123-" + mixed(24),
        "xa" + "pp-1-A0" + upper(9) + "-12345-" + hexed(64),
    ],
    "slack-webhook": ["https://hooks." + "slack.com/services/T" + upper(8) + "/B" + upper(8) + "/" + mixed(24)],
    "stripe-key": ["sk" + "_live_" + mixed(24), "sk" + "_test_" + mixed(24), "rk" + "_live_" + mixed(24)],
    "google-api-key": ["AI" + "za" + mixed(35)],
    "google-oauth": ["GO" + "CSPX-" + mixed(28), "ya" + "29." + mixed(60)],
    "huggingface-token": ["hf" + "_" + mixed(34)],
    "npm-token": ["npm" + "_" + mixed(36)],
    "pypi-token": ["py" + "pi-AgEIcHlwaS5vcmc" + mixed(80)],
    "sendgrid-key": ["SG" + "." + mixed(22) + "." + mixed(43)],
    "twilio-key": ["SK" + hexed(32)],
    "telegram-bot-token": ["1234567890" + ":AA" + mixed(33)],
    "yandex-cloud-key": [
        "AQ" + "VN" + mixed(36),
        "YC" + mixed(38),
        "t1" + "." + mixed(30) + "." + mixed(86),
        "y0" + "_" + mixed(58),
    ],
    "digitalocean-token": ["dop" + "_v1_" + hexed(64)],
    "shopify-token": ["shp" + "at_" + hexed(32)],
    "hashicorp-vault-token": ["hv" + "s." + mixed(40)],
    "groq-key": ["gs" + "k_" + mixed(52)],
    "databricks-token": ["da" + "pi" + hexed(32)],
    "vendor-token": ["dckr" + "_pat_" + mixed(27), "gl" + "sa_" + mixed(40)],
    "age-key": ["AGE-SECRET-" + "KEY-1" + upper(58)],
}
CASES = [(name, token) for name, tokens in TOKENS.items() for token in tokens]


@pytest.mark.parametrize(("name", "token"), CASES, ids=[f"{name}-{index}" for index, (name, _) in enumerate(CASES)])
@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "use {} please",
        '"{}"',
        "<b>{}</b>",
        "ключ {}, спасибо",
        "x\n{}\ny",
    ],
)
def test_vendor_tokens_are_found_whole_and_named(name: str, token: str, frame: str) -> None:
    text = frame.format(token)
    (finding,) = scan(text)
    assert (finding.type, finding.kind) == ("secret", name)
    assert text[finding.start : finding.end] == token


def test_every_rule_of_the_table_has_a_case_or_a_test_below() -> None:
    elsewhere = {
        "azure-storage-key",
        "azure-client-secret",
        "azure-sas-signature",
        "database-url",
        "authorization-header",
        "bearer-token",
    }
    assert {rule.name for rule in load_secret_rules()} == set(TOKENS) | elsewhere


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("DefaultEndpointsProtocol=https;AccountName=x;Account" + f"Key={mixed(86)}==;", "azure-storage-key"),
        ("secret abc8Q~" + mixed(34), "azure-client-secret"),
        ("https://x.example/c?sv=2022-11-02&se=2026&sr=c&sig=" + mixed(43) + "%3D", "azure-sas-signature"),
        ("postgres://app:S3cr3tP4ss@db.internal.example:5432/main", "database-url"),
        ("mongodb+srv://app:S3cr3tP4ss@cluster.example/x", "database-url"),
        ("jdbc:mysql://app:S3cr3tP4ss@10.0.0.1/x", "database-url"),
        ("Authorization: Basic " + base64.b64encode(b"app:S3cr3tP4ss-long").decode(), "authorization-header"),
        ("curl -H 'Authorization: Bearer " + mixed(40) + "'", "authorization-header"),
        ("header Bearer " + mixed(40), "bearer-token"),
        (jwt({"alg": "HS256", "typ": "JWT"}), "jwt"),
        ('password = "Tr0ub4dor&3"', "password-assignment"),
        ("DB_PASSWORD=Tr0ub4dor-3x", "password-assignment"),
        ("пароль: Xy7!kkPq2", "password-assignment"),
        (
            "пароль от базы: Xy7!kkPq2",
            "password-assignment",
        ),
        ("my password is Tr0ub4dor-3x", "password-assignment"),
        ("<password>Tr0ub4dor-3x</password>", "password-assignment"),
        ('{"api_key": "' + mixed(24) + '"}', "token-assignment"),
        ("client_secret: " + mixed(32), "token-assignment"),
        ("X-Api-Key: " + hexed(32), "token-assignment"),
        ("токен = " + mixed(24), "token-assignment"),
        (
            "секретный ключ: " + mixed(24),
            "token-assignment",
        ),
        ("tool --api-key " + mixed(24), "token-assignment"),
        ("aws_secret_access_key = " + mixed(40), "token-assignment"),
    ],
)
def test_announced_secrets_are_found(text: str, kind: str) -> None:
    assert [finding.kind for finding in scan(text)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn and scikit-learn",
        "task-" + "abcdefghijklmnop12345678",
        "risk-force-0123456789abcdefghij",
        "sk-" + "x" * 40,
        "gh" + "p_" + "x" * 36,
        "AK" + "IAIOSFODNN7EXAMPLE",
        "gh" + "p_<TOKEN>",
        "token: <TOKEN>",
        "api_key = ${SECRET}",
        "api_key: {{ secrets.KEY_1234567890 }}",
        'password = os.environ["DB_PASSWORD_1"]',
        "password=xxxxxxxx",
        "password: ********",
        "password = changeme",
        "password: required, at least 8 characters",
        "Password expires: 2026-11-30",
        "password reset link: https://a.example/reset/1",
        "token count: 1234567890",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "postgres://user:password@localhost/db",
        "postgres://user:${DB_PASS}@localhost/db",
        "https://example.com:8080/path@x",
        "secretary: Jane1234567890123456",
        "tokenizationId: 'f00d88c97ca4913887373728b8dfc4c0'",
        "vaultKey: 'inf-abcd-01-secret-id'",
        "existingSecret: existingSubscriptionTokenProvider2",
        '"key": "ctrl+shift+down"',
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        "a file that starts with -----BEGIN PRIVATE KEY----- is a key",
        "eyJub3RqcyI6MX0.abcdefgh.abcdefgh",
        "eyJ!!!!.abcd.efgh",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert scan(text) == []


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n", " "])
def test_a_private_key_is_one_finding_from_header_to_footer(label: str, line_end: str) -> None:
    begin, end = f"-----BEGIN {label}PRIVATE KEY-----", f"-----END {label}PRIVATE KEY-----"
    key = line_end.join([begin, mixed(64), mixed(64), "AB==", end])
    text = f"before {key} after"
    (finding,) = scan(text)
    assert (finding.kind, text[finding.start : finding.end]) == ("private-key", key)
    assert redact(text) == "before " + "*" * len(key) + " after"


def test_a_private_key_that_was_cut_off_is_masked_to_its_last_character() -> None:
    text = "-----BEGIN PRIVATE KEY-----\n" + mixed(64) + "\n" + mixed(30)
    (finding,) = scan(text)
    assert finding.end == len(text)


def test_two_keys_in_a_row_are_two_findings() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{mixed(64)}\n-----END PRIVATE KEY-----\n"
    assert [finding.kind for finding in scan(key * 2)] == ["private-key"] * 2


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_match_of_a_rule_holds_its_trigger(data: st.DataObject) -> None:
    rule = data.draw(st.sampled_from(load_secret_rules()))
    text = data.draw(st.from_regex(rule.pattern, fullmatch=True, alphabet=st.characters(max_codepoint=126)))
    engine = build_engine((FeaturePattern(1, rule.trigger.encode()),), "re2")
    assert engine.features([text.encode()]) == [1]


@given(st.text(st.characters(max_codepoint=126, min_codepoint=32), max_size=80))
@settings(deadline=None, max_examples=60)
def test_no_text_makes_the_secret_detectors_raise(text: str) -> None:
    scanner = _SCANNER
    for finding in scanner.scan(f"password: {text} token={text}"):
        assert 0 <= finding.start < finding.end


_SCANNER = Scanner(strength="warn", detectors=["secret"])
