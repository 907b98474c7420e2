"""A policy is read strictly: whatever cannot be meant is refused in one line that says where and how to mend it."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_routing.pipeline import Pipeline, Policy, PolicyError, load_policy, reference_policy
from yb_eval_routing.pipeline.reachability import reachable

MINIMAL = """
schema = 1
name = "small"

[[tiers]]
name = "simple"
start = 0
start_tokens = 0
model = "little"
output_tokens = 100

[[tiers]]
name = "hard"
start = 0.5
start_tokens = 50
model = "big"
output_tokens = 1000

[[models]]
name = "little"
input_usd_per_million = 0.1
output_usd_per_million = 0.4

[[models]]
name = "big"
input_usd_per_million = 10
output_usd_per_million = 40.5

[[signals]]
name = "proof"
weight = 0.6
high = 2
[signals.words]
en = ["prove | proof", "theorem"]

[[signals]]
name = "trivia"
weight = 0.3
lowers = true
high = 1
[signals.words]
en = ["what is"]

[[rules]]
name = "background"
metadata = { task = ["title"] }
at_most = "simple"

[[rules]]
name = "two-marks"
when = { proof = { at_least = 2 } }
at_least = "hard"

[follow_up]
within_units = 5
words = { en = ["and now"] }
"""


def changed(*replacements: tuple[str, str]) -> bytes:
    """Return the minimal policy with each text replaced once; a text that is not there is an error of the test."""
    text = MINIMAL
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return text.encode("utf-8")


def refusal(source: bytes) -> str:
    with pytest.raises(PolicyError) as caught:
        load_policy(source)
    assert "\n" not in caught.value.message
    assert caught.value.message == str(caught.value)
    return caught.value.message


def test_minimal_policy_is_accepted_and_routes() -> None:
    policy = load_policy(MINIMAL.encode("utf-8"))
    decision = Pipeline(policy).route({"prompt": "Prove the theorem"})
    assert (decision.tier, decision.score, decision.model, decision.rule) == ("hard", 0.6, "big", "two-marks")
    assert decision.matches == {"proof": ("prove", "theorem")}


def test_digest_is_the_sha256_of_the_exact_bytes() -> None:
    data = MINIMAL.encode("utf-8")
    assert load_policy(data).digest == hashlib.sha256(data).hexdigest()
    assert load_policy(data + b"\n").digest == hashlib.sha256(data + b"\n").hexdigest()


def test_path_and_bytes_give_the_same_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(MINIMAL.encode("utf-8"))
    assert load_policy(path) == load_policy(str(path)) == load_policy(MINIMAL.encode("utf-8"))


def test_reference_policy_has_four_reachable_tiers_with_rising_prices() -> None:
    policy = reference_policy()
    assert policy.tier_names == ("simple", "medium", "complex", "reasoning")
    reach = reachable(policy)
    assert reach.tiers == {0, 1, 2, 3}
    assert reach.rules == set(range(len(policy.rules)))
    prices = [policy.model(tier.model).input_price for tier in policy.tiers]
    assert prices == sorted(set(prices))


def test_reference_policy_length_logs_and_tables_alone_stay_below_the_third_tier() -> None:
    policy = reference_policy()
    pasted = [signal for signal in policy.signals if signal.measure in {"units", "log_lines", "table_rows"}]
    assert len(pasted) == 3
    assert sum(signal.weight for signal in pasted) < policy.tiers[2].start


@pytest.mark.parametrize(
    ("replacements", "expected"),
    [
        # boundaries
        ([("start = 0.5", "start = 0")], "tiers[1].start: does not lie above the start of 'simple'"),
        ([("start_tokens = 50", "start_tokens = 0")], "tiers[1].start_tokens: does not lie above"),
        ([("start = 0\n", "start = 0.1\n")], "tiers[0].start: the first tier starts at 0"),
        ([("start = 0.5", "start = nan")], "tiers[1].start: 'NaN' is not a number from 0 to 1"),
        ([("start = 0.5", "start = inf")], "tiers[1].start: 'Infinity' is not a number from 0 to 1"),
        ([("start = 0.5", "start = -0.5")], "tiers[1].start: '-0.5' is not a number from 0 to 1"),
        ([("start = 0.5", "start = 1e999999999")], "tiers[1].start: '1E+999999999' is not a number from 0 to 1"),
        ([("start = 0.5", "start = 0.12345")], "tiers[1].start: '0.12345' has more than 3 decimal places"),
        ([("start = 0.5", "start = true")], "tiers[1].start: True is not a number"),
        # unknown and duplicate names
        (
            [('at_most = "simple"', 'at_most = "simpel"')],
            "rules[0].at_most: unknown tier 'simpel'; did you mean 'simple'?",
        ),
        (
            [('metadata = { task = ["title"] }', 'scored = ["hrad"]\nmetadata = { task = ["title"] }')],
            "rules[0].scored: unknown tier 'hrad'; did you mean 'hard'?",
        ),
        ([("when = { proof", "when = { prof")], "rules[1].when.prof: unknown signal; did you mean 'proof'?"),
        ([('name = "hard"', 'name = "simple"')], "tiers[1].name: tier 'simple' is already defined as tiers[0]"),
        (
            [('name = "big"', 'name = "little"'), ('model = "big"', 'model = "little"')],
            "models[1].name: model 'little'",
        ),
        ([('name = "trivia"', 'name = "proof"')], "signals[1].name: signal 'proof' is already defined as signals[0]"),
        ([('name = "two-marks"', 'name = "background"')], "rules[1].name: rule 'background' is already defined"),
        ([('en = ["what is"]', 'xx = ["what is"]')], "signals[1].words.xx: unknown language; "),
        (
            [('"prove | proof", "theorem"', '"prove | proof", "Proof"')],
            "signals[0].words.en[1]: term 'Proof' is listed twice",
        ),
        # prices
        (
            [('model = "big"', 'model = "bog"')],
            "tiers[1].model: model 'bog' has no price in [[models]]; did you mean 'big'?",
        ),
        ([("output_usd_per_million = 40.5\n", "")], "models[1].output_usd_per_million: model 'big' has no price"),
        (
            [("input_usd_per_million = 10", "input_usd_per_million = -1")],
            "models[1].input_usd_per_million: '-1' is not",
        ),
        ([("= 40.5", '= "free"')], "models[1].output_usd_per_million: 'free' is not a number"),
        # reachability
        ([("start = 0.5", "start = 0.7"), ("at_least = 2 }", "at_least = 3 }")], "tiers[1]: 'hard' cannot be reached"),
        ([("at_least = 2 }", "at_least = 3 }")], "rules[1]: 'two-marks' can never apply"),
        ([('metadata = { task = ["title"] }\n', "")], "tiers[1]: 'hard' cannot be reached"),
        ([('metadata = { task = ["title"] }\nat_most', "at_least")], "rules[1]: 'two-marks' can never apply"),
        # keys and kinds
        ([("weight = 0.6", "wieght = 0.6")], "signals[0].weight: is missing"),
        (
            [("within_units = 5", "within_units = 5\nwithin_unit = 5")],
            "follow_up.within_unit: unknown key; did you mean",
        ),
        ([("schema = 1", "schema = 2")], "schema: 2 is not known"),
        ([("schema = 1", "schema = true")], "schema: True is not a whole number"),
        ([("weight = 0.6", "weight = 0.0")], "signals[0].weight: 0 makes signal 'proof' meaningless"),
        ([("high = 2", "high = 0")], "signals[0].high: 0 is not a whole number from 1"),
        ([("high = 2", 'high = 2\nmeasure = "units"')], "signals[0]: signal 'proof' needs either a measure or words"),
        (
            [('[signals.words]\nen = ["what is"]', 'measure = "unit"')],
            "signals[1].measure: unknown measure 'unit'; did you",
        ),
        ([('"theorem"', '"..."')], "signals[0].words.en[1]: term '...' holds no word"),
        ([('en = ["what is"]', 'zh = ["API接口"]')], "signals[1].words.zh[0]: term 'API接口' is not one run"),
        ([('en = ["what is"]', 'en = ["证明"]')], "signals[1].words.en[0]: term '证明' is written without spaces"),
        (
            [('en = ["what is"]', 'ko = ["왜"]')],
            "signals[1].words.ko[0]: term '왜' starts with a word of one character",
        ),
        (
            [('at_most = "simple"', 'at_most = "simple"\ntier = "hard"')],
            "rules[0]: rule 'background' needs exactly one of",
        ),
        ([("at_least = 2 }", "at_least = 2, at_most = 1 }")], "rules[1].when.proof: at_least 2 lies above at_most 1"),
        ([('name = "little"', 'name = " little"')], "models[0].name: ' little' is not a name"),
        ([('name = "small"', 'name = "a\\nb"')], "name: 'a\\nb' is not a name"),
    ],
)
def test_refusals_say_where_and_what(replacements: list[tuple[str, str]], expected: str) -> None:
    assert refusal(changed(*replacements)).startswith(expected)


def test_overriding_one_boundary_cannot_leave_the_others_stale() -> None:
    reference = files("yb_eval_routing").joinpath("policy.toml").read_text(encoding="utf-8")
    assert "start = 0.35" in reference
    message = refusal(reference.replace("start = 0.35", "start = 0.75").encode("utf-8"))
    assert message.startswith("tiers[3].start: does not lie above the start of 'complex'")


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"schema = ",
        b"\xff\xfe",
        b"schema = 1\nschema = 1\n",
        b"x = " + b"[" * 100_000,
        b"schema = 9" + b"9" * 5000,
        b"tiers = 3\nschema = 1\nname = 'x'\nmodels = []",
        b"[[tiers]]\n" * 3,
    ],
)
def test_broken_documents_are_refused_in_one_line(source: bytes) -> None:
    assert len(refusal(source)) < 300


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read: No such file"):
        load_policy(tmp_path / "nowhere.toml")


def test_boundary_between_two_reachable_scores_is_noticed() -> None:
    # The signal contributes 0, 0.3 or 0.6: a tier from 0.35 up to 0.55 lies between.
    hard = '[[tiers]]\nname = "hard"'
    middle = f'[[tiers]]\nname = "middle"\nstart = 0.35\nstart_tokens = 10\nmodel = "big"\noutput_tokens = 1\n\n{hard}'
    source = changed((hard, middle), ("start = 0.5", "start = 0.55"))
    assert refusal(source).startswith("tiers[1]: 'middle' cannot be reached")
    load_policy(changed((hard, middle), ("start = 0.5", "start = 0.55"), ("0.35", "0.30")))


def test_tier_that_only_a_rule_leads_to_is_reachable() -> None:
    source = changed(("weight = 0.6", "weight = 0.2"), ("start = 0.5", "start = 0.9"))
    policy = load_policy(source)
    assert Pipeline(policy).route({"prompt": "prove the theorem"}).tier == "hard"
    assert Pipeline(policy).route({"prompt": "prove it"}).tier == "simple"


def test_first_rule_that_applies_is_the_only_one() -> None:
    pipeline = Pipeline(load_policy(MINIMAL.encode("utf-8")))
    decision = pipeline.route({"prompt": "prove the theorem", "metadata": {"task": "title"}})
    assert (decision.tier, decision.rule) == ("simple", "background")


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.integers(1, 400), min_size=1, max_size=4),
    highs=st.lists(st.integers(1, 3), min_size=4, max_size=4),
    start=st.integers(1, 1000),
)
def test_reachability_by_score_agrees_with_trying_every_count(weights: list[int], highs: list[int], start: int) -> None:
    signals = "".join(
        f'[[signals]]\nname = "s{index}"\nweight = {weight / 1000:.3f}\nhigh = {highs[index]}\n'
        f'[signals.words]\nany = ["a{index}", "b{index}", "c{index}"]\n'
        for index, weight in enumerate(weights)
    )
    head, _, rest = MINIMAL.partition("[[signals]]")
    source = head.replace("start = 0.5", f"start = {start / 1000:.3f}") + signals + rest[rest.index("[follow_up]") :]
    sums = {0}
    for weight, high in zip(weights, highs, strict=False):
        sums = {total + weight * count // high for total in sums for count in range(high + 1)}
    if max(min(total, 1000) for total in sums) >= start:
        assert isinstance(load_policy(source.encode("utf-8")), Policy)
    else:
        assert re.match(r"tiers\[1\]: 'hard' cannot be reached", refusal(source.encode("utf-8")))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_policy_or_a_one_line_refusal(source: bytes) -> None:
    try:
        load_policy(source)
    except PolicyError as error:
        assert "\n" not in error.message
