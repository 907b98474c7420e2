"""How work and memory grow, counted and not timed."""

import gc
import runpy
import sys
import tracemalloc
from pathlib import Path

from yb_eval_decision import packing, tokens
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.backends.base import Limits
from yb_eval_decision.packing import Asked, Packer
from yb_eval_decision.questions import Noul
from yb_eval_decision.running import evaluate_dataset

fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
FakeBackend, Polite, Short = (fakes[name] for name in ("FakeBackend", "Polite", "Short"))


class Forgetful(FakeBackend):
    """Keeps no requests."""

    def decide(self, requests):
        self.seen.clear()
        return super().decide(requests)


def calls(work):
    """How many functions `work` calls."""
    count = 0

    def profile(frame, event, arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def run(n):
    evaluate_dataset(({"output": f"Thank you for {i}."} for i in range(n)), [Polite(), Short()], backend=Forgetful())


def test_work_grows_in_line_with_the_samples():
    run(10)
    few, many = calls(lambda: run(100)), calls(lambda: run(1000))
    assert many < 11 * few


def test_memory_does_not_grow_with_the_samples():
    def peak(n):
        gc.collect()
        tracemalloc.start()
        run(n)
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    run(10)
    assert peak(3000) < peak(300) + 200_000


def test_questions_that_are_the_same_for_every_sample_are_measured_once(monkeypatch):
    encoded = []
    monkeypatch.setattr(tokens, "encode", lambda value, encode=tokens.encode: encoded.append(value) or encode(value))
    questions = {"q": Noul("Is it so?")}
    packer = Packer(["a"], Limits(request_tokens=5000))
    for i in range(50):
        packer.pack([Asked("a", {"x": i}, questions)])
    assert sum("instructions" in value for value in encoded) == 1


def test_dividing_many_questions_takes_work_in_line_with_them():
    def divide(n):
        claims = {f"c{i}": "x" * 50 for i in range(n)}
        questions = {id: Noul(f"Is claims.{id} so?", reads=(f"claims.{id}", "evidence")) for id in claims}
        one = Asked("a", {"claims": claims, "evidence": "e" * 500}, questions)
        return calls(lambda: packing.Packer(["a"], Limits(request_tokens=1000)).pack([one]))

    divide(10)
    few, many = divide(200), divide(2000)
    assert many < 12 * few


def test_a_set_of_evals_may_be_made_once_for_many_batches():
    evals = EvalSet([Polite(), Short()])
    assert evals.packer(Limits(), isolate=False) is evals.packer(Limits(), isolate=False)
    assert evals.packer(Limits(), isolate=True) is not evals.packer(Limits(), isolate=False)
