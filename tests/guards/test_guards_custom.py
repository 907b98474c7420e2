"""User-defined detectors: what they can say, and that every mistake is refused with its file and line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from yb_eval_guards import CustomDetectorError, Scanner, load_custom
from yb_eval_guards.custom import parse_custom

TAX_ID = """
[[detector]]
name = "steuer-id"
pattern = '\\b[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}\\b'
validator = "stdnum.de.idnr"
context = ["Steuer-ID", "IdNr"]
confidence = 0.9
"""


def scanner(text: str, strength: str = "deny") -> Scanner:
    return Scanner(custom=parse_custom(text), strength=strength)  # type: ignore[arg-type]


def test_a_validator_of_stdnum_and_words_make_a_detector() -> None:
    text = "Meine Steuer-ID: 36 574 261 809."
    (finding,) = scanner(TAX_ID).scan(text)
    assert (finding.type, text[finding.start : finding.end]) == ("steuer-id", "36 574 261 809")
    assert finding.evidence == ("checksum", "context") and finding.confidence == 0.9
    assert scanner(TAX_ID).scan("Meine Steuer-ID: 36 574 261 808.") == []


def test_without_its_words_it_only_warns() -> None:
    assert scanner(TAX_ID).scan("Nummer 36574261809") == []
    (finding,) = scanner(TAX_ID, "warn").scan("Nummer 36574261809")
    assert finding.strength == "warn"


def test_issuer_ranges_and_groups() -> None:
    text = """
[[detector]]
name = "loyalty"
pattern = 'LC-([0-9]{13})\\b'
validator = "luhn"
issuers = ["9900-9905", "77"]
"""
    found = scanner(text)
    number = next(f"99010000000{tail:02d}" for tail in range(100) if _luhn(f"99010000000{tail:02d}"))
    (finding,) = found.scan(f"LC-{number}")
    assert (finding.start, finding.end, finding.evidence) == (3, 16, ("checksum", "issuer"))
    other = next(f"98010000000{tail:02d}" for tail in range(100) if _luhn(f"98010000000{tail:02d}"))
    assert found.scan(f"LC-{other}") == []


def _luhn(number: str) -> bool:
    from yb_eval_guards.checksums import luhn_valid

    return luhn_valid(number)


def test_custom_detectors_read_folded_and_decoded_text() -> None:
    found = scanner("[[detector]]\nname = 'badge'\npattern = 'B-[0-9]{6}'\n")
    assert [finding.value for finding in found.scan("\uff22\u2011\uff11\uff12\uff13\uff14\uff15\uff16")] == ["B-123456"]
    assert "decoded:percent" in found.scan("%42-123456")[0].evidence


def test_a_scanner_with_custom_detectors_is_pickled_and_has_its_own_fingerprint() -> None:
    found = scanner(TAX_ID)
    copy = pickle.loads(pickle.dumps(found))
    assert copy.scan("IdNr 36574261809") == found.scan("IdNr 36574261809") != []
    assert found.fingerprint == copy.fingerprint != Scanner().fingerprint


def test_every_national_number_of_stdnum_is_one_line() -> None:
    for validator, number in {
        "de.idnr": "36 574 261 809",
        "nl.bsn": "111222333",
        "pl.pesel": "44051401359",
        "fr.nir": "2 95 10 99 126 111 93",
        "isbn": "978-9024538270",
        "verhoeff": "2363",
    }.items():
        rule = f"[[detector]]\nname = 'number'\npattern = '[0-9][0-9 -]{{2,30}}[0-9]'\nvalidator = '{validator}'\n"
        assert [finding.type for finding in scanner(rule).scan(f"no. {number};")] == ["number"], validator


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("name = 'a'\npattern = '(['\n", 3, "bad pattern: .*google-re2"),
        ("name = 'a'\npattern = '(?=x)y'\n", 3, "bad pattern: "),
        ("name = 'a'\npattern = 'x*'\n", 3, "matches the empty text"),
        ("name = 'a'\npattern = 'x'\nvalidator = 'stdnum.xx.nothing'\n", 4, "unknown validator 'stdnum.xx.nothing'"),
        ("name = 'a'\npattern = 'x'\nvalidator = 'os.path'\n", 4, "unknown validator 'os.path'"),
        ("name = 'a'\npattern = 'x'\nvalidator = 'util'\n", 4, "has no is_valid"),
        ("name = 'a'\npattern = 'x'\nvalidator = '../x'\n", 4, "validator must be"),
        ("name = 'a'\npattern = 'x'\npatern = 'y'\n", 4, "unknown key 'patern' .did you mean 'pattern'"),
        ("name = 'a'\npattern = 'x'\ncontekst = ['y']\n", 4, "did you mean 'context'"),
        ("name = 'a'\n\n# note\npattern = 7\n", 5, "needs 'pattern', a string"),
        ("pattern = 'x'\n", 1, "needs 'name', a string"),
        ("name = 'A b'\npattern = 'x'\n", 2, "lower-case letters"),
        ("name = 'pan'\npattern = 'x'\n", 2, "is a built-in type"),
        ("name = 'a'\npattern = 'x'\nconfidence = 2\n", 4, "from 0 to 1"),
        ("name = 'a'\npattern = 'x'\nconfidence = nan\n", 4, "from 0 to 1"),
        ("name = 'a'\npattern = 'x'\nconfidence = true\n", 4, "from 0 to 1"),
        ("name = 'a'\npattern = 'x'\ncontext = 'word'\n", 4, "context must be a list"),
        ("name = 'a'\npattern = 'x'\ncontext = ['']\n", 4, "context must be a list"),
        ("name = 'a'\npattern = 'x'\nissuers = ['9-10']\n", 4, "issuer range '9-10'"),
        ("name = 'a'\npattern = 'x'\nissuers = ['20-10']\n", 4, "issuer range '20-10'"),
    ],
)
def test_mistakes_are_refused_with_file_and_line(tmp_path: Path, body: str, line: int, message: str) -> None:
    path = tmp_path / "detectors.toml"
    path.write_text("[[detector]]\n" + body, encoding="utf-8")
    with pytest.raises(CustomDetectorError, match=message) as caught:
        load_custom(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert "\n" not in str(caught.value)


def test_a_name_given_twice_is_refused_at_the_second() -> None:
    rule = "[[detector]]\nname = 'a'\npattern = 'x'\n"
    with pytest.raises(CustomDetectorError, match=r"<string>:5: detector 'a' is defined twice"):
        parse_custom(rule + rule)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", ":1: no "),
        ("[[detector]\n", ":1: not TOML"),
        ("\n\nx ==\n", ":3: not TOML"),
        ("[[detectors]]\nname = 'a'\n", ":1: unknown key 'detectors' .did you mean 'detector'"),
        ("detector = 'x'\n", ":1: 'detector' must be an array"),
    ],
)
def test_files_that_are_no_detector_files_are_refused(text: str, where: str) -> None:
    with pytest.raises(CustomDetectorError, match=where):
        parse_custom(text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CustomDetectorError, match=r"missing.toml:1: cannot be read"):
        load_custom(tmp_path / "missing.toml")


def test_the_line_is_right_after_a_multi_line_string() -> None:
    text = "[[detector]]\nname = 'a'\npattern = '''\n[[detector]]x'''\n[[detector]]\nname = 'b'\npattern = '('\n"
    with pytest.raises(CustomDetectorError, match=r"<string>:7: bad pattern"):
        parse_custom(text)
