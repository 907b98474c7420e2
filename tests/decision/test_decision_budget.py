"""What a run takes is told before it asks, and what it may cost is kept."""

import asyncio
import pickle
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from yb_eval import UsageError
from yb_eval_decision import tokens
from yb_eval_decision.backends.base import Limits, Price, Request
from yb_eval_decision.budget import OUTPUT_PER_QUESTION, Budget, Estimate, MaxCost, estimate, request_tokens
from yb_eval_decision.questions import Noul
from yb_eval_decision.running import aevaluate, evaluate_dataset

fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
FakeBackend, Polite, Short, PRICE = (fakes[name] for name in ("FakeBackend", "Polite", "Short", "PRICE"))

SAMPLES = [{"output": f"Thank you for {i}."} for i in range(8)]


def request():
    return Request({"x": "some text"}, {"q": Noul("Is it so?")})


EACH = PRICE.of(request_tokens(request()), 0)


# Estimates


def test_an_estimate_asks_nothing_and_counts_what_would_be_asked():
    backend = FakeBackend(price=Price(input=2.0, output=3.0))
    found = estimate(SAMPLES, [Polite(), Short()], backend)
    assert backend.calls == 0
    assert (found.samples, found.requests, found.questions) == (8, 8, 24)
    assert found.cost_usd == pytest.approx((found.input_tokens * 2 + 24 * OUTPUT_PER_QUESTION * 3) / 1e6)
    evaluate_dataset(SAMPLES, [Polite(), Short()], backend=backend)
    assert len(backend.seen) == found.requests
    assert sum(map(request_tokens, backend.seen)) == found.input_tokens


def test_an_estimate_knows_of_limits_and_isolation():
    assert estimate(SAMPLES[:1], [Polite(), Short()], FakeBackend(), isolate=True).requests == 2
    assert estimate(SAMPLES[:1], [Polite(), Short()], FakeBackend(limits=Limits(questions=1))).requests == 3


def test_samples_that_ask_nothing_take_nothing():
    assert estimate([{}, 7], [Polite()], FakeBackend()) == Estimate(2, 0, 0, 0, 0.0)


def test_an_unknown_price_makes_the_cost_unknown_and_computing_here_costs_nothing():
    assert estimate(SAMPLES, [Polite()], FakeBackend(waits=True)).cost_usd is None
    assert estimate(SAMPLES, [Polite()], FakeBackend()).cost_usd == 0.0


def test_estimates_add_up():
    whole = estimate(SAMPLES, [Polite()], FakeBackend(price=PRICE))
    parts = [estimate([sample], [Polite()], FakeBackend(price=PRICE)) for sample in SAMPLES]
    total = parts[0]
    for part in parts[1:]:
        total += part
    assert total == whole
    assert (Estimate(1, 1, 1, 10, None) + Estimate(1, 1, 1, 10, 0.5)).cost_usd is None
    assert set(whole.to_dict()) == {"samples", "requests", "questions", "input_tokens", "cost_usd"}


def test_tokens_are_estimated_on_the_high_side():
    assert tokens.estimate("x" * 298) == 100
    assert tokens.estimate({"a": [1, 2]}) == 4
    assert tokens.estimate("я" * 149) == 100


# A maximum


def test_what_would_pass_the_limit_is_not_sent_and_says_so():
    backend = FakeBackend(price=PRICE, cost=EACH)
    limited = MaxCost(backend, 2.5 * EACH)
    responses = limited.decide([request() for _ in range(5)])
    assert len(backend.seen) == 2
    assert [response.answers["q"].type for response in responses] == ["noul", "noul", "none", "none", "none"]
    assert responses[2].answers["q"].reason == f"stopped: max cost ${2.5 * EACH:g} reached"
    assert all(response.retry_later for response in responses[2:])
    assert limited.budget.spent == pytest.approx(2 * EACH)


def test_what_cost_less_than_expected_leaves_room_for_more():
    backend = FakeBackend(price=PRICE, cost=EACH / 10)
    responses = MaxCost(backend, 1.5 * EACH).decide([request() for _ in range(6)])
    assert len(backend.seen) == 6
    assert all(response.answers["q"].type == "noul" for response in responses)


