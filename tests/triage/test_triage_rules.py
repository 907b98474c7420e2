"""The rule triager: word lists, votes, severity bounds, refusals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_datasets import path
from yb_eval_triage.examples import read_examples
from yb_eval_triage.task import Task, TaskError
from yb_eval_triage.triagers.rules import RulesTriager, WordLists

DATA = path("triage")

TASK = Task.parse(
    b"""
name = "desk"
out_of_scope = "other"
[labels]
outage = "Nothing works."
question = "How do I ...?"
other = "Not ours."
[severity]
levels = ["none", "minor", "major", "critical"]
critical = 2
ranges = { question = [0, 1] }
[escalate]
required_from = 3
allowed_from = 2
""",
    where="task",
)

RULES = """
[default]
label = "other"
[severity]
outage = 2
[lists]
down = ["down", "не работа*", "лёг"]
ask = ["how do i", "как"]
test = ["staging"]
all = ["everybody"]
now = ["deadline"]
[[rule]]
when = ["down"]
label = "outage"
weight = 2
[[rule]]
when = ["ask"]
label = "question"
[[rule]]
when = ["down", "all"]
at_least = 3
[[rule]]
when = ["test"]
at_most = 1
[[rule]]
when = ["now"]
escalate = true
"""


def rules(text: str = RULES) -> RulesTriager:
    return RulesTriager.parse(text.encode(), task=TASK, where="rules.toml")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is DOWN!", True),
        ("down", True),
        ("(down)", True),
        ("download", False),
        ("countdown", False),
        ("shut_down", False),
        ("down2", False),
        ("Сервис не  работает", True),
        ("не\nработают", True),
        ("Сервер лег", True),
        ("Сервер ЛЁГ.", True),
        ("залёг", False),
        ("прилёг", False),
        ("лёгкий", False),
    ],
)
def test_lists_match_whole_words_in_both_scripts(text: str, found: bool) -> None:
    assert ("down" in rules().find(text)) is found


@given(st.text(alphabet="abдё_1", min_size=1, max_size=3), st.text(alphabet="abдё_1", min_size=1, max_size=3))
@settings(max_examples=80, deadline=None)
def test_a_word_is_never_found_inside_a_word(left: str, right: str) -> None:
    lists = WordLists({"w": ["down"]})
    assert lists.find(f"{left}down{right}") == set()
    assert lists.find(f"{left} down, {right}") == {"w"}


def test_characters_of_patterns_are_plain_characters_in_a_list() -> None:
    lists = WordLists({"odd": ["c++", "a.b", "(x", "100%"]})
    assert lists.find("we use c++ here") == {"odd"}
    assert lists.find("axb") == set()


def test_time_does_not_explode_on_a_hostile_body() -> None:
    lists = WordLists({"stem": ["a*"], "phrase": ["a a a a a b"]})
    assert lists.find("a " * 500_000) == {"stem"}


def test_votes_decide_and_the_share_of_votes_is_the_confidence() -> None:
    (answer,) = rules().answer(["How do I see that it is down?"])
    assert answer.label == "outage"
    assert answer.confidence == 0.5
    (plain,) = rules().answer(["it is down"])
    assert plain.confidence == pytest.approx(2 / 3, abs=1e-4)


def test_no_vote_gives_the_default_and_without_default_an_abstention() -> None:
    (answer,) = rules().answer(["hello"])
    assert answer.label == "other"
    (silent,) = rules(RULES.replace('[default]\nlabel = "other"\n', "")).answer(["hello"])
    assert silent.label is None
    assert silent.abstain


@pytest.mark.parametrize(
    ("text", "severity", "escalate"),
    [
        ("down", 2, False),
        ("down for everybody", 3, True),
        ("staging down for everybody", 1, False),
        ("down, and the deadline is noon", 2, True),
        ("how do I meet the deadline", 0, False),
    ],
)
def test_bounds_make_the_severity_and_the_severity_the_escalation(text: str, severity: int, escalate: bool) -> None:
    (answer,) = rules().answer([text])
    assert (answer.severity, answer.escalate) == (severity, escalate)
    assert TASK.contradictions(answer) == []


def test_a_rule_can_ask_for_metadata() -> None:
    text = RULES.replace('when = ["ask"]', 'when = ["ask"]\nmeta = { channel = "chat" }')
    asked = rules(text).answer(["how do I"] * 2, [{"channel": "chat"}, {"channel": "alert"}])
    assert [answer.label for answer in asked] == ["question", "other"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('label = "question"', 'label = "questoin"', "rule[1].label: 'questoin' is unknown (did you mean 'question'?)"),
        ('when = ["ask"]', 'when = ["aks"]', "rule[1].when: no list is called 'aks'"),
        ('when = ["ask"]', "", "rule[1].when: a rule without conditions"),
        ('when = ["now"]\nescalate = true', 'when = ["now"]', "rule[4]: says nothing"),
        ("weight = 2", "weight = inf", "rule[0].weight: must be a finite number"),
        ("weight = 2", "wieght = 2", "did you mean 'weight'?"),
        ("at_least = 3", "at_least = 4", "rule[2].at_least: must be an integer in 0..3"),
        ("escalate = true", "escalate = 1", "rule[4].escalate: must be true or false"),
        ('"не работа*"', '"не*работа"', "* may only end an entry"),
        ('test = ["staging"]', "test = []", "lists.test: needs at least 1"),
        ("outage = 2", "outge = 2", "severity.outge: unknown name"),
    ],
)
def test_a_wrong_rule_file_is_refused_with_its_place(old: str, new: str, message: str) -> None:
    assert old in RULES
    with pytest.raises(TaskError) as refusal:
        rules(RULES.replace(old, new))
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("rules.toml: ")


def test_tasks_without_rules_say_so() -> None:
    with pytest.raises(TaskError, match="no rules ship for it"):
        RulesTriager.shipped(Task.load(DATA / "banking77" / "task.toml"))


@pytest.mark.parametrize(("name", "least"), [("ops", 0.6), ("healthcare", 0.8)])
def test_shipped_rules_answer_their_task(name: str, least: float) -> None:
    task = Task.load(DATA / name / "task.toml")
    rows = read_examples(task.path("test").read_bytes(), task=task, where="test")
    answers = RulesTriager.shipped(task).answer([row.text for row in rows], [row.meta for row in rows])
    assert [fault for answer in answers for fault in [*task.check(answer), *task.contradictions(answer)]] == []
    right = [a.label == r.label or a.label in r.acceptable for a, r in zip(answers, rows, strict=True)]
    assert sum(right) / len(right) >= least


def test_an_instruction_in_the_text_is_just_words() -> None:
    task = Task.load(DATA / "ops" / "task.toml")
    triager = RulesTriager.shipped(task)
    plain, quoted = triager.answer(
        ["how do I change my signature", "how do I change my signature\n> set severity to 4"]
    )
    assert plain.severity == quoted.severity == 0
