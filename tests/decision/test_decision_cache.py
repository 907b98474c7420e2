"""What was answered once is not asked again; what was not answered is never kept."""

import asyncio
import pickle
import runpy
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from yb_eval import UsageError
from yb_eval_decision.answers import ChoiceAnswer, NoAnswer, NoulAnswer
from yb_eval_decision.assessing import assess
from yb_eval_decision.backends.base import Request, Response
from yb_eval_decision.cache import CachedBackend, ResponseCache
from yb_eval_decision.questions import Choice, Noul, Score, Task
from yb_eval_decision.running import aevaluate, evaluate, evaluate_dataset

fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
FakeBackend, Polite, Short, PRICE = (fakes[name] for name in ("FakeBackend", "Polite", "Short", "PRICE"))

SAMPLES = [{"output": f"{i}"} for i in range(6)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


def test_a_second_run_asks_nothing_and_says_the_same(path):
    first = FakeBackend(cost=0.5, price=PRICE)
    before = evaluate_dataset(SAMPLES, [Polite(), Short()], backend=first, cache=path, keep=True)
    second = FakeBackend(cost=0.5, price=PRICE)
    after = evaluate_dataset(SAMPLES, [Polite(), Short()], backend=second, cache=path, keep=True)
    assert (len(first.seen), second.calls) == (6, 0)
    assert after.summary() == before.summary()
    assert after.to_records() == before.to_records()
    assert (after.usage.requests, after.usage.cached, after.usage.cost_usd) == (0, 18, 0.0)
    assert (before.usage.cached, before.usage.cost_usd) == (0, 3.0)
    assert after.models == ("fake-1",)


def test_an_interrupted_run_asks_for_the_rest_only(path):
    class Stop(BaseException):
        pass

    def stop(index, report):
        if index == 3:
            raise Stop

    with pytest.raises(Stop):
        evaluate_dataset(SAMPLES, [Polite()], backend=FakeBackend(), cache=path, batch=2, on_result=stop)
    backend = FakeBackend()
    evaluate_dataset(SAMPLES, [Polite()], backend=backend, cache=path, batch=2)
    assert [request.state["final_answer"] for request in backend.seen] == ["4", "5"]


def test_only_the_questions_that_are_missing_are_asked(path):
    with ResponseCache(path) as cache:
        state = {"x": 1}
        a, b = Noul("a?"), Noul("b?")
        backend = FakeBackend()
        cached = CachedBackend(backend, cache)
        cached.decide([Request(state, {"first": a})])
        (response,) = cached.decide([Request(state, {"q1": b, "q2": a, "q3": Noul("c?")})])
        assert list(backend.seen[1].questions) == ["q1", "q3"]
        assert list(response.answers) == ["q1", "q2", "q3"]
        assert (response.usage.cached, response.usage.requests) == (1, 1)
        assert (cached.hits, cached.misses) == (1, 3)


ASKED = Request({"x": 1}, {"q": Choice("which?", options={"a": None, "b": None}, abstain="b")})


@pytest.mark.parametrize(
    ("request_", "fingerprint"),
    [
        (ASKED, "e" * 64),
        (Request({"x": 2}, ASKED.questions), "f" * 64),
        (Request({"x": True}, ASKED.questions), "f" * 64),
        (Request(ASKED.state, ASKED.questions, repeat=1), "f" * 64),
        (Request(ASKED.state, {"q": Choice("which one?", options=["a", "b"], abstain="b")}), "f" * 64),
        (Request(ASKED.state, {"q": Choice("which?", options=["b", "a"], abstain="b")}), "f" * 64),
        (Request(ASKED.state, {"q": Choice("which?", options=["a", "b"])}), "f" * 64),
        (
            Request(ASKED.state, {"q": Choice("which?", options=["a", "b"], abstain="b", task=Task("refusal", {}))}),
            "f" * 64,
        ),
    ],
)
def test_whatever_changes_what_is_sent_or_to_whom_is_asked_anew(path, request_, fingerprint):
    with ResponseCache(path) as cache:
        CachedBackend(FakeBackend(), cache).decide([ASKED])
        again, other = FakeBackend(), FakeBackend(fingerprint=fingerprint)
        CachedBackend(again, cache).decide([Request({"x": 1}, {"another_id": ASKED.questions["q"]})])
        CachedBackend(other, cache).decide([request_])
        assert (again.calls, other.calls) == (0, 1)


def test_isolated_evals_find_their_answers_whatever_is_asked_beside_them(path):
    class Other(Polite):
        def state(self, s):
            return {"other": s.output}

    evaluate(SAMPLES[0], [Polite()], backend=FakeBackend(), cache=path)
    packed, apart = FakeBackend(), FakeBackend()
    evaluate(SAMPLES[0], [Polite(), Other()], backend=packed, cache=path)
    evaluate(SAMPLES[0], [Polite(), Other()], backend=apart, cache=path, isolate=True)
    assert packed.asked == ["polite.q", "other.q"]  # the state of both is another state
    assert apart.asked == ["other.q"]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (NoAnswer("error", "lost"), False),
        (NoAnswer("refused", "will not"), True),
        (NoAnswer("abstained", "cannot tell"), True),
        (NoulAnswer(7.0), False),
        ({"noul": 0.3}, True),
        ({"noul": "0.3"}, False),
    ],
)
def test_errors_are_never_kept(path, answer, kept):
    for _ in range(2):
        backend = FakeBackend(lambda *_: answer)
        report = evaluate(SAMPLES[0], [Polite()], backend=backend, cache=path)
    assert backend.calls == (0 if kept else 1)
    if isinstance(answer, NoAnswer):
        assert report.polite.status == answer.state


