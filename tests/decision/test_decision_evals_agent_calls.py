"""The evals of calls that code decides: trajectory match, tool-call F1, and the count before loop detection."""

import importlib.util
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.agent import LoopDetection, ToolCallF1, TrajectoryMatch
from yb_eval_decision.evals.calls import Key, canonical_args, in_common, longest_in_order
from yb_eval_decision.results import Result


def _kit():
    spec = importlib.util.spec_from_file_location(
        "decision_evals_kit", Path(__file__).with_name("decision_evals_kit.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kit = _kit()


def trace(*calls, expected=None, **more):
    """A sample of these calls: names, or (name, args)."""
    made = [{"name": c} if isinstance(c, str) else {"name": c[0], "args": c[1]} for c in calls]
    sample = {"input": "go on", "tool_calls": made, "output": "done", **more}
    return sample if expected is None else {**sample, "expected_tool_calls": expected}


names = st.lists(st.sampled_from(["search", "refund", "mail"]), max_size=6)
arguments = st.fixed_dictionaries({}, optional={"id": st.integers(0, 2), "all": st.booleans()})
calls = st.lists(st.tuples(st.sampled_from(["search", "refund"]), arguments), max_size=6)


def flat(pairs):
    return [{"name": name, "args": args} for name, args in pairs]


# --- the arithmetic, against independent ways to compute it


def brute_pairs(made, expected):
    """The largest matching of a bipartite graph, by trying augmenting paths."""
    taken = {}

    def place(i, seen):
        for j, wanted in enumerate(expected):
            agrees = made[i].name == wanted.name and wanted.args in (None, made[i].args)
            if agrees and j not in seen:
                seen.add(j)
                if j not in taken or place(taken[j], seen):
                    taken[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(made)))


def table_lcs(made, expected):
    rows = [[0] * (len(expected) + 1) for _ in range(len(made) + 1)]
    for i, j in itertools.product(range(len(made)), range(len(expected))):
        agrees = made[i].name == expected[j].name and expected[j].args in (None, made[i].args)
        rows[i + 1][j + 1] = rows[i][j] + 1 if agrees else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


keys = st.builds(Key, st.sampled_from("ab"), st.sampled_from(["1", "2"]))
wanted_keys = st.builds(Key, st.sampled_from("ab"), st.sampled_from(["1", "2", None]))


@given(st.lists(keys, max_size=7), st.lists(wanted_keys, max_size=7))
def test_the_calls_in_common_are_a_largest_matching(made, expected):
    assert in_common(made, expected) == brute_pairs(made, expected)


@given(st.lists(keys, max_size=9), st.lists(wanted_keys, max_size=9))
def test_the_longest_order_is_the_one_of_the_textbook_table(made, expected):
    assert longest_in_order(made, expected) == table_lcs(made, expected)


def test_thousands_of_calls_are_compared_at_once():
    made = [Key("a" if i % 3 else "b", str(i % 7)) for i in range(5000)]
    assert longest_in_order(made, made[::-1]) < 5000 == longest_in_order(made, made)


@given(names, names, st.sampled_from(["strict", "unordered"]))
def test_strict_and_unordered_are_symmetric(made, expected, mode):
    one = kit.result(TrajectoryMatch(mode=mode), trace(*made, expected=expected))
    other = kit.result(TrajectoryMatch(mode=mode), trace(*expected, expected=made))
    assert one.score == other.score


@given(calls, calls, st.sampled_from(["strict", "unordered", "subset", "superset"]), st.booleans())
def test_issue_21_score_and_verdict_of_a_trajectory_agree(made, expected, mode, match_args):
    result = kit.result(TrajectoryMatch(mode=mode, match_args=match_args), trace(*made, expected=flat(expected)))
    assert 0.0 <= result.score <= 1.0
    assert result.passed is (result.score == 1.0)


@given(calls, calls)
def test_a_trajectory_passes_exactly_when_the_lists_or_multisets_are_equal(made, expected):
    def plain(pairs):
        return [(name, json.dumps(args, sort_keys=True)) for name, args in pairs]

    sample = trace(*made, expected=flat(expected))
    got, want = plain(made), plain(expected)

    def passed(mode):
        return kit.result(TrajectoryMatch(mode=mode, match_args=True), sample).passed

    assert passed("strict") is (got == want)
    assert passed("unordered") is (sorted(got) == sorted(want))
    assert passed("subset") is all(got.count(each) <= want.count(each) for each in got)
    assert passed("superset") is all(want.count(each) <= got.count(each) for each in want)


@given(calls, calls)
def test_f1_is_the_harmonic_mean_of_precision_and_recall_over_multisets(made, expected):
    result = kit.result(ToolCallF1(), trace(*made, expected=flat(expected)))
    plain = [[(name, json.dumps(args, sort_keys=True)) for name, args in side] for side in (made, expected)]
    rest = list(plain[1])
    tp = sum(1 for each in plain[0] if each in rest and (rest.remove(each) or True))
    assert (result.evidence["tp"], result.evidence["fp"], result.evidence["fn"]) == (
        tp, len(made) - tp, len(expected) - tp)  # fmt: skip
    if not made and not expected:
        assert result.score == 1.0
    elif tp == 0:
        assert result.score == 0.0
    else:
        p, r = tp / len(made), tp / len(expected)
        assert result.score == pytest.approx(2 * p * r / (p + r))
    assert (result.score == 1.0) is (sorted(plain[0]) == sorted(plain[1]))


@given(calls, calls)
def test_f1_is_symmetric(made, expected):
    one = kit.result(ToolCallF1(), trace(*made, expected=flat(expected)))
    other = kit.result(ToolCallF1(), trace(*expected, expected=flat(made)))
    assert one.score == other.score
    assert one.evidence["precision"] == other.evidence["recall"]


# --- weakness 21, its whole kind


@pytest.mark.parametrize(
    ("mode", "made", "expected", "score", "passed"),
    [
        ("unordered", ["a", "a"], ["a"], 1 / 2, False),  # a duplicate is a difference
        ("unordered", ["a", "b"], ["b", "a"], 1.0, True),
        ("unordered", ["a", "b", "c"], ["a", "d"], 1 / 4, False),
        ("strict", ["a", "b"], ["b", "a"], 1 / 2, False),
        ("strict", ["a", "b", "c"], ["a", "b"], 2 / 3, False),  # extra calls are seen
        ("subset", ["a"], ["a", "b"], 1.0, True),
        ("subset", ["a", "a"], ["a", "b"], 1 / 2, False),
        ("subset", [], ["a"], 1.0, True),
        ("superset", ["a", "b"], ["a"], 1.0, True),
        ("superset", ["a"], ["a", "a"], 1 / 2, False),
        ("superset", [], ["a"], 0.0, False),
    ],
)
def test_issue_21_each_mode_counts_calls_as_often_as_they_were_made(mode, made, expected, score, passed):
    result = kit.result(TrajectoryMatch(mode=mode), trace(*made, expected=expected))
    assert (result.score, result.passed) == (pytest.approx(score), passed)


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset"])
def test_issue_21_no_tool_expected_is_an_expectation(mode):
    assert kit.result(TrajectoryMatch(mode=mode), trace(expected=[])).passed is True
    called = kit.result(TrajectoryMatch(mode=mode), trace("search", expected=[]))
    assert (called.score, called.passed) == (0.0, False)
    assert called.detail.endswith("search called, nothing expected")


def test_issue_21_f1_of_no_tool_expected():
    assert kit.result(ToolCallF1(), trace(expected=[])).score == 1.0
    called = kit.result(ToolCallF1(), trace("search", expected=[]))
    assert (called.score, called.evidence["recall"]) == (0.0, None)


def test_a_sample_that_expects_nothing_in_particular_is_skipped():
    result = kit.result(ToolCallF1(), trace("search"))
    assert (result.status, result.reason) == ("skipped", "missing expected_tool_calls")
    assert not result


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "function", "function": {"name": "search", "arguments": '{"q": "tea", "n": 2}'}},
        {"id": "c1", "function": {"name": "search", "arguments": {"n": 2, "q": "tea"}}},
        {"name": "search", "arguments": '{"n": 2, "q": "tea"}'},
        {"name": "search", "args": {"q": "tea", "n": 2.0}},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "tea", "n": 2}},
        {"type": "function_call", "call_id": "x", "name": "search", "arguments": '{"q":"tea","n":2}'},
        {"tool": "search", "args": {"q": "tea", "n": 2}},
        "search",
    ],
)
def test_issue_21_expected_calls_are_read_in_every_shape(shape):
    sample = trace(("search", {"q": "tea", "n": 2}), expected=[shape])
    assert kit.result(ToolCallF1(), sample).score == 1.0
    assert kit.result(TrajectoryMatch(mode="strict", match_args=True), sample).passed is True


