"""Our own patterns: what they find, what they leave alone, and that their time is linear."""

import string
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.detection import checks, detect_phi, detect_pii, detect_secrets, health_terms, open_detection
from yb_eval_decision.detection.finding import Finding, resolve
from yb_eval_decision.detection.hints import EVEN, PRIVATE_RANGE, PUBLISHED, RESERVED, ROLE, STAND_IN


def luhn_end(digits: str) -> str:
    return next(digits + str(last) for last in range(10) if checks.luhn(digits + str(last)))


def with_inn(digits: str) -> str:
    """Ten or eleven digits made to a taxpayer number of a person, by trying."""
    return next(digits + f"{end:02}" for end in range(100) if checks.ru_inn(digits + f"{end:02}"))


def with_snils(digits: str) -> str:
    end = next(f"{end:02}" for end in range(100) if checks.ru_snils(digits + f"{end:02}"))
    return f"{digits[:3]}-{digits[3:6]}-{digits[6:]} {end}"


def with_iban(country: str, account: str) -> str:
    return next(
        country + f"{check:02}" + account for check in range(2, 99) if checks.iban(country + f"{check:02}" + account)
    )


CARD = luhn_end("453914880343646")
CARD_SPACED = " ".join(CARD[i : i + 4] for i in range(0, 16, 4))
INN = with_inn("7707083893")
SNILS = with_snils("087654303")
IBAN = with_iban("DE", "500105170648489890")


def kinds(text, detect=detect_pii, **more):
    return [(found.type, found.of(text)) for found in detect(text, detector="own", **more)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("write to Anna.K+x@Corp-mail.ru, please", [("EMAIL_ADDRESS", "Anna.K+x@Corp-mail.ru")]),
        ("почта: иван@почта.рф", [("EMAIL_ADDRESS", "иван@почта.рф")]),
        ("call +7 916 234-15-67 2024", [("PHONE_NUMBER", "+7 916 234-15-67")]),
        ("8 (495) 234-15-67", [("PHONE_NUMBER", "8 (495) 234-15-67")]),
        ("тел. 89162341567", [("PHONE_NUMBER", "89162341567")]),
        ("+44 20 7946 0018", [("PHONE_NUMBER", "+44 20 7946 0018")]),
        ("(212) 736-5000", [("PHONE_NUMBER", "(212) 736-5000")]),
        ("my phone: 2127365000", [("PHONE_NUMBER", "2127365000")]),
        (f"2024-05-01 {CARD_SPACED} 12/27", [("CREDIT_CARD", CARD_SPACED)]),
        (f"карта {CARD}", [("CREDIT_CARD", CARD)]),
        (f"REF12 3456 {IBAN}", [("IBAN_CODE", IBAN)]),
        ("ssn 536-22-1234", [("US_SSN", "536-22-1234")]),
        ("SSN: 536221234", [("US_SSN", "536221234")]),
        ("Passport number: X12345678", [("US_PASSPORT", "X12345678")]),
        ("паспорт серия 45 03 № 123654", [("RU_PASSPORT", "45 03 № 123654")]),
        ("Date of birth: 12/03/1985", [("DATE_OF_BIRTH", "12/03/1985")]),
        ("Дата рождения — 5 мая 1990 г.", [("DATE_OF_BIRTH", "5 мая 1990")]),
        (f"ИНН {INN}", [("RU_INN", INN)]),
        (f"снилс {SNILS}", [("RU_SNILS", SNILS)]),
        ("CPF 529.982.247-25", [("BR_CPF", "529.982.247-25")]),
        ("login from 8.8.8.8:443", [("IP_ADDRESS", "8.8.8.8")]),
        ("host 2001:4860:4860::8888 answers", [("IP_ADDRESS", "2001:4860:4860::8888")]),
    ],
)
def test_personal_data_are_found_where_they_stand(text, found):
    assert kinds(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "order 2127365000 was shipped",  # ten digits are no phone number (29)
        "id 89162341567",
        "python 1.2.3.4 and chrome v120.0.60.71",  # versions are no addresses (29)
        "package==10.20.30.40, lib-9.8.7.66",
        "see chapter 3.4.5.6",
        "10.1.2.3.4",
        "127.0.0.1 and 255.255.255.0",
        "std::vector at 12:30:45, aa:bb:cc:dd:ee:ff",
        "icon@2x.png",
        "card 4539 1488 0343 6468",  # no checksum
        "DE00500105170648489890",
        "000-12-3456 and 536-00-1234",
        "UUID 550e8400-e29b-41d4-a716-446655440000",
        "1234567890123456789012345678901234567890",
        "2024-05-01 12:00:00",
        f"{'8' * 500}",
    ],
)
def test_what_only_looks_like_personal_data_is_left_alone(text):
    assert kinds(text) == []


