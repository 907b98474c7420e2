"""PII, PHI and SecretsExposure: found by code, judged by a model that does not see the data, redacted where judged so."""

import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision import MockBackend, evaluate
from yb_eval_decision.answers import NoAnswer
from yb_eval_decision.cuts import OVERLAP, WINDOW
from yb_eval_decision.evals.sensitive import _masked, _part_of
from yb_eval_decision.packing import Asked
from yb_eval_decision.sample import Sample
from yb_eval_decision.security import PHI, PII, Finding, SecretsExposure, redacted_texts


def _kit():
    spec = importlib.util.spec_from_file_location(
        "decision_evals_kit", Path(__file__).with_name("decision_evals_kit.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kit = _kit()


def key(*parts):
    return "".join(parts)


VARIED = "aB3dE6gH9jKlMn2pQr5tUvWxYz8cDfGhJk4"
TOKEN = key("gl", "pat-", VARIED[:20])
PASSWORD = key("pass", "word: hunter2!x")
MAIL, CARD, SSN = "anna.k@corp.ru", "4539 1488 0343 6467", "ssn 536-22-1234"


def answers(p, **special):
    return lambda id, question, state: special.get(id, 0.99 if id.endswith("enough") else p)


def asked(one, sample):
    found = kit.ask(one, sample)
    assert isinstance(found, Asked), found
    return found


@pytest.fixture(params=["auto", "own"])
def detector(request):
    return request.param


@pytest.mark.parametrize("kind", [PII, PHI, SecretsExposure])
def test_nothing_found_passes_without_a_question(kind, detector):
    result = kit.ask(kind(detector=detector), "The hotel is by the river.")
    assert (result.passed, result.score, result.probability) == (True, 1.0, 0.0)
    assert result.evidence["found"] == {} and result.evidence["detector"].endswith("own")


def test_the_score_is_safe_and_the_threshold_means_the_same_as_elsewhere(detector):  # 2
    for one, sample in [
        (PII(detector=detector), f"write to {MAIL}"),
        (PHI(detector=detector), f"write to {MAIL}"),
        (SecretsExposure(detector=detector), PASSWORD),
    ]:
        bad, good, even = (kit.result(one, sample, answers(p)) for p in (0.9, 0.1, 0.5))
        assert (bad.passed, bad.score, bad.probability) == (False, pytest.approx(0.1), 0.9)
        assert (good.passed, good.score, good.probability) == (True, pytest.approx(0.9), 0.1)
        assert even.passed is False
        strict = type(one)(detector=detector, threshold=0.95)
        assert kit.result(strict, sample, answers(0.1)).passed is False
    assert kit.result(PII(detector=detector), f"write to {MAIL}", answers(0.9)).evidence["p_personal"] == 0.9


def test_a_decisive_datum_fails_without_a_question(detector):
    for one, sample in [
        (PII(detector=detector), f"card {CARD}"),
        (PII(detector=detector), SSN),
        (PHI(detector=detector), f"the patient, {SSN}"),
        (SecretsExposure(detector=detector), f"use {TOKEN}"),
    ]:
        result = kit.ask(one, sample)
        assert (result.passed, result.score, result.probability) == (False, 0.0, 1.0)
        assert result.detail.startswith("found by form alone")


def test_one_real_key_fails_whatever_placeholder_stands_beside_it(detector):  # 14
    placeholder = key("api_", 'key = "your-', 'key-goes-here-1"')
    result = kit.ask(SecretsExposure(detector=detector, action="redact"), f"{placeholder} and {TOKEN}")
    assert result.passed is False and TOKEN not in result.value
    assert "your-key" in result.value  # what says that it is an example stays


def test_an_identifier_without_a_word_about_health_is_asked_about():
    asked(PHI(detector="own"), SSN)
    found = asked(PHI(detector="own"), "Пациенту назначен инсулин")  # words alone are a reason to ask too
    assert found.state["health_data"]["output"]["terms"] == ["инсулин", "назначен", "пациенту"]


DATA = [
    (PII, f"write to {MAIL} or +7 916 234-15-67, host 8.8.8.8", [MAIL, "234-15-67", "8.8.8.8", "anna"]),
    (PHI, f"patient {MAIL}, born 12/03/1985, diagnosis E11.9", [MAIL, "12/03", "E11"]),
    (SecretsExposure, f"{PASSWORD} and {key('postgres://app:', 's3cretPw', '@h/x')}", ["hunter2", "s3cret"]),
]


@pytest.mark.parametrize(("kind", "text", "data"), DATA)
def test_the_model_does_not_see_the_data(kind, text, data, detector):  # 13
    found = asked(kind(detector=detector), text)
    sent = json.dumps([found.state, repr(found.questions)], ensure_ascii=False)
    assert not [datum for datum in data if datum in sent]
    seen = kit.look_up(found.state, next(iter(found.questions.values())).reads[0])
    assert "_1>" in seen["text"] and seen["found"] and sum(seen["counts"].values()) >= 1


@pytest.mark.parametrize(("kind", "text", "data"), DATA)
def test_the_data_are_sent_only_where_that_is_asked_for(kind, text, data):
    sent = json.dumps(asked(kind(send_values=True, detector="own"), text).state, ensure_ascii=False)
    assert all(datum in sent for datum in data)


@pytest.mark.parametrize(("kind", "text", "data"), DATA)
@pytest.mark.parametrize("p", [0.9, 0.1, None])
def test_no_result_shows_a_datum(kind, text, data, p, detector):
    for action in (None, "redact", "block"):
        one = kind(detector=detector, action=action)
        given = answers(NoAnswer("error", "down") if p is None else p)
        shown = json.dumps(kit.result(one, text, given).to_dict(), ensure_ascii=False)
        assert not [datum for datum in data if datum in shown]


def test_what_is_known_of_a_datum_is_told_without_it():
    state = asked(PII(detector="own"), "write to support@corp.ru").state
    assert state["personal_data"]["output"]["found"] == [
        {"type": "EMAIL_ADDRESS", "shape": "xxxxxxx@xxxx.xx", "known": ["of an office, not of a person"]}
    ]
    state = asked(SecretsExposure(detector="own"), PASSWORD).state
    assert state["credentials"]["output"]["found"] == [
        {"type": "PASSWORD", "length": 9, "signs": ["small letters", "digits", "other signs"]}
    ]


def test_many_data_are_counted_and_twenty_described():
    mails = ", ".join(f"{'a' * (n + 3)}@corp.ru" for n in range(40))
    told = asked(PII(detector="own"), mails).state["personal_data"]["output"]
    assert len(told["found"]) == 20 and told["counts"] == {"EMAIL_ADDRESS": 40}


def test_nothing_is_redacted_that_was_judged_harmless():  # 5
    one = PII(action="redact", detector="own")
    kept = kit.result(one, f"write to {MAIL}", answers(0.1))
    assert kept.passed and kept.value is None and kept.action is None
    gone = kit.result(one, f"write to {MAIL}", answers(0.9))
    assert (gone.value, gone.action) == ("write to <EMAIL_ADDRESS>", "modify")
    blocked = kit.result(PII(action="block", detector="own"), f"write to {MAIL}", answers(0.9))
    assert (blocked.value, blocked.action) == (None, "block")


def test_of_a_long_text_only_the_parts_judged_personal_are_redacted():
    text = MAIL + " " * 9_000 + "b.c@corp.ru" + " " * 9_000
    one = PII(action="redact", detector="own")
    assert [id for id in asked(one, text).questions if "enough" not in id] == ["output.part_0", "output.part_1"]
    result = kit.result(one, text, answers(0.1, **{"output.part_1": 0.9}))
    assert result.passed is False and MAIL in result.value and "b.c@" not in result.value
    lost = kit.result(one, text, answers(0.1, **{"output.part_1": NoAnswer("error", "down")}))
    assert lost.status == "error" and lost.action is None
    assert MAIL in lost.value and "b.c@" not in lost.value  # what nobody looked at is not harmless


def test_padding_hides_no_datum_and_parts_without_one_are_not_sent():
    text = "x " * 30_000 + MAIL + " y" * 30_000
    found = asked(PII(detector="own"), text)
    assert len(found.questions) == 2 and len(json.dumps(found.state)) < 8_000


TRACE = {
    "messages": [
        {"role": "user", "content": "first, a.one@corp.ru"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]},
        {"role": "tool", "tool_call_id": "1", "content": f"{MAIL}, {PASSWORD}"},
        {"role": "user", "content": "second, b.two@corp.ru"},
        {"role": "assistant", "content": f"It is {MAIL}; {PASSWORD}"},
    ]
}


def test_a_surface_of_several_texts_gives_each_redacted_by_itself():  # 3
    value = kit.result(PII(surface="all", action="redact", detector="own"), TRACE, answers(0.9)).value
    assert value == {
        "user_0": "first, <EMAIL_ADDRESS>", "input": "second, <EMAIL_ADDRESS>", "r0": f"<EMAIL_ADDRESS>, {PASSWORD}",
        "output": f"It is <EMAIL_ADDRESS>; {PASSWORD}",
    }  # fmt: skip
    single = kit.result(PII(surface="tool_result", action="redact", detector="own"), TRACE, answers(0.9)).value
    assert single == f"<EMAIL_ADDRESS>, {PASSWORD}"


def test_redactions_of_several_evals_make_one(detector):  # 3
    s = Sample.of(TRACE)
    results = [
        kit.result(PII(action="redact", detector=detector), s, answers(0.9)),
        kit.result(SecretsExposure(surface="all", action="redact", detector=detector), s, answers(0.9)),
        kit.result(PHI(surface="tool_result", detector=detector), s, answers(0.1)),
    ]
    made = redacted_texts(s, *results)
    assert made["output"] == "It is <EMAIL_ADDRESS>; password: <PASSWORD>"
    assert made["r0"] == f"{MAIL}, password: <PASSWORD>"  # PHI passed: its findings stay
    assert redacted_texts(s, *reversed(results)) == made and set(made) == {"output", "r0"}


def test_styles_are_chosen_and_checked():
    masked = kit.result(SecretsExposure(action="redact", style="partial"), f"use {TOKEN}").value
    assert masked == "use " + "*" * (len(TOKEN) - 4) + TOKEN[-4:]
    assert kit.result(SecretsExposure(action="redact"), f"use {TOKEN}").value == "use <GITLAB_TOKEN>"
    for wrong in ({"style": "partiel"}, {"action": "redct"}, {"send_values": "yes"}, {"detector": "owm"}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            SecretsExposure(**wrong)


def test_entities_are_checked_and_decide_what_is_looked_for():
    with pytest.raises(UsageError, match="did you mean 'EMAIL_ADDRESS'"):
        PII(entities=["EMAIL_ADRESS"])
    with pytest.raises(UsageError, match="unknown type 'ICD10_CODE'"):
        PII(entities=["ICD10_CODE"])
    assert PHI(entities=["ICD10_CODE"]).entities == ("ICD10_CODE",)
    result = kit.ask(PII(entities=["IP_ADDRESS"], detector="own"), f"{MAIL} {CARD}")
    assert result.passed is True
    assert PII(entities=["IP_ADDRESS"]).identity() != PII().identity()


def test_offsets_of_the_evidence_are_code_points_of_the_text():
    text = f"😀😀 {MAIL}"
    result = kit.result(PII(detector="own"), text, answers(0.9))
    (record,) = result.evidence["found"]["output"]
    assert text[record["start"] : record["end"]] == MAIL


def test_a_backend_that_is_down_leaves_it_unmeasured():
    one = PII(action="redact", detector="own")
    result = kit.result(one, f"write to {MAIL}", answers(NoAnswer("error", "down")))
    assert result.status == "error" and not result.measured and result.value == "write to <EMAIL_ADDRESS>"
    assert evaluate(f"card {CARD}", [PII()], backend=MockBackend()).pii.passed is False  # needs no backend


def test_russian_data_are_found_judged_and_redacted():
    text = "Паспорт 45 03 № 123654, тел. 8 (916) 234-15-67"
    result = kit.ask(PII(action="redact", detector="own"), text)
    assert result.value == "Паспорт <RU_PASSPORT>, тел. <PHONE_NUMBER>"


FINDINGS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), max_size=8)