def test_a_bare_name_takes_any_arguments_and_an_empty_object_takes_none():
    sample = trace(("search", {"q": "tea"}), expected=["search"])
    assert kit.result(ToolCallF1(), sample).score == 1.0
    sample = trace(("search", {"q": "tea"}), expected=[{"name": "search", "args": {}}])
    assert kit.result(ToolCallF1(), sample).score == 0.0


def test_an_expected_call_that_is_none_is_an_error_that_names_its_place():
    result = kit.result(ToolCallF1(), trace("search", expected=["search", {"args": {}}]))
    assert result.status == "error"
    assert "expected_tool_calls[1]" in result.reason


def test_calls_of_real_messages_are_compared():
    call = {"id": "c1", "type": "function", "function": {"name": "найти", "arguments": '{"город": "Тверь"}'}}
    messages = [
        {"role": "user", "content": "Какая погода в Твери?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "+3"},
        {"role": "assistant", "content": "В Твери +3."},
    ]
    sample = {"messages": messages, "expected_tool_calls": [{"name": "найти", "args": {"город": "Тверь"}}]}
    assert kit.result(ToolCallF1(), sample).score == 1.0


def test_an_unknown_mode_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="unordered"):
        TrajectoryMatch(mode="unorderd")


def test_a_looser_threshold_passes_a_trajectory_that_is_nearly_right():
    sample = trace("a", "b", "c", expected=["a", "b"])
    assert kit.result(TrajectoryMatch(threshold=0.6), sample).passed is True


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": {"x": 1e3}}, {"a": {"x": 1000}}, True),
        ({"a": "1"}, {"a": 1}, False),
        ({}, {"a": None}, False),
    ],
)
def test_arguments_are_compared_as_json_values(one, other, same):
    assert (canonical_args(one) == canonical_args(other)) is same