def test_health_identifiers_need_their_check_and_their_name():
    npi = next(f"123456{end:04}" for end in range(10000) if checks.us_npi(f"123456{end:04}"))
    dea = next(f"AB12345{end:02}" for end in range(100) if checks.dea(f"AB12345{end:02}"))
    assert kinds(f"NPI {npi}", detect_phi) == [("US_NPI", npi)]
    assert kinds(f"DEA number: {dea}", detect_phi) == [("DEA_NUMBER", dea)]
    assert kinds("part AB1234567, DEA AB1234567", detect_phi) == []  # 29: the form alone is no number
    assert kinds("MRN: 00482211", detect_phi) == [("MEDICAL_RECORD_NUMBER", "00482211")]
    assert kinds("амбулаторная карта № 004822", detect_phi) == [("MEDICAL_RECORD_NUMBER", "004822")]
    assert kinds("полис ОМС 7748123456789012", detect_phi) == [("HEALTH_PLAN_ID", "7748123456789012")]
    assert kinds("member id: XK-4820011", detect_phi) == [("HEALTH_PLAN_ID", "XK-4820011")]
    assert kinds("E11.9 was the diagnosis", detect_phi) == [("ICD10_CODE", "E11.9")]
    assert kinds("диагноз по МКБ: E11.9", detect_phi) == [("ICD10_CODE", "E11.9")]
    assert kinds("vitamin B12 and paper A4", detect_phi) == []


def test_health_terms_are_found_in_english_and_russian_each_once():
    assert health_terms("The patient was DIAGNOSED; patient has ВИЧ, принимает 20 мг, Врачи и врачи") == [
        "diagnosed", "patient", "вич", "врачи", "мг"
    ]  # fmt: skip
    assert health_terms("omg, the spider program") == []


def key(*parts):
    return "".join(parts)


VARIED = "aB3dE6gH9jKlMn2pQr5tUvWxYz8cDfGhJk4"
TOKENS = {
    "ANTHROPIC_KEY": key("sk-", "ant-", "api03-", VARIED),
    "OPENAI_KEY": key("sk-", "proj-", VARIED),
    "GITHUB_TOKEN": key("gh", "p_", VARIED, "Z"),
    "GITLAB_TOKEN": key("gl", "pat-", VARIED[:20]),
    "HUGGING_FACE_TOKEN": key("h", "f_", VARIED[:34]),
    "NPM_TOKEN": key("np", "m_", VARIED, "Z"),
    "SENDGRID_KEY": key("S", "G.", VARIED[:22], ".", VARIED, VARIED[:8]),
    "SLACK_TOKEN": key("xo", "xb-", VARIED),
    "STRIPE_KEY": key("sk_", "live_", VARIED[:24]),
    "GOOGLE_API_KEY": key("AI", "za", VARIED),
    "AWS_ACCESS_KEY": key("AK", "IA", "Q7ZP3XW9KD5MT2VB"),
    "TELEGRAM_TOKEN": key("76543218", ":AA", VARIED[:33]),
    "JWT": key("ey", "JhbGciOiJIUzI1NiJ9", ".", VARIED, ".", VARIED),
}


@pytest.mark.parametrize("kind", sorted(TOKENS))
@pytest.mark.parametrize("detector", ["own", "auto"])
def test_a_token_of_a_vendor_s_form_is_decisive(kind, detector):
    text = f"here: {TOKENS[kind]} ."
    (found,) = detect_secrets(text, detector=detector)
    assert (found.type, found.of(text), found.decisive) == (kind, TOKENS[kind], True)