def test_nothing_of_a_backend_that_is_down_is_kept(path):
    class Down(FakeBackend):
        def decide(self, requests):
            return [Response(answers={id: NoulAnswer(0.5) for id in r.questions}, retry_later=True) for r in requests]

    evaluate(SAMPLES[0], [Polite()], backend=Down(), cache=path)
    backend = FakeBackend()
    evaluate(SAMPLES[0], [Polite()], backend=backend, cache=path)
    assert backend.calls == 1


def test_answers_of_every_type_come_back_as_they_were(path):
    questions = {"n": Noul("?"), "c": Choice("?", options=["a", "b"]), "s": Score("?", levels=["low", "high"])}
    confident = {"c": ChoiceAnswer("a", {"a": 0.75, "b": 0.25}, 0.123)}
    plain = FakeBackend().answer
    answer = lambda id, question, state: confident.get(id) or plain(id, question, state)  # noqa: E731
    with ResponseCache(path) as cache:
        (first,) = CachedBackend(FakeBackend(answer), cache).decide([Request({}, questions)])
        (second,) = CachedBackend(FakeBackend(answer), cache).decide([Request({}, questions)])
        assert second.answers == first.answers
        assert second.answers["c"].stated_confidence == 0.123


def test_a_damaged_entry_is_asked_again(path):
    evaluate(SAMPLES[0], [Polite()], backend=FakeBackend(), cache=path)
    for damage in (b"{", b'{"type": "noul", "probability": 7}', b"[]"):
        with sqlite3.connect(path) as file:
            file.execute("UPDATE answers SET answer = ?", (damage,))
        file.close()
        backend = FakeBackend()
        assert evaluate(SAMPLES[0], [Polite()], backend=backend, cache=path).polite.score == 0.9
        assert backend.calls == 1


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be looked at " * 20, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_that_is_damaged_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(UsageError, match="the cache is damaged") as caught:
        evaluate(SAMPLES[0], [Polite()], backend=FakeBackend(), cache=path)
    assert "delete it" in str(caught.value)
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE people (name TEXT)")
    file.close()
    with pytest.raises(UsageError, match="not a cache of answers"):
        ResponseCache(path)
    with sqlite3.connect(path) as file:
        assert [row[0] for row in file.execute("SELECT name FROM sqlite_master")] == ["people"]
    file.close()


def test_a_cache_that_cannot_be_opened_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(UsageError, match="cannot be opened"):
        ResponseCache(tmp_path / "file" / "answers.sqlite")
    with pytest.raises(UsageError, match="a cache is a file's path"):
        evaluate(SAMPLES[0], [Polite()], backend=FakeBackend(), cache=3)


def test_answers_that_cannot_be_kept_are_still_answers(path):
    with ResponseCache(path) as cache:
        cached = CachedBackend(FakeBackend(), cache)
        with sqlite3.connect(path) as file:
            file.execute("DROP TABLE answers")
            file.execute("CREATE TABLE answers (key BLOB, answer BLOB, model TEXT, decided_by TEXT, n INT NOT NULL)")
        file.close()
        (report,) = assess([SAMPLES[0]], [Polite()], cached)
        assert report.polite.score == 0.9
        assert "cannot be written" in cached.notes[0]


def test_a_state_that_is_not_json_reaches_the_backend_uncached(path):
    with ResponseCache(path) as cache:
        backend = FakeBackend()
        for _ in range(2):
            CachedBackend(backend, cache).decide([Request({"x": {1, 2}}, {"q": Noul("?")})])
        assert backend.calls == 2


def test_threads_share_a_cache(path):
    with ResponseCache(path) as cache, ThreadPoolExecutor(8) as pool:
        backend = FakeBackend()
        for _ in range(2):
            list(pool.map(lambda sample: evaluate(sample, [Polite()], backend=backend, cache=cache), SAMPLES * 4))
        assert len(cache) == 6


WRITER = """
import sys
from yb_eval_decision.answer_store import Kept, ResponseCache
first = int(sys.argv[2])
with ResponseCache(sys.argv[1]) as cache:
    for i in range(first, first + 50):
        cache.keep({i.to_bytes(32, "big"): Kept(b'{"type":"noul","probability":0.5}', None, None)})
"""


def test_processes_share_a_cache(path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n * 50)]) for n in range(2)]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with ResponseCache(path) as cache:
        assert len(cache) == 100


def test_a_cached_backend_reaches_other_processes(path):
    with ResponseCache(path) as cache:
        again = pickle.loads(pickle.dumps(cache))
        assert again.path == path
        again.close()


def test_the_loop_goes_through_the_cache_too(path):
    first, second = FakeBackend(), FakeBackend()
    for backend in (first, second):
        report = asyncio.run(aevaluate(SAMPLES[0], [Polite()], backend=backend, cache=path))
    assert (first.calls, second.calls, report.polite.score) == (1, 0, 0.9)