def test_a_cost_that_nobody_tells_is_what_was_expected():
    limited = MaxCost(FakeBackend(price=PRICE), 10 * EACH)
    limited.decide([request()])
    assert limited.budget.spent == pytest.approx(EACH)


def test_a_run_stops_in_time_and_its_rest_is_unmeasured():
    backend = FakeBackend(price=PRICE, cost=0.12)
    report = evaluate_dataset(SAMPLES, [Polite()], backend=backend, max_cost=0.5, batch=1)
    counts = report["polite"].counts
    assert len(backend.seen) == counts["measured"] > 0
    assert counts["error"] == 8 - counts["measured"]
    assert report.usage.cost_usd <= 0.5
    assert "stopped: max cost $0.5 reached" in report["polite"].reasons["error"]
    assert report.passed is None


def test_hits_in_a_cache_cost_nothing_of_the_limit(tmp_path):
    path = tmp_path / "answers.sqlite"
    evaluate_dataset(SAMPLES, [Polite()], backend=FakeBackend(price=PRICE, cost=0.1), cache=path)
    report = evaluate_dataset(SAMPLES, [Polite()], backend=FakeBackend(price=PRICE, cost=0.1), cache=path, max_cost=0.0)
    assert report["polite"].counts["measured"] == 8


def test_what_was_stopped_is_not_kept_in_a_cache(tmp_path):
    path = tmp_path / "answers.sqlite"
    evaluate_dataset(SAMPLES, [Polite()], backend=FakeBackend(price=PRICE, cost=0.12), cache=path, max_cost=0.0)
    backend = FakeBackend(price=PRICE, cost=0.12)
    evaluate_dataset(SAMPLES, [Polite()], backend=backend, cache=path)
    assert len(backend.seen) == 8


def test_threads_stay_within_one_budget_together():
    budget = Budget(10 * EACH)
    backends = [FakeBackend(price=PRICE, cost=EACH) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: MaxCost(backends[i % 4], budget).decide([request()]), range(40)))
    assert sum(len(backend.seen) for backend in backends) in (9, 10)  # sums of floats
    assert budget.spent <= 10 * EACH * (1 + 1e-9)


def test_a_backend_that_raises_gives_back_what_was_set_aside():
    budget = Budget(1.5 * EACH)
    backend = FakeBackend(price=PRICE, cost=EACH)
    broken = FakeBackend(price=PRICE)
    broken.decide = lambda requests: 1 / 0
    with pytest.raises(ZeroDivisionError):
        MaxCost(broken, budget).decide([request()])
    assert MaxCost(backend, budget).decide([request()])[0].answers["q"].type == "noul"


def test_the_loop_keeps_the_limit_too():
    backend = FakeBackend(price=PRICE, waits=True, cost=0.1)
    report = asyncio.run(aevaluate(SAMPLES[0], [Polite()], backend=backend, max_cost=0.0))
    assert (backend.calls, report.polite.status) == (0, "error")


def test_an_unknown_price_cannot_be_limited_unless_one_is_given():
    with pytest.raises(UsageError, match="the price of fake is not known"):
        MaxCost(FakeBackend(waits=True), 1.0)
    assert MaxCost(FakeBackend(waits=True), Budget(1.0, price=PRICE)).price is PRICE
    free = FakeBackend()
    MaxCost(free, 0.0).decide([request()])
    assert free.calls == 1


@pytest.mark.parametrize("usd", [-1, float("nan"), float("inf"), True, "1", None])
def test_a_limit_that_is_none_is_refused(usd):
    with pytest.raises(UsageError, match="maximum cost"):
        Budget(usd)


def test_the_limited_backend_is_the_same_backend_to_others_and_closes_it():
    backend = FakeBackend(price=PRICE, limits=Limits(questions=3))
    limited = MaxCost(backend, 1.0)
    assert (limited.spec, limited.fingerprint, limited.limits) == (backend.spec, backend.fingerprint, backend.limits)
    limited.close()
    assert backend.closed
    assert pickle.loads(pickle.dumps(Budget(2.0, price=PRICE))).usd == 2.0