@pytest.mark.parametrize("detector", ["own", "auto"])
def test_short_passwords_are_found_by_their_name(detector):
    for text, value in [
        (key("pass", "word: hunter2!x"), "hunter2!x"),
        (key("пар", "оль: Зима2077"), "Зима2077"),
        (key('pass', 'wd = "Tr0ub4dor"'), "Tr0ub4dor"),
        (key("postgres://app:", "s3cretPw", "@db.host/x"), "s3cretPw"),
    ]:  # fmt: skip
        (found,) = detect_secrets(text, detector=detector)
        assert found.of(text).removeprefix("app:") == value and not found.decisive


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("word (temporary): Xk9vT2mq", "Xk9vT2mq"), ("word [staging] = 'Xk9vT2mq'", "Xk9vT2mq"),
        ("word (case-sensitive) is hunter2!x.", "hunter2!x"),
    ],
)  # fmt: skip
def test_a_password_is_found_behind_what_is_said_of_it(said, value):
    text = key("pass", said)
    assert kinds(text, detect_secrets) == [("PASSWORD", value)]


def test_secrets_in_russian_and_keys_are_found_behind_what_is_said_of_them():
    for kind, text in [
        ("PASSWORD", key("пар", "оль (временный): Зима2077")), ("GENERIC_SECRET", key("api ", f"key (prod): {VARIED}")),
    ]:  # fmt: skip
        (found,) = detect_secrets(text, detector="own")
        assert (found.type, found.of(text)) == (kind, text.rpartition(" ")[2])


@pytest.mark.parametrize(
    "text",
    [
        "The password (see page 12) is required.", "password (at least 8 characters): required",
        "def password(user): return42", "password (temporary): <your password>", "password (temporary): ********",
        f"password ({'long ' * 12}): Xk9vT2mq", "password (temporary)\nXk9vT2mq",
    ],
)  # fmt: skip
def test_what_is_said_of_a_password_is_no_password(text):
    assert kinds(text, detect_secrets) == []


def test_an_azure_key_and_a_signed_header_are_found():
    azure = key("Account", "Key=", VARIED, VARIED, VARIED[:16], "==")
    assert kinds(azure, detect_secrets) == [("AZURE_STORAGE_KEY", azure.partition("=")[2])]
    header = key("Authorization: Bear", "er ", VARIED)
    assert kinds(header, detect_secrets) == [("GENERIC_SECRET", VARIED)]


@pytest.mark.parametrize(
    "text",
    [
        "password is required", "password: <your password>", "password: ${DB_PASSWORD}", "token: {{ token }}",
        "api_key = os.environ['KEY']", "password: ********", "the password-reset-page is down", "token-based-authentication",
        "secret: none", "sk-this-is-a-name", "-----BEGIN PUBLIC KEY-----",
    ],
)  # fmt: skip
def test_a_place_for_a_secret_is_no_secret(text):
    assert kinds(text, detect_secrets) == []


def test_a_private_key_is_found_whole_even_cut_off_or_on_one_line():
    body = "MIIEpAIB" + VARIED * 9
    frame = key("-----BEGIN RSA ", "PRIVATE KEY-----")
    end = key("-----END RSA ", "PRIVATE KEY-----")
    for text in (f"{frame}\n{body}\n{end}", f"{frame}\\n{body}\\n{end}", f"{frame}\n{body}"):
        whole = f"a {text} and more"
        (found,) = detect_secrets(whole, detector="own")
        assert found.of(whole).startswith(text[:-1]) and found.decisive
        assert body[-30:] in found.of(whole)
    (found,) = detect_secrets(f"a file with {frame} in its first line", detector="own")
    assert not found.decisive


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("someone@example.com", RESERVED), ("support@corp.ru", ROLE), ("+1 212 555 0123", RESERVED),
        ("card 4242 4242 4242 4242", PUBLISHED), ("GB82WEST12345698765432", PUBLISHED),
        ("host 192.168.7.44", PRIVATE_RANGE), ("host 203.0.113.77", RESERVED), ("host 2001:db8:1::77", RESERVED),
        ("call +7 999 999-99-99", EVEN),
    ],
)  # fmt: skip
def test_what_is_known_to_be_harmless_is_said_and_never_decisive(text, hint):
    (found,) = detect_pii(text)
    assert hint in found.hints and not found.decisive


def test_a_key_that_says_it_is_an_example_is_not_decisive():
    (found,) = detect_secrets(key("AK", "IA", "IOSFODNN7EXAMPLE"), detector="own")
    assert found.hints == (STAND_IN,) and not found.decisive


def test_entities_narrow_before_overlaps_are_resolved():
    text = "ssn 536-22-1234, mail a@corp.ru"
    assert kinds(text, entities=["EMAIL_ADDRESS"]) == [("EMAIL_ADDRESS", "a@corp.ru")]


