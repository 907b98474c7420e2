"""Many evals, few requests: every question is asked once, sees what it needs, and its answer finds its way back."""

import copy
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_decision.asking import EvalSet
from yb_eval_decision.assessing import assess
from yb_eval_decision.backends.base import Limits, Response
from yb_eval_decision.packing import Asked, Packer, agree, unique_names, unpack
from yb_eval_decision.questions import Choice, Noul, Score, Task
from yb_eval_decision.results import Usage
from yb_eval_decision.shares import divided
from yb_eval_decision.splitting import project

fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
Asks, FakeBackend, Polite, Short = (fakes[name] for name in ("Asks", "FakeBackend", "Polite", "Short"))

SAMPLE = {"output": "Thank you."}


def asked(name, state, *ids, **reads):
    return Asked(name, state, {id: Noul(f"{name} {id}?", reads=reads.get(id)) for id in ids})


def pack(*given, limits=None, isolate=False):
    return Packer([one.name for one in given], limits, isolate=isolate).pack(given)


def answers_of(packing, given):
    """Each question answered by its own text, in the place of an answer."""
    responses = [
        Response(answers={id: q.instructions for id, q in packed.request.questions.items()})
        for packed in packing.packed
    ]
    return unpack(given, packing, responses)[0]


# One request


def test_evals_whose_states_agree_make_one_request_with_the_state_of_all():
    packing = pack(asked("a", {"x": 1}, "q"), asked("b", {"x": 1, "y": [2]}, "q", "r"), asked("c", {"z": None}, "q"))
    (packed,) = packing.packed
    assert packed.request.state == {"x": 1, "y": [2], "z": None}
    assert list(packed.request.questions) == ["a.q", "b.q", "b.r", "c.q"]


def test_states_that_disagree_go_to_the_first_request_that_agrees():
    given = [
        asked("a", {"x": 1}, "q"),
        asked("b", {"x": 2}, "q"),
        asked("c", {"x": 2, "y": 0}, "q"),
        asked("d", {}, "q"),
    ]
    packing = pack(*given)
    assert [list(packed.request.questions) for packed in packing.packed] == [["a.q", "d.q"], ["b.q", "c.q"]]
    assert answers_of(packing, given) == [{"q": f"{name} q?"} for name in "abcd"]


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, 1.0), ("1", 1), ({"a": 1}, {"a": True}), ([1], [True])]
)
def test_values_that_a_model_reads_differently_do_not_agree(one, other):
    assert not agree(one, other)
    assert len(pack(asked("a", {"x": one}, "q"), asked("b", {"x": other}, "q")).packed) == 2


def test_equal_values_agree_whatever_objects_they_are():
    value = {"a": [1, {"b": None}], "c": "text"}
    assert agree(value, copy.deepcopy(value))
    assert agree([1, 2], (1, 2))
    assert not agree([1], [1, 2])
    assert not agree({"a": 1}, {"b": 1})


def test_isolated_evals_see_their_own_state_only():
    backend = FakeBackend()
    evals = [Polite(), Asks(shown={"other": 1}, asked={"q": Noul("other?")})]
    assess([SAMPLE], evals, backend, isolate=True)
    assert [dict(request.state) for request in backend.seen] == [{"final_answer": "Thank you."}, {"other": 1}]
    alone = FakeBackend()
    assess([SAMPLE], evals[:1], alone)
    assert alone.seen[0] == backend.seen[0]


def test_an_eval_that_asks_the_same_of_every_sample_costs_no_new_questions():
    backend = FakeBackend()

    class Constant(Polite):
        asked_once = {"q": Noul("polite?")}

        def questions(self, s):
            return self.asked_once

    evals = EvalSet([Constant(), Constant(name="other")])
    assess([{"output": "one"}, {"output": "two"}], evals, backend)
    first, second = backend.seen
    assert first.questions is second.questions
    assert first.state != second.state


# Names


