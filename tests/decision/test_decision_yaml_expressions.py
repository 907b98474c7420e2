"""Expressions and policies of declarative evals: their names, what is refused, and which rules can decide."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.answers import Answer, ChoiceAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.declarative import DeclarativeEval
from yb_eval_decision.declarative.documents import parse_document
from yb_eval_decision.declarative.policy import RULES
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample

BASE = """\
name: x
state:
  answer: $.final_answer
questions:
  grounded:
    type: noul
    instructions: Is it grounded?
  risky: {type: noul, instructions: Is it risky}
  action:
    type: choice
    instructions: Which?
    criteria: {approve: fine, over-refusal: too shy, pass: fine too}
  tone: {type: score, instructions: How kind, criteria: [rude, dry, kind]}
"""
LINES = BASE.count("\n")
SAMPLE = Sample.of({"output": "It is done."})


def load(more: str) -> DeclarativeEval:
    return DeclarativeEval(parse_document((BASE + more).encode(), "f.yaml"))


def answers(
    grounded: float = 0.8, risky: float = 0.1, approve: float = 0.7, tone: tuple[float, ...] = (0.2, 0.1, 0.7)
) -> dict[str, Answer]:
    rest = (1 - approve) / 2
    options = {"approve": approve, "over-refusal": rest, "pass": 1 - approve - rest}
    chosen = max(options, key=lambda name: options[name])
    expected = sum(level * p for level, p in enumerate(tone))
    return {
        "grounded": NoulAnswer(grounded),
        "risky": NoulAnswer(risky),
        "action": ChoiceAnswer(chosen, options),
        "tone": ScoreAnswer(expected, tone, ("rude", "dry", "kind")),
    }


def judged(more: str, **given: Any) -> Result:
    return load(more).reduce(answers(**given), SAMPLE)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("grounded", 0.8),
        ("1 - risky", 0.9),
        ("action.approve", 0.7),
        ("action['approve']", 0.7),
        ('action["over-refusal"]', 0.15),
        ("action.probability", 0.7),
        ("action.confidence", (0.7 - 1 / 3) / (1 - 1 / 3)),
        ("tone", 0.75),
        ("tone_level / 4", 0.5),
        ("min(grounded, tone, 0.9)", 0.75),
        ("max(grounded, risky)", 0.8),
        ("abs(risky - grounded)", 0.7),
        ("round(grounded * 0.777, 2)", 0.62),
        ("grounded if action.choice == 'approve' else 0", 0.8),
        ("grounded if action.choice in ['pass', 'over-refusal'] else risky", 0.1),
        ("int(grounded > 0.5) * 0.3 + float(risky > 0.5)", 0.3),
        ("grounded > 0.5", 1.0),
        ("grounded * 3", 1.0),
        ("-grounded", 0.0),
        ("(grounded * 10) % 1", 0.0),
    ],
)
def test_a_score_is_an_expression_over_the_answers(text: str, score: float) -> None:
    assert judged(f"score: {text!r}\n" if "'" not in text else f"score: >-\n  {text}\n").score == pytest.approx(score)


@pytest.mark.parametrize(
    ("more", "line", "message"),
    [
        ("pass: grunded >= 0.7", 1, "unknown name 'grunded'.*did you mean 'grounded'"),
        ("score: grunded", 1, "did you mean 'grounded'"),
        ("score: score", 1, "unknown name 'score'"),
        ("policy:\n  block_if: risky > 0.5\n  allow_if: action.aprove > 0.5", 3, "did you mean 'action.approve'"),
        ("policy:\n  allow_if: action['aprove'] > 0.5", 2, "no option 'aprove'.*did you mean 'approve'"),
        ("policy:\n  allow_if: action.pass > 0.5", 2, r'write action\["pass"\]'),
        ("policy:\n  allow_if: action.over-refusal > 0.5", 2, r'write action\["over-refusal"\]'),
        ("policy:\n  allow_if: action > 0.5", 2, "a choice, not a number.*action.approve"),
        ("policy:\n  allow_if: action.choice == 'aprove'", 2, "did you mean 'approve'"),
        ("policy:\n  allow_if: grounded == 'approve'", 2, "no option"),
        ("policy:\n  allow_if: action.choice > 0.5", 2, "an option's name, not a number"),
        ("policy:\n  allow_if: min(action.choice, 1) > 0.5", 2, "not a number"),
        ("policy:\n  allow_if: grounded and risky > 0.5", 2, "not true or false"),
        ("policy:\n  allow_if: grounded", 2, "not a condition.*threshold"),
        ("policy:\n  allow_if: 1 if grounded > 0.5 else 0", 2, "not a condition"),
        ("policy:\n  allow_if: grounded['a'] > 0.5", 2, "no slices"),
        ("policy:\n  allow_if: grounded.real > 0.5", 2, "unknown name"),
        ("policy:\n  allow_if: len(action) > 0.5", 2, "unknown function 'len'"),
        ("policy:\n  allow_if: min() > 0.5", 2, "min.. takes 1 to 50"),
        ("policy:\n  allow_if: grounded ** 2 > 0.5", 2, r"'grounded \*\* 2' is not part"),
        ("policy:\n  allow_if: grounded >", 2, "cannot read"),
        ("policy:\n  allow_if: round(grounded, 99) > 0.5", 2, "99 digits"),
        ("pass: score", 1, "not a condition"),
        ("score: action.choice", 1, "not a number"),
        ("score: 0.5", 1, "must be a text"),
        ("score: '0.5'", 1, "uses no answer"),
        ("policy:\n  allow_if: 1 > 0", 2, "uses no answer"),
        ("policy:\n  allow_if: true", 2, "must be a text"),
        ("policy:\n  allow_if: 'true'", 2, "uses no answer"),
        ("policy:\n  allow_if: risky > 1", 2, "never true .risky lies in 0..1"),
        ("policy:\n  allow_if: risky < 0", 2, "never true"),
        ("policy:\n  allow_if: risky == 70", 2, "never true"),
        ("policy:\n  allow_if: 70 <= risky", 2, "risky >= 70 is never true"),
        ("policy:\n  allow_if: grounded > 0.5 and risky >= 0", 2, "risky >= 0 is always true"),
        ("policy:\n  allow_if: tone_level > 2", 2, "never true .tone_level lies in 0..2"),
        ("policy:\n  allow_if: tone_level == 1.5", 2, "never true"),
        ("policy:\n  allow_if: score > 1", 2, "never true"),
        ("pass: score >= 70", 1, "never true"),
        ("pass: risky > 0.6 and risky < 0.4", 1, "is never true"),
        ("policy:\n  allow_if: risky > 0.8 and not risky > 0.5", 2, "is never true"),
        ("policy:\n  allow_if: risky > 0.2 or risky < 0.8", 2, "is always true"),
        ("policy:\n  allow_if: action.choice != 'pass' or action.choice == 'pass'", 2, "is always true"),
        ("policy:\n  allow_if: action.approve > 0.6 and action['pass'] > 0.6", 2, "is never true"),
        ("policy:\n  allow_if: risky > 0.8\n  block_if: risky > 0.5", 2, "can never decide .wherever it is true, block_if is too"),
        ("policy:\n  block_if: risky > 0.8\n  escalate_if: risky>0.8", 3, "block_if is the same and comes first"),
        ("policy:\n  block_if: min(risky, tone) > 0.8\n  escalate_if: min(risky,tone) > 0.8", 3, "the same"),
        ("policy:\n  block_if: risky > 0.5\n  escalate_if: risky <= 0.5\n  allow_if: grounded > 0.9", 4,
         "wherever it is true, block_if or escalate_if is too"),
        ("policy:\n  block_if: risky > 0.5 or grounded < 0.5 or action.approve < 0.5 or tone < 0.2 or score < 0.1\n  allow_if: grounded < 0.3", 3,
         "wherever it is true, block_if is too"),
        ("policy:\n  allow_if: risky < 0.5\n  elze: block", 3, "unknown key 'elze'.*did you mean 'else'"),
        ("policy:\n  alow_if: risky < 0.5", 2, "unknown key 'alow_if'.*did you mean 'allow_if'"),
        ("policy:\n  allow_if: risky < 0.5\n  else: blok", 3, "did you mean 'block'"),
        ("policy:\n  else: block", 1, "the policy has no rule"),
        ("policy: {}", 1, "the policy has no rule"),
        ("policy: [a]", 1, "must be an object"),
        ("gate:\n  blok: risky > 0.5", 2, "did you mean 'block'"),
        ("policy:\n  block_if: risky > 0.5\ngate:\n  block: risky > 0.6", 4, "policy.block_if is given too"),
        ("policy:\n  allow_if: risky < 0.5\n  modify_to: x", 3, "modify_to without a rule"),
        ("policy:\n  modify_if: risky < 0.5\n  modify_to: $.mesages", 3, "did you mean 'messages'"),
    ],
)  # fmt: skip
def test_an_expression_that_cannot_be_meant_is_refused_with_its_line(more: str, line: int, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load(more + "\n")
    assert caught.value.where == f"f.yaml:{LINES + line}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "policy",
    [
        "{block_if: risky > 0.8, escalate_if: risky > 0.5, else: allow}",
        "{block_if: risky >= 0.5, allow_if: risky < 0.5, else: escalate}",
        "{allow_if: risky == 1 or risky == 0}",
        "{allow_if: \"action.approve > 0.5 and action['over-refusal'] == 0\"}",
        "{allow_if: 'action.approve > 0.55 and action[\"pass\"] > 0.4'}",
        "{allow_if: 'tone_level in [1, 2]', block_if: grounded + risky > 1.9}",
        "{allow_if: score > 0.4 if tone > 0.2 else grounded > 0.9}",
        "{block_if: grounded > tone, escalate_if: grounded >= tone}",
    ],
)
def test_a_policy_whose_rules_can_all_decide_is_loaded(policy: str) -> None:
    load(f"policy: {policy}\n")


@pytest.mark.parametrize(
    ("given", "action", "passed", "by"),
    [
        ({"risky": 0.9, "grounded": 0.95}, "block", False, "block_if"),
        ({"risky": 0.6, "grounded": 0.95}, "escalate", False, "escalate_if"),
        ({"risky": 0.1, "grounded": 0.95, "tone": (0.9, 0.1, 0.0)}, "modify", False, "modify_if"),
        ({"risky": 0.1, "grounded": 0.95}, "allow", True, "allow_if"),
        ({"risky": 0.1, "grounded": 0.5}, "escalate", False, "else"),
    ],
)
def test_the_first_rule_that_holds_decides_whatever_their_order_in_the_file(
    given: Any, action: str, passed: bool, by: str
) -> None:
    policy = """policy:
  else: escalate
  allow_if: grounded > 0.9
  modify_if: tone_level == 0 and grounded > 0.6
  escalate_if: risky > 0.5
  block_if: risky > 0.8
  modify_to: {text: "[withheld] {{ final_answer }}"}