# --- loop detection


def looping(*calls, **more):
    return trace(*calls, goal="find the order", **more)


def test_a_trace_without_repeats_passes_and_asks_nothing():
    result = kit.ask(LoopDetection(), looping(("search", {"q": 1}), ("search", {"q": 2}), "refund"))
    assert isinstance(result, Result)
    assert (result.score, result.passed, result.probability) == (1.0, True, 0.0)


@pytest.mark.parametrize("calls", [(), ("search",)])
def test_fewer_than_two_calls_cannot_be_a_loop(calls):
    assert kit.result(LoopDetection(), looping(*calls)).passed is True


def test_repeated_calls_are_for_the_model_which_knows_polling_from_a_loop():
    sample = looping(("poll", {"a": 1, "b": 2}), ("poll", {"b": 2.0, "a": 1}))
    assert list(kit.ask(LoopDetection(insufficient=False), sample).questions) == ["stuck"]
    stuck = kit.result(LoopDetection(), sample, {"stuck": 0.9, "enough": 0.9})
    assert (stuck.score, stuck.passed) == (pytest.approx(0.1), False)
    assert stuck.detail == "poll called 2 times alike in the last 2 calls"
    polling = kit.result(LoopDetection(), sample, {"stuck": 0.2, "enough": 0.9})
    assert (polling.passed, polling.probability) == (True, 0.2)


def test_what_is_undecided_is_not_safe():
    assert kit.result(LoopDetection(), looping("a", "a"), {"stuck": 0.5, "enough": 1.0}).passed is False


def test_only_the_window_is_counted():
    calls = ["poll", "poll", "a", "b", "c"]
    assert isinstance(kit.ask(LoopDetection(window=3), looping(*calls)), Result)
    assert not isinstance(kit.ask(LoopDetection(window=5), looping(*calls)), Result)
    assert isinstance(kit.ask(LoopDetection(window=5, min_repeats=3), looping(*calls)), Result)


def test_the_question_says_how_many_calls_it_is_about():
    asked = kit.ask(LoopDetection(window=4), looping("poll", "poll"))
    assert "last 4 entries" in asked.questions["stuck"].instructions


def test_a_proposed_call_is_the_last_of_the_loop():
    messages = [
        {"role": "user", "content": "find it"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "search", "args": {"q": "x"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "nothing"},
    ]
    proposed = {"name": "search", "args": {"q": "x"}}
    asked = kit.ask(LoopDetection(), {"messages": messages, "tool_call": proposed})
    assert asked.state["actions"] == [
        {"tool": "search", "args": {"q": "x"}, "result": "r0"},
        {"tool": "search", "args": {"q": "x"}, "proposed": True},
    ]
    assert isinstance(kit.ask(LoopDetection(), {"messages": messages}), Result)


def test_a_pending_call_that_is_also_given_as_proposed_counts_once():
    call = {"id": "1", "name": "search", "args": {"q": "x"}}
    messages = [{"role": "user", "content": "find it"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    assert isinstance(kit.ask(LoopDetection(), {"messages": messages, "tool_call": call}), Result)


@pytest.mark.parametrize(
    "wrong",
    [{"window": 1}, {"window": 17}, {"min_repeats": 1}, {"windw": 6}, {"window": "6"}, {"window": 2, "min_repeats": 3}],
)
def test_arguments_of_loop_detection_are_checked(wrong):
    with pytest.raises(UsageError):
        LoopDetection(**wrong)
