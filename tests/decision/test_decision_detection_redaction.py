"""Redaction: the data go, whole, and nothing else changes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.detection import Finding, detect_phi, detect_pii, detect_secrets, redact
from yb_eval_decision.detection.redaction import shape


def key(*parts):
    return "".join(parts)


VARIED = "aB3dE6gH9jKlMn2pQr5tUvWxYz8cDfGhJk4"
TOKEN = key("gl", "pat-", VARIED[:20])


def clean(text, style="type", detectors=(detect_phi, detect_secrets)):
    """`text` with everything redacted that our own patterns find."""
    found = [finding for detect in detectors for finding in detect(text, detector="own")]
    return redact(text, found, style)


def test_the_label_stays_and_the_datum_goes():  # 4
    assert clean("DOB: 12/03/1985!") == "DOB: <DATE_OF_BIRTH>!"
    assert clean("паспорт 45 03 123654.") == "паспорт <RU_PASSPORT>."
    assert clean(key("pass", 'word = "hunter2!x";')) == 'password = "<PASSWORD>";'


def test_a_private_key_goes_whole():  # 4
    body = "MIIEpAIB" + VARIED * 9
    text = key("-----BEGIN RSA ", "PRIVATE KEY-----\n", body, "\n-----END RSA ", "PRIVATE KEY-----")
    assert clean(f"a\n{text}\nz") == "a\n<PRIVATE_KEY>\nz"
    masked = clean(f"a\n{text}\nz", "partial")
    assert masked == "a\n" + "*" * len(text) + "\nz"


@pytest.mark.parametrize(
    "text",
    [
        key("pass", "word: hunter2!x"),
        key("api_", 'key = "', VARIED[:24], '"'),
        key("postgres://a:", "s3cretPw1234567890xyz", "@h/x"),
    ],
)
def test_partial_shows_nothing_of_what_is_short_chosen_or_quoted(text):  # 4
    (found,) = detect_secrets(text, detector="own")
    datum = found.of(text)
    assert redact(text, [found], "partial") == text.replace(datum, "*" * len(datum))
    assert '"' not in datum


def test_partial_leaves_the_tail_of_a_long_token_only():
    assert clean(f"x {TOKEN} y", "partial") == "x " + "*" * (len(TOKEN) - 4) + TOKEN[-4:] + " y"
    card = "4539 1488 0343 6467"
    assert clean(card, "partial") == "*" * len(card)


def test_an_unknown_style_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'partial'"):
        redact("x", [], "partiel")


def test_two_detectors_redact_one_text_without_undoing_each_other():  # 3
    text = key("a.b@corp.ru and ", TOKEN)
    assert clean(text) == "<EMAIL_ADDRESS> and <GITLAB_TOKEN>"
    assert redact(text, [*detect_secrets(text), *detect_pii(text)]) == redact(
        text, [*detect_pii(text), *detect_secrets(text)]
    )


PIECES = st.lists(
    st.sampled_from(
        ["a.b@corp.ru", "+7 916 234-15-67", "4539 1488 0343 6467", "8.8.8.8", "ssn 536-22-1234", TOKEN, key("pass", "word: hunter2!x"),
         "DOB: 12/03/1985", "ИНН", "😀", "слово", "x", "7", "--", ".", "\n", "\ud800", "<EMAIL_ADDRESS>", "token="]
    ),
    max_size=10,
)  # fmt: skip
SPANS = st.lists(
    st.builds(lambda start, size: (start, start + size), st.integers(0, 40), st.integers(1, 12)), max_size=6
)


@given(st.text(max_size=60), SPANS, st.sampled_from(["type", "mask", "partial"]))
def test_only_the_data_change_wherever_they_stand(text, spans, style):
    findings = [Finding("X", start, min(end, len(text)), 0.9) for start, end in spans if start < len(text)]
    covered = {place for found in findings for place in range(found.start, found.end)}
    kept = "".join(sign for place, sign in enumerate(text) if place not in covered)
    made = redact(text, findings, style)
    if style == "type":
        # What is left is the text around, in order; each stretch of data is one word.
        assert made.count("<X>") - text.count("<X>") <= len(findings)
        pieces = []
        for place, sign in enumerate(text):
            if place not in covered:
                pieces.append(sign)
            elif place - 1 not in covered or (
                place in {f.start for f in findings} and not any(f.start < place < f.end for f in findings)
            ):
                pieces.append("<X>")
        assert made == "".join(pieces)
    else:
        assert len(made) == len(text)
        assert "".join(sign for place, sign in enumerate(made) if place not in covered) == kept
        assert all(made[place] in ("*", text[place]) for place in covered)


@settings(max_examples=200)
@given(
    PIECES,
    st.sampled_from(["", " ", ", ", "\n"]),
    st.sampled_from(["type", "mask"]),
    st.sampled_from([detect_phi, detect_secrets]),
)
def test_redacting_again_changes_nothing(pieces, joint, style, detect):
    once = clean(joint.join(pieces), style, (detect,))
    assert clean(once, style, (detect,)) == once


def test_a_finding_shows_its_datum_to_nobody():
    text = "write to anna@corp.ru"
    (found,) = detect_pii(text, detector="own")
    assert "anna" not in repr(found) and "anna" not in str(found.to_dict())
    assert shape("Anna +7 9a") == "Xxxx +9 9x"
    assert len(shape("x" * 1000)) == 43