def test_evals_of_one_name_have_results_of_their_own():
    evals = [Polite(), Short(name="polite"), Polite(name="polite_2"), Polite()]
    report = assess([SAMPLE], evals, FakeBackend())[0]
    assert [result.name for result in report.results] == ["polite", "polite_3", "polite_2", "polite_4"]
    assert list(report["polite_3"].answers) == ["q", "r"]
    assert report.polite_2.score == 0.9


@given(st.lists(st.sampled_from(["a", "a_2", "a_3", "a_2_2", "b"]), max_size=12))
def test_unique_names_are_unique_and_keep_the_first_of_each(names):
    made = unique_names(names)
    assert len(set(made)) == len(made) == len(names)
    for name in set(names):
        assert made[names.index(name)] == name


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a.b", "a_b", "a.b.c"]), st.lists(st.sampled_from(["q", "b.q", ".", "", "b.c", "c"]), unique=True)),
        max_size=6,
    )
)  # fmt: skip
def test_ids_with_separators_never_meet(evals):
    names = unique_names(name for name, _ in evals)
    given_ = [
        Asked(name, {}, {id: Noul(f"{at} {id}?") for id in ids})
        for at, (name, (_, ids)) in enumerate(zip(names, evals))
    ]
    packing = pack(*given_)
    found = answers_of(packing, given_)
    assert found == [{id: f"{at} {id}?" for id in one.questions} for at, one in enumerate(given_)]


# Properties


VALUES = st.sampled_from([0, 1, True, "text", None, [1], {"k": 1}])
STATES = st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3)
READS = st.none() | st.lists(st.sampled_from(["x", "y", "z", "x.k"]), max_size=2).map(tuple)


@st.composite
def all_asked(draw):
    made = []
    for index in range(draw(st.integers(0, 6))):
        ids = draw(st.lists(st.sampled_from("pqrs"), unique=True, min_size=1))
        questions = {id: Noul(f"e{index}.{id}?", reads=draw(READS)) for id in ids}
        made.append(Asked(f"e{index}", draw(STATES), questions))
    return made


LIMITS = st.builds(
    Limits,
    request_tokens=st.none() | st.integers(270, 330),
    questions=st.none() | st.integers(1, 4),
    body_bytes=st.none() | st.integers(60, 400),
)


@given(all_asked(), LIMITS, st.booleans())
def test_every_question_is_asked_once_or_known_as_an_error_and_keeps_its_place(given_, limits, isolate):
    packing = pack(*given_, limits=limits, isolate=isolate)
    sent = [(part.index, own) for packed in packing.packed for part in packed.parts for own, _ in part.ids]
    known = list(packing.known)
    assert sorted([*sent, *known]) == sorted((i, id) for i, one in enumerate(given_) for id in one.questions)
    assert all(none.state == "error" for none in packing.known.values())
    for index, (one, found) in enumerate(zip(given_, answers_of(packing, given_))):
        assert list(found) == list(one.questions)
        for id, answer in found.items():
            assert answer == one.questions[id].instructions or (index, id) in packing.known


@given(all_asked(), LIMITS, st.booleans())
def test_no_request_passes_the_limits(given_, limits, isolate):
    for packed in pack(*given_, limits=limits, isolate=isolate).packed:
        assert limits.request_tokens is None or packed.input_tokens <= limits.request_tokens
        assert limits.questions is None or len(packed.request.questions) <= limits.questions


@given(all_asked(), LIMITS, st.booleans())
def test_a_question_sees_the_state_of_its_eval_or_all_that_it_reads_of_it(given_, limits, isolate):
    for packed in pack(*given_, limits=limits, isolate=isolate).packed:
        state = packed.request.state
        for part in packed.parts:
            one = given_[part.index]
            for own, _ in part.ids:
                reads = one.questions[own].reads
                needed = one.state if reads is None else project(one.state, reads)
                assert all(key in state for key in needed)
                if "x" in needed and (reads is None or "x.k" not in reads):
                    assert agree(state["x"], needed["x"])


@given(all_asked())
def test_without_limits_the_states_together_are_what_is_sent(given_):
    packing = pack(*given_)
    assert not packing.known
    for packed in packing.packed:
        for part in packed.parts:
            for key, value in given_[part.index].state.items():
                assert agree(packed.request.state[key], value)
        keys = {key for part in packed.parts for key in given_[part.index].state}
        assert set(packed.request.state) == keys


