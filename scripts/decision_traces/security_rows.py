"""Rows about attacks and about what must not be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from guards_corpus.credentials import TOKENS
from guards_corpus.rows import Draw

from .rows import Rows, draw
from .scenarios import Scenario, call_of
from .traces import Call, Said, Trace, written, written_call

#: Under which key a tool's result carries a remark.
_REMARKS = ("note", "comment", "memo", "remark", "text")


def add_all(rows: Rows, sc: Scenario) -> None:
    """All security rows of a scenario."""
    _indirect(rows, sc)
    _direct(rows, sc)
    _disclosures(rows, sc)
    _conduct(rows, sc)


def _indirect(rows: Rows, sc: Scenario) -> None:
    """What tools return speaks to the agent, or to people."""
    user, (first, second), injected = Said("user", sc["user"]), sc.calls, sc["injected"]
    key = draw(_REMARKS, "remark", sc.lang, sc.domain)
    hit = Call(second.tool, second.args, {**second.result, key: injected["text"]})
    done = call_of(injected)
    if sc.chosen("injection_ignored"):
        _add(rows, sc, "injection_ignored", sc.trace(user, first, hit, sc["answer"]), {
            "indirect_injection": False, "goal_hijacking": True, "stayed_in_scope": True, "excessive_agency": True,
            "used_tool_result": True})  # fmt: skip
    else:
        _add(rows, sc, "injection_obeyed", sc.trace(user, first, hit, done, injected["answer"]), {
            "indirect_injection": False, "goal_hijacking": False, "stayed_in_scope": False,
            "excessive_agency": False})  # fmt: skip
    harmless = Call(second.tool, second.args, {**second.result, key: sc["lookalike"]})
    if sc.chosen("note_to_people"):
        _add(rows, sc, "note_to_people", sc.trace(user, first, harmless, sc["answer"]),
             {"indirect_injection": True, "goal_hijacking": True, "used_tool_result": True})  # fmt: skip
    elif draw((True, False), "proposed_injected", sc.lang, sc.domain):
        _add(rows, sc, "proposed_injected", sc.trace(user, first, hit), {
            "tool_call_risk": False, "indirect_injection": False, "excessive_agency": False},
            proposed=Call(done.tool, done.args, None), tags=["risk:block"])  # fmt: skip


def _direct(rows: Rows, sc: Scenario) -> None:
    """What users say to take the assistant over, and what only sounds like it."""
    direct, benign, jailbreak = sc["direct"], sc["benign"], sc["jailbreak"]
    if sc.chosen("injection_leaked"):
        _ask(rows, sc, "injection_leaked", direct["user"], direct["leak"],
             {"prompt_injection": False, "system_prompt_leakage": False})  # fmt: skip
    else:
        _ask(rows, sc, "injection_declined", direct["user"], direct["answer"],
             {"prompt_injection": False, "system_prompt_leakage": True, "refusal": "warranted_refusal"})  # fmt: skip
    if not sc.chosen("none_expected"):
        _ask(rows, sc, "sounds_like_injection", benign["user"], benign["answer"],
             {"prompt_injection": True, "jailbreak": True, "system_prompt_leakage": True, "refusal": "answered"})  # fmt: skip
    _ask(rows, sc, "jailbreak_declined", jailbreak["user"], jailbreak["answer"],
         {"jailbreak": False, "toxicity": True, "bias": True, "refusal": "warranted_refusal"})  # fmt: skip
    if "roleplay" in sc:
        told = sc["roleplay"]
        _ask(rows, sc, "harmless_role", told["user"], told["answer"],
             {"jailbreak": True, "toxicity": True, "refusal": "answered"})  # fmt: skip


def _disclosures(rows: Rows, sc: Scenario) -> None:
    """Personal data, health data and credentials in the answer, and what looks like them."""
    asked = sc["user"]
    _ask(rows, sc, "personal_data", asked, sc["pii"], {"pii": False, "toxicity": True})
    _ask(rows, sc, "shared_contact", asked, sc["pii_ok"], {"pii": True, "secrets_exposure": True, "phi": True})
    if "phi" in sc:
        _ask(rows, sc, "health_data", asked, sc["phi"], {"phi": False, "secrets_exposure": True})
    if "phi_ok" in sc:
        _ask(rows, sc, "health_in_general", asked, sc["phi_ok"], {"phi": True, "pii": True})
    if "secret" in sc:
        _secret(rows, sc, asked)
        _ask(rows, sc, "placeholder", asked, sc["secret_ok"], {"secrets_exposure": True})


def _secret(rows: Rows, sc: Scenario, asked: str) -> None:
    """The credential is drawn, was never issued, and is marked so."""
    for slot, maker in {"stripe": "stripe", "github": "github-classic", "aws": "aws-access-key",
                        "database-url": "database-url"}.items():  # fmt: skip
        if f"{{{slot}}}" in sc["secret"]:
            drawn = TOKENS[maker](Draw(f"decision/{sc.lang}/{sc.domain}"))
            answer = sc["secret"].replace(f"{{{slot}}}", drawn)
            _ask(rows, sc, "credential", asked, answer, {"secrets_exposure": False},
                 tags=["synthetic:credential"], credentials=[drawn])  # fmt: skip


def _conduct(rows: Rows, sc: Scenario) -> None:
    """Tone, fairness, advice and topic."""
    asked = sc["user"]
    if sc.chosen("insult"):
        _ask(rows, sc, "insult", asked, sc["toxic"], {"toxicity": False, "secrets_exposure": True, "pii": True})
    if sc.chosen("prejudice"):
        _ask(rows, sc, "prejudice", asked, sc["biased"], {"bias": False})
    if "advice" in sc:
        advice = sc["advice"]
        _ask(rows, sc, "advice_without_caveat", advice["user"], advice["bad"], {"non_advice": False, "toxicity": True})
        _ask(rows, sc, "advice_with_caveat", advice["user"], advice["good"],
             {"non_advice": True, "toxicity": True, "bias": True})  # fmt: skip
    if sc.chosen("off_topic"):
        _ask(rows, sc, "off_topic", asked, sc["offtopic"], {"topic_adherence": False, "non_advice": True}, topics=True)
    else:
        _ask(rows, sc, "on_topic", asked, sc["answer"], {
            "topic_adherence": True, "system_prompt_leakage": True, "prompt_injection": True, "bias": True,
            "non_advice": True, "toxicity": True}, topics=True)  # fmt: skip
    if sc.chosen("declined_politely"):
        told = sc["forbidden"]
        _ask(rows, sc, "declined_politely", told["user"], told["answer"],
             {"topic_adherence": True, "toxicity": True, "pii": True, "bias": True}, topics=True)  # fmt: skip


def _ask(
    rows: Rows,
    sc: Scenario,
    kind: str,
    user: str,
    answer: str,
    labels: Mapping[str, bool | str],
    *,
    topics: bool = False,
    tags: Sequence[str] = (),
    credentials: Sequence[str] = (),
) -> None:
    more = {"allowed_topics": sc["topics"]} if topics else {}
    trace = sc.trace(Said("user", user), answer, tools=False)
    _add(rows, sc, kind, trace, labels, more=more, tags=tags, credentials=credentials)


def _add(
    rows: Rows,
    sc: Scenario,
    kind: str,
    trace: Trace,
    labels: Mapping[str, bool | str],
    *,
    proposed: Call | None = None,
    more: Mapping[str, Any] | None = None,
    tags: Sequence[str] = (),
    credentials: Sequence[str] = (),
) -> None:
    format = sc.format(kind)
    earlier = draw((True, False, False), "earlier", sc.lang, sc.domain, kind)
    if earlier:
        asked, answered = sc["before"]
        trace = Trace(trace.system, trace.tools, [Said("user", asked), Said("assistant", answered), *trace.events])
    sample = {**written(trace, format), **(more or {})}
    if proposed is not None:
        sample["tool_call"] = written_call(proposed, format)
    if earlier:
        sample["goal"] = [event.text for event in trace.events if isinstance(event, Said) and event.role == "user"][1]
    turns = "multi" if earlier else "single"
    rows.add(f"security-{sc.domain}-{sc.lang}-{kind}", sample, labels, [
        f"lang:{sc.lang}", "group:security", f"domain:{sc.domain}", f"scenario:{sc.domain}-{sc.lang}", f"kind:{kind}", f"turns:{turns}",
        f"format:{format}", *tags], credentials)  # fmt: skip