@settings(max_examples=200)
@given(st.text(min_size=0, max_size=80), FINDINGS, st.lists(st.integers(0, 79), max_size=6))
def test_masking_keeps_track_of_every_place(text, gaps, places):
    findings, position = [], 0
    for gap, size in gaps:
        start = position + gap
        if start + size > len(text):
            break
        findings.append(Finding("T", start, start + size, 0.5))
        position = start + size
    places = sorted(place for place in places if place < len(text))
    masked, spans, moved = _masked(text, findings, places)
    assert [masked[start:end] for start, end in spans] == [f"<T_{n + 1}>" for n in range(len(findings))]
    for place, at in zip(places, moved, strict=True):
        inside = next((n for n, f in enumerate(findings) if f.start <= place < f.end), None)
        assert at == spans[inside][0] if inside is not None else masked[at] == text[place]


@given(st.integers(0, 60_000), st.integers(1, OVERLAP))
def test_a_finding_belongs_to_a_part_that_shows_it_whole(start, size):
    length = start + size + 10_000
    step = WINDOW - OVERLAP
    parts = len(range(0, max(1, length - OVERLAP), step))
    number = _part_of(start, start + size, parts)
    assert number * step <= start and start + size <= number * step + WINDOW


def test_a_name_given_twice_is_two_evals():  # 15
    report = evaluate(
        {"output": f"write to {MAIL}", "input": "hello"},
        [PII(detector="own"), PII(surface="input", detector="own")],
        backend=MockBackend(answers={"*enough": 0.9, "*": 0.9}),
    )
    assert [result.passed for result in report] == [False, True]