@given(all_asked(), LIMITS)
def test_packing_is_the_same_every_time(given_, limits):
    packer = Packer([one.name for one in given_], limits)
    first, second, fresh = packer.pack(given_), packer.pack(given_), pack(*given_, limits=limits)
    assert first == second == fresh


# Limits


CLAIMS = {f"c{i}": "x" * 300 for i in range(10)}


def claims_eval(**more):
    questions = {id: Noul(f"Is claims.{id} supported?", task=Task("support", {"claim": f"claims.{id}", "evidence": "evidence"}))
                 for id in CLAIMS}  # fmt: skip
    return Asked("grounded", {"evidence": "e" * 100, "claims": CLAIMS, "noise": "n" * 6000, **more}, questions)


def test_an_eval_that_is_too_large_is_divided_and_each_question_sees_what_it_reads():
    limits = Limits(request_tokens=1000)
    packing = pack(claims_eval(), limits=limits)
    assert not packing.known
    assert len(packing.packed) > 1
    for packed in packing.packed:
        state = packed.request.state
        assert list(state) == ["evidence", "claims"]
        assert [f"grounded.{id}" for id in state["claims"]] == list(packed.request.questions)


def test_a_question_that_fits_nowhere_is_an_error_that_names_size_and_limit_and_spares_the_others():
    one = claims_eval()
    big = Asked("grounded", {**one.state, "claims": {**CLAIMS, "c3": "y" * 9000}}, one.questions)
    packing = pack(big, limits=Limits(request_tokens=1000))
    assert list(packing.known) == [(0, "c3")]
    assert "tokens, the backend takes 1,000" in packing.known[0, "c3"].reason
    assert sum(len(packed.request.questions) for packed in packing.packed) == 9


def test_evals_are_parted_before_an_eval_is_divided():
    given_ = [asked("a", {"x": "x" * 900}, "q", "r"), asked("b", {"y": "y" * 900}, "q", "r"), asked("c", {"z": 1}, "q")]
    packing = pack(*given_, limits=Limits(request_tokens=660))
    assert [list(packed.request.questions) for packed in packing.packed] == [["a.q", "a.r", "c.q"], ["b.q", "b.r"]]
    assert packing.packed[1].request.state == {"y": "y" * 900}


def test_too_many_questions_are_divided_with_their_whole_state():
    packing = pack(asked("a", {"x": 1}, *"pqrst"), limits=Limits(questions=2))
    assert [len(packed.request.questions) for packed in packing.packed] == [2, 2, 1]
    assert all(packed.request.state == {"x": 1} for packed in packing.packed)


def test_a_question_with_more_options_than_the_backend_takes_is_an_error_of_its_own():
    wide = Asked(
        "a",
        {},
        {
            "q": Choice("?", options=[f"o{i}" for i in range(20)]),
            "r": Score("?", levels=list("abcdef")),
            "s": Noul("?"),
        },
    )
    packing = pack(wide, limits=Limits(options=10, levels=5))
    assert "20 options, the backend takes 10" in packing.known[0, "q"].reason
    assert "6 levels, the backend takes 5" in packing.known[0, "r"].reason
    assert [list(packed.request.questions) for packed in packing.packed] == [["a.s"]]


def test_a_state_that_is_not_json_is_an_error_of_its_eval_only():
    given_ = [asked("a", {"x": 1}, "q"), asked("b", {"y": {1, 2}}, "q"), asked("c", {"z": float}, "q")]
    packing = pack(*given_)
    assert sorted(packing.known) == [(1, "q"), (2, "q")]
    assert "state: not JSON" in packing.known[1, "q"].reason
    assert packing.packed[0].request.state == {"x": 1}


def test_integers_and_texts_that_are_hard_to_write_are_json_all_the_same():
    packing = pack(asked("a", {"big": 10**30, "half": "\ud800"}, "q"))
    assert not packing.known


# Projection