def test_an_unknown_type_a_wrong_detector_and_what_is_no_text_are_refused():
    with pytest.raises(UsageError, match="did you mean 'EMAIL_ADDRESS'"):
        detect_pii("", entities=["EMAIL_ADRESS"])
    with pytest.raises(UsageError, match="presidio"):
        detect_pii("", entities=["PERSON"])
    with pytest.raises(UsageError, match="did you mean 'own'"):
        detect_pii("", detector="owm")
    with pytest.raises(UsageError, match="list of types"):
        detect_pii("", entities="EMAIL_ADDRESS")
    with pytest.raises(UsageError, match="no type"):
        detect_pii("", entities=[])
    with pytest.raises(UsageError, match="a text is expected, not bytes"):
        detect_pii(b"x")


def test_offsets_are_code_points_whatever_stands_before():
    for before in ("😀", "é", "中文", "\ud800", "\x00", "ё", "Ⅷ"):
        text = f"{before * 3} a.b@corp.ru"
        (found,) = detect_pii(text, detector="own")
        assert found.of(text) == "a.b@corp.ru"


def test_full_width_digits_and_wide_spaces_hide_nothing():
    wide = CARD_SPACED.translate({ord(digit): ord(digit) + 0xFEE0 for digit in string.digits} | {32: 0xA0})
    assert kinds(f"card {wide}") == [("CREDIT_CARD", wide)]


FINDINGS = st.builds(
    lambda start, size, kind, confidence, decisive: Finding(kind, start, start + size, confidence, decisive),
    st.integers(0, 60), st.integers(1, 20), st.sampled_from("ABC"), st.sampled_from([0.4, 0.9]), st.booleans(),
)  # fmt: skip


@given(st.lists(FINDINGS, max_size=12), st.randoms())
def test_overlaps_leave_one_finding_a_stretch_and_cover_what_they_covered(findings, random):
    kept = resolve(findings)
    assert all(left.end <= right.start for left, right in pairwise(kept))
    covered = {place for found in findings for place in range(found.start, found.end)}
    assert {place for found in kept for place in range(found.start, found.end)} == covered
    assert any(f.decisive for f in findings) == any(f.decisive for f in kept)
    shuffled = list(findings)
    random.shuffle(shuffled)
    assert resolve(shuffled) == kept and resolve(kept) == kept


@settings(max_examples=60)
@given(st.text(alphabet=st.sampled_from("0123456789 .-+@abcDE:/()_=\n\"'" + "пё😀\ud800"), max_size=300))
@example("+" * 30)
@example("+1 ")
@example("-----BEGIN PRIVATE KEY-----" * 3)
def test_any_text_can_be_looked_at(text):
    for group in ("phi", "secrets"):
        for found in open_detection(group, "own").find(text):
            assert 0 <= found.start < found.end <= len(text) and 0 <= found.confidence <= 1


class Counting(str):
    """A text that counts how many characters are taken out of it, or out of what was."""

    taken = 0

    def __getitem__(self, index):
        piece = super().__getitem__(index)
        Counting.taken += len(piece)
        return piece


HOSTILE = [
    "8", "8 ", "1.1.", "a@", "a@b.", "+1 ", "1:", "::", "eyJaaaaaaaa", "-eyJaaaaaaaa", "x.eyJaaaaaaaa", "DE89 ", "4111 ",
    "password: ", "token=", "born 1/", "://a:b@", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n",
    "паспорт ", "(212)", "SG.", "mrn ", "password (", "password (a): ", "password (a) [",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_work_grows_with_the_text_and_not_faster(unit, monkeypatch):
    """Counted in characters that the code behind the patterns reads; the patterns themselves are on a linear engine."""
    from yb_eval_decision.detection import detectors, view

    class CountingView(view.View):
        def __init__(self, text):
            super().__init__(text)
            self.text = Counting(self.text)

    monkeypatch.setattr(detectors, "View", CountingView)

    def work(size):
        Counting.taken = 0
        text = unit * (size // len(unit))
        for group in ("phi", "secrets"):
            open_detection(group, "own").find(text)
        return Counting.taken

    small, large = work(4_000), work(32_000)
    assert large <= 10 * small + 2_000


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_long_hostile_text_is_read_to_its_end(unit):
    text = unit * (200_000 // len(unit)) + " a.b@corp.ru "
    assert "a.b@corp.ru" in text and any(f.type == "EMAIL_ADDRESS" for f in detect_pii(text, detector="own"))