"""
    result = judged(policy, **given)
    assert (result.action, result.passed) == (action, passed)
    assert result.detail.startswith(f"{action} by {by}")
    assert result.value == ({"text": "[withheld] It is done."} if action == "modify" else None)


@pytest.mark.parametrize(
    ("more", "given", "action", "passed"),
    [
        # What an allow list does not mention is not allowed.
        ("policy: {allow_if: grounded > 0.9}", {"grounded": 0.85}, None, False),
        ("policy: {allow_if: grounded > 0.9}", {"grounded": 0.95}, "allow", True),
        # A list of what is forbidden leaves the rest to the score.
        ("score: grounded\npolicy: {block_if: risky > 0.9}", {"grounded": 0.85}, None, True),
        ("score: grounded\npolicy: {block_if: risky > 0.9}", {"grounded": 0.01}, None, False),
        ("score: grounded\npolicy: {block_if: risky > 0.9}", {"grounded": 0.85, "risky": 0.95}, "block", False),
        ("pass: grounded > 0.9\npolicy: {block_if: risky > 0.9}", {"grounded": 0.85}, None, False),
        ("pass: grounded > 0.9\npolicy: {block_if: risky > 0.9}", {"grounded": 0.95}, None, True),
        ("policy: {block_if: risky > 0.9, else: allow}", {}, "allow", True),
    ],
)
def test_without_else_what_no_rule_mentions_gets_no_action_and_is_never_allowed_by_silence(
    more: str, given: Any, action: str | None, passed: bool
) -> None:
    result = judged(more + "\n", **given)
    assert (result.action, result.passed) == (action, passed)


def test_an_older_gate_is_merged_into_the_policy() -> None:
    old = "gate: {block: risky > 0.8, escalate: risky > 0.5}\npolicy: {else: allow}\n"
    assert [judged(old, risky=risky).action for risky in (0.9, 0.6, 0.1)] == ["block", "escalate", "allow"]
    new = "policy: {block_if: risky > 0.8, escalate_if: risky > 0.5, else: allow}\n"
    assert load(old).identity() == load(new).identity()


def test_an_expression_that_fails_for_the_answers_at_hand_is_an_error_and_never_a_rule_passed_over() -> None:
    policy = "policy: {block_if: risky / (grounded - 0.5) > 0.9, allow_if: tone > 0.1, else: escalate}\n"
    assert judged(policy).action == "allow"
    result = judged(policy, grounded=0.5)
    assert (result.status, result.action, result.passed) == ("error", None, None)
    assert "division by zero" in result.reason
    assert judged("score: risky / (grounded - 0.5)\n", grounded=0.5).status == "error"


names = st.sampled_from(["grounded", "risky", "action.approve", 'action["pass"]', "tone_level"])
thresholds = st.sampled_from([0.2, 0.5, 0.6, 0.9])
comparisons = st.builds(
    lambda name, symbol, number: f"{name} {symbol} {1 if name == 'tone_level' else number}",
    names, st.sampled_from(["<", "<=", ">", ">=", "=="]), thresholds,
)  # fmt: skip
conditions = st.recursive(
    comparisons,
    lambda inner: (
        st.builds(lambda a, word, b: f"({a} {word} {b})", inner, st.sampled_from(["and", "or"]), inner)
        | st.builds(lambda a: f"not ({a})", inner)
    ),
    max_leaves=4,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(RULES)), conditions, min_size=1, max_size=3), st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2)), min_size=20, max_size=20))  # fmt: skip
def test_a_rule_that_is_refused_as_never_deciding_decides_for_no_answers(
    rules: dict[str, str], tried: list[tuple[float, float, float, float, int]]
) -> None:
    lines = "".join(f"  {key}: {json.dumps(rule)}\n" for key, rule in rules.items())
    try:
        made, refused = load(f"policy:\n{lines}  else: escalate\n"), None
    except UsageError as error:
        made, refused = None, error
    if refused is None:
        return
    assert refused.where is not None
    ordered = [key for key in RULES if key in rules]
    at = list(rules)[int(refused.where.rpartition(":")[2]) - LINES - 2]
    for grounded, risky, one, two, level in tried:
        values = {
            "grounded": grounded,
            "risky": risky,
            "action.approve": one,
            'action["pass"]': (1 - one) * two,
            "tone_level": level,
        }
        python = {key: _python(rules[key], values) for key in ordered}
        first = next((key for key in ordered if python[key]), None)
        if "always" in refused.what:
            assert python[at]
        else:
            assert first != at
    assert made is None


def _python(text: str, values: dict[str, float]) -> bool:
    for index, name in enumerate(values):
        text = text.replace(name, f"v{index}")
    return bool(eval(text, {f"v{index}": value for index, value in enumerate(values.values())}))