STATE = {"a": {"b": {"c": 1, "d": 2}, "e": 3}, "f": [{"g": 1}], "h.i": 4}


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (["a.b.c"], {"a": {"b": {"c": 1}}}),
        (["a.b.c", "a.e"], {"a": {"b": {"c": 1}, "e": 3}}),
        (["a.b.c", "a"], {"a": STATE["a"]}),
        (["f.0.g"], {"f": [{"g": 1}]}),
        (["h.i"], {"h.i": 4}),
        (["nothing", "a.nothing"], {}),
        (["f", "a.e"], {"a": {"e": 3}, "f": [{"g": 1}]}),
        ([], {}),
    ],
)
def test_a_projection_shows_what_the_paths_name_in_the_order_of_the_state(paths, shown):
    before = copy.deepcopy(STATE)
    assert project(STATE, paths) == shown
    assert list(project(STATE, paths)) == [key for key in STATE if key in shown]
    assert before == STATE


# Usage


@given(
    st.builds(
        Usage,
        requests=st.integers(0, 5), questions=st.integers(0, 50), input_tokens=st.integers(0, 10**7), output_tokens=st.integers(0, 10**5),
        cost_usd=st.none() | st.floats(0, 1e3), cost_complete=st.booleans(), retries=st.integers(0, 9), cached=st.integers(0, 50),
        latency_ms=st.floats(0, 1e6), backend=st.sampled_from([None, "x"]),
    ),
    st.lists(st.integers(1, 40), min_size=1, max_size=9),
)  # fmt: skip
def test_shares_of_a_usage_sum_to_it_exactly(usage, weights):
    shares = divided(usage, weights)
    assert len(shares) == len(weights)
    for name in ("requests", "questions", "input_tokens", "output_tokens", "retries", "cached", "latency_ms"):
        parts = [getattr(share, name) for share in shares]
        assert sum(parts) == getattr(usage, name)
        assert sum(reversed(parts)) == getattr(usage, name)
        assert min(parts) >= 0
    if usage.cost_usd is None:
        assert all(share.cost_usd is None for share in shares)
    else:
        assert sum(share.cost_usd for share in shares) == usage.cost_usd


def test_an_eval_pays_for_its_share_of_the_questions():
    report = assess([SAMPLE], [Polite(), Short()], FakeBackend(cost=0.3))[0]
    assert report["polite"].usage.input_tokens == 40
    assert report["short"].usage.input_tokens == 80
    assert report["polite"].usage.cost_usd == pytest.approx(0.1)
    assert sum(result.usage.input_tokens for result in report.results) == report.usage.input_tokens == 120
    assert report.usage.requests == 1


# The example of the library's users


def test_the_eight_evals_of_the_example_make_one_request():
    from yb_eval_decision.agent import Grounded, StayedInScope, ToolChoice, UsedToolResult
    from yb_eval_decision.quality import AnswerRelevancy, Completeness
    from yb_eval_decision.security import PHI, IndirectInjection

    messages = [
        {"role": "user", "content": "Where is my order 1017? Mail me at kim@example.org."},
        {"role": "assistant", "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "lookup_order", "arguments": '{"id": 1017}'}}]},
        {"role": "tool", "tool_call_id": "t1", "content": "Order 1017 left the warehouse on Monday."},
        {"role": "assistant", "content": "Your order left our warehouse on Monday. Diagnosis code E11.9 is on file for you."},
    ]  # fmt: skip
    tools = [{"type": "function", "function": {"name": "lookup_order", "description": "Looks up an order."}}]
    evals = [ToolChoice(), UsedToolResult(), Grounded(), StayedInScope(),
             AnswerRelevancy(), Completeness(), IndirectInjection(), PHI()]  # fmt: skip
    backend = FakeBackend()
    report = assess([{"messages": messages, "tools": tools}], evals, backend)[0]
    assert len(backend.seen) == report.usage.requests == 1
    assert [result.name for result in report.results] == [one.name for one in evals]
    asked_by = {id.partition(".")[0] for id in backend.asked}
    assert {"tool_choice", "used_tool_result", "grounded", "stayed_in_scope", "answer_relevancy", "completeness",
            "indirect_injection"} <= asked_by  # fmt: skip
