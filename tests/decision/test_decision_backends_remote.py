"""What every network backend does, whatever its wire: deadlines, retries, keys, turns, the breaker, loops and threads."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval.targets import Settings
from yb_eval.targets.waiting import retry_after
from yb_eval.targets.wire import NotJson
from yb_eval_decision.answers import ChoiceAnswer, NoAnswer, NoulAnswer
from yb_eval_decision.backends.addresses import Address, address
from yb_eval_decision.backends.base import Limits, Request, Response
from yb_eval_decision.backends.bodies import decode_body
from yb_eval_decision.backends.opening import open_backend
from yb_eval_decision.backends.pacing import Breaker, Pace, Turns
from yb_eval_decision.backends.systemone import SystemOneBackend
from yb_eval_decision.questions import Choice, Noul, Question, Score


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault(name, importlib.util.module_from_spec(spec))
    if not hasattr(module, "Service"):
        spec.loader.exec_module(module)
    return module


servers = _load("decision_servers")
KEY = "test-" + "key-of-typesafe-" + "0" * 8
ASKED = Request({"final_answer": "Paris."}, {"a.q": Noul("Is final_answer short?"), "b.q": Noul("Is it polite?")})


class Time:
    """A clock that only pauses move on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.endswith(("_API_KEY", "_BASE_URL", "_TOKEN")) or "YB_EVAL" in name:
            monkeypatch.delenv(name)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def opened(time: Time) -> Iterator[Callable[..., SystemOneBackend]]:
    backends: list[SystemOneBackend] = []

    def open_(url: str, *, key: str | None = None, **pace: Any) -> SystemOneBackend:
        limits = pace.pop("limits", None)
        made = Pace(**{"sleep": time.sleep, "clock": time, **pace})
        where = Address(url, key, ("TYPESAFE_API_KEY",), "TYPESAFE_API_KEY" if key else None)
        backends.append(SystemOneBackend(where, spec="typesafe", pace=made, limits=limits))
        return backends[-1]

    yield open_
    for backend in backends:
        backend.close()


def one(backend: Any, request: Request = ASKED) -> Response:
    response: Response = backend.decide([request])[0]
    assert list(response.answers) == list(request.questions)
    return response


def reason(response: Response) -> str:
    answer = next(iter(response.answers.values()))
    assert isinstance(answer, NoAnswer)
    assert answer.state == "error"
    return answer.reason


def answered(response: Response) -> bool:
    return all(isinstance(answer, NoulAnswer) for answer in response.answers.values())


# Answers and usage


def test_an_answer_comes_with_its_model_tokens_and_time(opened: Any) -> None:
    with servers.serving(servers.system_one()) as service:
        response = one(opened(service.url))
    assert response.answers["a.q"] == NoulAnswer(0.9)
    assert response.model == "jev-1.13.0"
    usage = response.usage
    assert (usage.requests, usage.questions, usage.input_tokens, usage.output_tokens, usage.retries) == (
        1,
        2,
        120,
        8,
        0,
    )
    assert usage.backend == "typesafe"
    assert not response.retry_later


def test_time_is_observed(time: Time) -> None:
    with servers.serving(servers.system_one()) as service:
        backend = SystemOneBackend(Address(service.url), spec="x")
        with backend:
            assert 0 < one(backend).usage.latency_ms < 60_000


def test_responses_come_in_the_order_of_the_requests(opened: Any) -> None:
    def behave(handler: Any) -> None:
        p = handler.asked["state"]["p"]
        handler.server.over.wait(0.02 * (1 - p))  # the last is answered first
        handler.answer({"answers": {"q": {"noul": p}}})

    asked = [Request({"p": place / 20}, {"q": Noul("?")}) for place in range(20)]
    with servers.serving(behave) as service:
        responses = opened(service.url).decide(asked)
    assert [response.answers["q"] for response in responses] == [NoulAnswer(place / 20) for place in range(20)]


def test_a_request_without_questions_is_not_sent(opened: Any) -> None:
    with servers.serving(servers.system_one()) as service:
        assert opened(service.url).decide([Request({}, {})])[0].answers == {}
        assert opened(service.url).decide([]) == []
        assert service.seen == []


# Failures that may pass


@pytest.mark.parametrize("code", [408, 425, 429, 500, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_asked_again(opened: Any, time: Time, code: int) -> None:
    with servers.serving(servers.system_one(), servers.status(code), servers.status(code)) as service:
        response = one(opened(service.url))
        assert len(service.seen) == 3
    assert answered(response)
    assert response.usage.retries == 2
    assert response.usage.requests == 1
    assert len(time.pauses) == 2


@pytest.mark.parametrize(
    "fault",
    [
        servers.body('{"answers": {"a.q": {"noul"'),
        servers.body("<html>"),
        servers.body(b"\xff\xfe"),
        servers.body(b""),
        servers.body('{"answers": {}, "answers": {}}'),
        servers.drop,
        servers.error_in_200(502),
        servers.error_in_200("503"),
        servers.error_in_200("overloaded_error"),
        servers.error_in_200(None, "The upstream provider timed out"),
        servers.body('{"error": "temporarily unavailable"}'),
        servers.body('{"error": {"code": 418, "message": "x", "retryable": true}}'),
    ],
)
def test_an_answer_that_is_broken_or_an_error_that_may_pass_is_asked_again(opened: Any, fault: Any) -> None:
    with servers.serving(servers.system_one(), fault) as service:
        response = one(opened(service.url))
    assert answered(response)
    assert response.usage.retries == 1


def test_a_refused_connection_is_asked_again_and_says_so(opened: Any, time: Time) -> None:
    with servers.serving(servers.system_one()) as service:
        url = service.url
    response = one(opened(url, retries=2))
    assert "ConnectError" in reason(response)
    assert "(3 attempts)" in reason(response)
    assert response.retry_later
    assert response.usage.retries == 2


def test_retries_end(opened: Any) -> None:
    with servers.serving(servers.status(503, "down")) as service:
        response = one(opened(service.url, retries=3))
        assert len(service.seen) == 4
    assert reason(response) == "typesafe: HTTP 503: down (4 attempts)"
    assert response.retry_later
    assert response.usage.retries == 3


def test_pauses_grow_are_the_same_each_time_and_differ_between_requests(opened: Any, time: Time) -> None:
    other = Request({"final_answer": "Rome."}, ASKED.questions)
    seen = []
    for request in (ASKED, ASKED, other):
        time.pauses.clear()
        with servers.serving(servers.system_one(), *[servers.status(500)] * 3) as service:
            one(opened(service.url, backoff=0.5), request)
        seen.append(list(time.pauses))
    assert seen[0] == seen[1] != seen[2]
    for pauses in seen:
        assert all(0.25 * 2**n <= pause <= 0.5 * 2**n for n, pause in enumerate(pauses))


def test_retry_after_in_seconds_and_as_a_date_is_honoured_and_capped(opened: Any, time: Time) -> None:
    now = 1_700_000_000
    faults = [
        servers.status(429, Retry_After="7"),
        servers.status(503, Retry_After=formatdate(now + 11, usegmt=True)),
        servers.status(429, Retry_After="3600"),
    ]
    with servers.serving(servers.system_one(), *faults) as service:
        assert answered(one(opened(service.url, timeout=600, longest_wait=30, backoff=0.1, now=lambda: now)))
    assert time.pauses == [7.0, 11.0, 30.0]


@pytest.mark.parametrize("text", ["", "soon", "-1", "1e9999", "٣", "9" * 40, "Tue, 99 Foo 2026 00:00:00 GMT", None])
def test_a_retry_after_that_means_nothing_asks_for_nothing(text: str | None) -> None:
    assert retry_after(text, 0.0) is None


# Failures that do not pass


@pytest.mark.parametrize("code", [400, 403, 404, 405, 413, 422])
def test_a_status_that_will_not_pass_is_not_asked_again(opened: Any, time: Time, code: int) -> None:
    with servers.serving(servers.status(code, "that is wrong")) as service:
        response = one(opened(service.url))
        assert len(service.seen) == 1
    assert reason(response) == f"typesafe: HTTP {code}: that is wrong"
    assert response.retry_later == (code == 404)
    assert time.pauses == []


def test_a_refused_key_is_one_clear_line_that_names_the_variable(opened: Any) -> None:
    with servers.serving(servers.status(401, f"bad key {KEY}")) as service:
        backend = opened(service.url, key=KEY)
        response = one(backend)
        assert len(service.seen) == 1
        assert reason(response) == "typesafe: HTTP 401: the key in TYPESAFE_API_KEY is refused"
        assert response.retry_later
        # Nothing else is sent with a key that is refused.
        again = one(backend)
        assert len(service.seen) == 1
    assert "the key in TYPESAFE_API_KEY is refused" in reason(again)


def test_a_missing_key_says_which_one_to_set(opened: Any) -> None:
    with servers.serving(servers.status(401)) as service:
        assert reason(one(opened(service.url))) == "typesafe: HTTP 401: no key was sent; set TYPESAFE_API_KEY"


def test_an_error_in_a_200_that_will_not_pass_is_told_and_not_asked_again(opened: Any) -> None:
    with servers.serving(servers.error_in_200(400, "state too long")) as service:
        response = one(opened(service.url))
        assert len(service.seen) == 1
    assert reason(response) == "typesafe: an error in the answer: state too long"
    assert not response.retry_later


def test_a_wrong_content_type_is_an_error(opened: Any) -> None:
    with servers.serving(servers.body("<html>sign in</html>", "text/html; charset=utf-8")) as service:
        response = one(opened(service.url))
        assert len(service.seen) == 1
    assert "answered text/html, not application/json: '<html>sign in</html>'" in reason(response)


@pytest.mark.parametrize("kind", [None, "application/json; charset=utf-8", "application/problem+json"])
def test_json_by_another_name_is_json(opened: Any, kind: str | None) -> None:
    with servers.serving(servers.body('{"answers": {"a.q": {"noul": 1}, "b.q": {"noul": 0}}}', kind)) as service:
        assert answered(one(opened(service.url)))


@pytest.mark.parametrize("raw", ["[1]", '"x"', "null", '{"model": "x"}', '{"answers": 7}', "{}"])
def test_json_that_is_no_answer_is_an_error(opened: Any, raw: str) -> None:
    with servers.serving(servers.body(raw)) as service:
        assert reason(one(opened(service.url))).startswith("typesafe: answered ")


def test_an_answer_over_the_limit_is_an_error(opened: Any) -> None:
    with servers.serving(servers.body('{"answers": {"a.q": "' + "x" * 5000 + '"}}')) as service:
        assert "answered more than 1,000 bytes" in reason(one(opened(service.url, answer_limit=1000)))


def test_wrong_and_missing_answers_are_errors_of_their_question_alone(opened: Any) -> None:
    wrong = {
        "a": {"type": "noul", "noul": 90},
        "b": None,
        "c": {"type": "choice", "choice": "z", "probabilities": {"z": 1}},
    }
    asked: dict[str, Question] = {"a": Noul("?"), "b": Noul("?"), "c": Choice("?", ["x", "y"]), "d": Noul("?")}
    with servers.serving(servers.system_one(wrong=wrong)) as service:
        response = one(opened(service.url), Request({}, asked))
    states = {id: getattr(answer, "state", "answered") for id, answer in response.answers.items()}
    assert states == {"a": "error", "b": "error", "c": "error", "d": "answered"}
    assert "not within 0..1" in response.answers["a"].reason  # type: ignore[union-attr]
    assert not response.retry_later


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_an_error_of_its_question_alone(opened: Any, number: str) -> None:
    body = (
        '{"answers": {"a": {"noul": 0.25}, "b": {"noul": ?}, "c": {"probabilities": {"x": ?, "y": 0.5}},'
        ' "d": {"probabilities": {"0": 0.5, "1": 0.5}, "score": ?},'
        ' "e": {"choice": "NaN", "probabilities": {"NaN": 1.0, "y": 0}, "confidence": ?},'
        ' "f": {"choice": "NaN", "probabilities": {"NaN": 1.0, "y": 0}}}, "usage": {"cost": ?}, "model": "NaN-1"}'
    ).replace("?", number)
    asked: dict[str, Question] = {
        "a": Noul("?"), "b": Noul("?"), "c": Choice("?", ["x", "y"]), "d": Score("?", ["low", "high"]),
        "e": Choice("?", ["NaN", "y"]), "f": Choice("?", ["NaN", "y"]),
    }  # fmt: skip
    with servers.serving(servers.body(body)) as service:
        response = one(opened(service.url), Request({}, asked))
    assert response.answers["a"] == NoulAnswer(0.25)
    assert response.answers["f"] == ChoiceAnswer("NaN", {"NaN": 1.0, "y": 0.0})
    wrong = {id: answer.reason for id, answer in response.answers.items() if isinstance(answer, NoAnswer)}
    assert list(wrong) == ["b", "c", "d", "e"]
    assert all("not within 0..1" in why for why in wrong.values())
    assert (response.model, response.usage.retries) == ("NaN-1", 0)


@pytest.mark.parametrize(
    "raw", ['{"a": NaN, "a": 1}', '{"a": -NaN}', '{"a": 1NaN}', '{"a": NaN', '{"a": "NaN}', '{"a": NaN, "b": 1e999}', '{NaN: 1}']
)  # fmt: skip
def test_beside_such_a_number_json_is_read_as_strictly_as_ever(raw: str) -> None:
    with pytest.raises(NotJson):
        decode_body(raw.encode())


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(["NaN", '"Infinity', "-Infinity\\"]),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_a_body_is_read_as_it_was_written_whatever_texts_it_holds(value: Any) -> None:
    read = decode_body(json.dumps(value).encode())
    assert json.dumps(read) == json.dumps(value)  # a NaN equals nothing


def test_a_state_that_the_server_cut_is_an_error(opened: Any) -> None:
    with servers.serving(servers.system_one(usage={"input_tokens": 9, "truncated": True})) as service:
        assert "cut the state" in reason(one(opened(service.url)))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, "\ud800", {1: 2}, 10**30])
def test_a_state_that_is_not_json_is_not_sent(opened: Any, value: Any) -> None:
    with servers.serving(servers.system_one()) as service:
        response = one(opened(service.url), Request({"x": value}, {"q": Noul("?")}))
        assert service.seen == []
    assert "the request is not JSON: $.state.x" in reason(response)
    assert not response.retry_later


def test_a_body_over_the_backends_limit_is_not_sent(opened: Any) -> None:
    with servers.serving(servers.system_one()) as service:
        backend = opened(service.url, limits=Limits(body_bytes=100))
        assert "the backend takes 100" in reason(one(backend, Request({"x": "y" * 200}, {"q": Noul("?")})))
        assert service.seen == []


# Time


@pytest.mark.parametrize("fault", [servers.hang, servers.drip])
def test_a_request_has_one_deadline(fault: Any) -> None:
    with servers.serving(fault) as service, SystemOneBackend(
        Address(service.url), spec="slow", pace=Pace(timeout=0.15)
    ) as backend:  # fmt: skip
        response = one(backend)
    assert reason(response) == "slow: no answer within 0.15 s"
    assert response.retry_later


def test_the_deadline_covers_retries_and_pauses(opened: Any, time: Time) -> None:
    with servers.serving(servers.status(503, Retry_After="8")) as service:
        response = one(opened(service.url, timeout=20.0, retries=10))
        assert len(service.seen) == 3
    assert time.pauses == [8.0, 8.0]
    assert "HTTP 503: no; no time for another attempt within 20 s" in reason(response)


def test_what_may_have_been_billed_leaves_the_cost_unknown() -> None:
    from yb_eval_decision.backends.systemone import JEV_PRICE

    with servers.serving(servers.system_one(), servers.body("{")) as service, SystemOneBackend(
        Address(service.url), spec="x", pace=Pace(backoff=0.01), price=JEV_PRICE
    ) as backend:  # fmt: skip
        usage = one(backend).usage
    assert usage.cost_usd == pytest.approx(120 * 0.042 / 1e6)
    assert not usage.cost_complete
    with servers.serving(servers.status(400)) as service, SystemOneBackend(
        Address(service.url), spec="x", price=JEV_PRICE
    ) as backend:  # fmt: skip
        assert one(backend).usage.cost_usd == 0.0


# Keys


def test_a_key_is_sent_to_its_host_and_shown_nowhere(opened: Any) -> None:
    with servers.serving(servers.status(400, f"you sent Bearer {KEY}")) as service:
        backend = opened(service.url, key=KEY)
        response = one(backend)
        assert service.seen[0][1]["authorization"] == f"Bearer {KEY}"
    assert reason(response) == "typesafe: HTTP 400: you sent Bearer ***"
    assert KEY not in repr([response, vars(backend)["address"], backend.spec, backend.fingerprint])


def test_a_key_that_a_server_echoes_in_an_answer_is_masked(opened: Any) -> None:
    with servers.serving(servers.system_one(KEY and 0.9, wrong={"a.q": {"noul": KEY}}, model=f"m {KEY}")) as service:
        response = one(opened(service.url, key=KEY))
    assert KEY not in repr(response)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(opened: Any, code: int) -> None:
    with servers.serving(servers.system_one()) as other, servers.serving(
        servers.redirect(f"{other.url}/v1/systemone?token=abc", code)
    ) as service:  # fmt: skip
        response = one(opened(service.url, key=KEY))
        assert other.seen == []
    assert f"HTTP {code}: it has moved to" in reason(response)
    assert "abc" not in reason(response)
    assert response.retry_later


def test_a_key_never_goes_over_plain_http_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", KEY)
    for url in ("http://example.org", "http://10.0.0.1:80", "http://127.0.0.1.example.org"):
        monkeypatch.setenv("TYPESAFE_BASE_URL", url)
        with pytest.raises(UsageError, match="TYPESAFE_API_KEY would be sent over plain http") as caught:
            open_backend("typesafe")
        assert KEY not in str(caught.value)
    for url in ("http://localhost:1", "http://[::1]:1", "http://127.0.0.1:1", "https://example.org"):
        monkeypatch.setenv("TYPESAFE_BASE_URL", url)
        open_backend("typesafe").close()


def test_a_key_that_no_header_holds_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "geheim\u00e4-0123")
    with pytest.raises(UsageError, match="cannot be sent") as caught:
        address("https://example.org", where="x", keys=("SOME_KEY",))
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["http://", "https://:80", "ftp://example.org", "http://host:0", "http://host:99999", "http://[::1", "http://a b/"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        address(url, where=url)


def test_credentials_in_an_address_are_refused_unseen() -> None:
    for url in ("https://me:hunter2secret@example.org", "https://hunter2secret@example.org/x"):
        with pytest.raises(UsageError, match="holds no credentials") as caught:
            open_backend(url)
        assert "hunter2secret" not in str(caught.value)
    with pytest.raises(UsageError, match="no query") as caught:
        open_backend("https://example.org/x?api_key=hunter2secret")
    assert "hunter2secret" not in str(caught.value)


# Turns and the breaker


def test_no_more_requests_are_under_way_than_there_are_turns() -> None:
    def slowly(handler: Any) -> None:
        handler.server.over.wait(0.01)
        servers.system_one()(handler)

    asked = [Request({"n": n}, {"q": Noul("?")}) for n in range(60)]
    with servers.serving(slowly) as service, SystemOneBackend(
        Address(service.url), spec="x", pace=Pace(concurrency=3)
    ) as backend:  # fmt: skip
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(lambda start: backend.decide(asked[start::4]), range(4)))
        assert all(answered(response) for part in parts for response in part)
        assert 2 <= service.most_at_once <= 3
        # Connections are kept alive and shared by all threads.
        assert len(service.peers) <= 3
        assert len(service.seen) == 60


def test_turns_adapt_to_what_the_server_can_do(opened: Any) -> None:
    together = threading.Barrier(4)

    def turned_away(handler: Any) -> None:
        together.wait(10)
        servers.status(429)(handler)

    with servers.serving(servers.system_one(), *[turned_away] * 4) as service:
        backend = opened(service.url, concurrency=16)
        assert backend.width == 8
        backend.decide([Request({"n": n}, {"q": Noul("?")}) for n in range(4)])
        # Four requests under way at once were turned away: that is one sign, not four. Four successes are worth one more.
        assert backend.width in (4, 5)
        backend.decide([Request({"n": n}, {"q": Noul("?")}) for n in range(400)])
        assert backend.width == 16


def test_turns_halve_once_for_requests_that_were_under_way_together() -> None:
    async def run() -> list[int]:
        turns = Turns(16, 8)
        widths = []
        epochs = [await turns.take() for _ in range(4)]
        epochs = [turns.too_much(epoch) for epoch in epochs]
        widths.append(turns.width)
        turns.too_much(epochs[0])
        widths.append(turns.width)
        for _ in range(9):
            turns.too_much(turns._epoch)
        widths.append(turns.width)
        return widths

    assert asyncio.run(run()) == [4, 2, 1]


def test_a_turn_that_is_no_longer_wanted_goes_to_the_next() -> None:
    async def run() -> bool:
        turns = Turns(1, 1)
        await turns.take()
        waiting = [asyncio.create_task(turns.take()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        turns.give_back()
        waiting[1].cancel()  # it has just been given the turn
        await asyncio.sleep(0)
        return await asyncio.wait_for(waiting[2], 1) == 0

    assert asyncio.run(run())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["take", "cancel", "give", "much", "well"]), max_size=60), st.integers(1, 5))
def test_turns_are_neither_lost_nor_given_twice(steps: list[str], most: int) -> None:
    async def run() -> None:
        turns = Turns(most, 2)
        tasks: list[asyncio.Task[int]] = []
        for step in steps:
            held = [task for task in tasks if task.done() and not task.cancelled()]
            if step == "take":
                tasks.append(asyncio.create_task(turns.take()))
            elif step == "cancel" and tasks:
                tasks[len(tasks) // 2].cancel()  # it may have its turn already, or just have been given it
            elif step == "give" and held:
                tasks.remove(held[0])
                turns.give_back()
            elif step == "much" and held:
                turns.too_much(held[-1].result())
            elif step == "well":
                turns.went_well()
            if len(steps) % 2:
                await asyncio.sleep(0)
            assert 1 <= turns.width <= most
        for _ in range(3):
            await asyncio.sleep(0)
        tasks = [task for task in tasks if not task.cancelled()]
        while tasks:
            held = [task for task in tasks if task.done()]
            assert held, "somebody waits for a turn that nobody has"
            tasks.remove(held[0])
            turns.give_back()
            for _ in range(3):
                await asyncio.sleep(0)
        assert turns._taken == 0

    asyncio.run(run())


def test_after_failures_in_a_row_nothing_is_asked_until_it_has_cooled_down(opened: Any, time: Time) -> None:
    faults = [servers.status(500, "broken")] * 6
    with servers.serving(servers.system_one(), *faults) as service:
        backend = opened(service.url, retries=0, failures=5, cool_down=15.0)
        for _ in range(5):
            assert "HTTP 500" in reason(one(backend))
        assert len(service.seen) == 5
        for _ in range(20):
            response = one(backend)
            assert response.retry_later
            assert response.usage.requests == 0
            assert "not asked, for requests before it failed (the last: HTTP 500: broken)" in reason(response)
        assert len(service.seen) == 5
        time.now += 15.0
        assert "HTTP 500" in reason(one(backend))  # one tries, and fails
        assert "not asked" in reason(one(backend))
        assert len(service.seen) == 6
        time.now += 15.0
        assert answered(one(backend))  # one tries, and all may
        assert all(answered(response) for response in backend.decide([ASKED] * 5))


def test_failures_of_requests_do_not_open_the_breaker(opened: Any) -> None:
    with servers.serving(servers.status(400)) as service:
        backend = opened(service.url, failures=3)
        for _ in range(10):
            one(backend)
        assert len(service.seen) == 10


def test_a_success_between_keeps_the_breaker_closed(opened: Any) -> None:
    faults = [servers.status(500), servers.status(500), servers.system_one(), servers.status(500), servers.status(500)]
    with servers.serving(servers.system_one(), *faults) as service:
        backend = opened(service.url, retries=0, failures=3)
        for _ in range(6):
            one(backend)
        assert len(service.seen) == 6


def test_only_one_request_tries_a_half_open_breaker() -> None:
    now = [0.0]
    breaker = Breaker(1, 10.0, lambda: now[0])
    assert breaker.admits()
    breaker.failed("x")
    assert not breaker.admits()
    now[0] = 10.0
    assert [breaker.admits() for _ in range(3)] == [True, False, False]
    breaker.gave_up()
    assert breaker.admits()
    breaker.succeeded()
    assert breaker.admits()


# Loops, threads and the end


def test_it_answers_inside_a_running_loop_which_goes_on_meanwhile(opened: Any) -> None:
    def slowly(handler: Any) -> None:
        handler.server.over.wait(0.1)
        servers.system_one()(handler)

    async def notebook(backend: Any) -> tuple[bool, bool, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        await asyncio.sleep(0)
        awaited = answered((await backend.adecide([ASKED]))[0])
        seen = ticks
        blocked = answered(one(backend))
        ticking.cancel()
        return awaited, blocked, seen

    with servers.serving(slowly) as service:
        awaited, blocked, ticks = asyncio.run(notebook(opened(service.url)))
    assert awaited
    assert blocked
    assert ticks > 3


def test_one_backend_serves_many_loops_one_after_another(opened: Any) -> None:
    with servers.serving(servers.system_one()) as service:
        backend = opened(service.url)
        for _ in range(20):
            assert answered(asyncio.run(backend.adecide([ASKED]))[0])
        assert len(service.peers) == 1


def test_a_cancelled_wait_cancels_the_request_and_leaves_the_backend_usable(opened: Any) -> None:
    async def run(backend: Any) -> bool:
        waiting = asyncio.create_task(backend.adecide([ASKED]))
        while not service.seen:
            await asyncio.sleep(0.005)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return answered((await backend.adecide([ASKED]))[0])

    with servers.serving(servers.system_one(), servers.hang) as service:
        assert asyncio.run(run(opened(service.url, concurrency=1)))


def test_closing_ends_what_is_under_way_and_closing_twice_is_fine(opened: Any) -> None:
    with servers.serving(servers.hang) as service:
        backend = opened(service.url)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(one, backend)
            while not service.seen:
                service.over.wait(0.005)
            backend.close()
            response = waiting.result(5)
    assert reason(response) == "typesafe: the backend was closed"
    assert response.retry_later
    backend.close()
    assert reason(one(backend)) == "typesafe: the backend was closed"
    assert reason(asyncio.run(backend.adecide([ASKED]))[0]) == "typesafe: the backend was closed"


def test_threads_and_connections_end_with_the_backend() -> None:
    with servers.serving(servers.system_one()) as service, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        before = threading.active_count()
        for close in (True, False):
            backend = SystemOneBackend(Address(service.url), spec="ending")
            assert answered(one(backend))
            if close:
                backend.close()
            del backend
            gc.collect()
            assert not [thread for thread in threading.enumerate() if "ending" in thread.name]
        assert threading.active_count() <= before + 2  # the service's own


@pytest.mark.parametrize("end", ["backend.close()", "", "del backend", "asyncio.run(backend.adecide([asked]))", "1/0"])
def test_a_process_ends_cleanly_however_the_backend_was_left(end: str) -> None:
    script = f"""
import asyncio, sys
from yb_eval_decision.backends.addresses import Address
from yb_eval_decision.backends.base import Request
from yb_eval_decision.backends.systemone import SystemOneBackend
from yb_eval_decision.questions import Noul
backend = SystemOneBackend(Address(sys.argv[1]), spec="x")
asked = Request({{}}, {{"q": Noul("?")}})
print(backend.decide([asked])[0].answers["q"].probability)
print(asyncio.run(backend.adecide([asked]))[0].answers["q"].probability)
{end}
"""
    with servers.serving(servers.system_one()) as service:
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-c", script, service.url],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.stdout.split() == ["0.9", "0.9"]
    if end == "1/0":
        assert done.stderr.strip().endswith("ZeroDivisionError: division by zero")
        assert done.stderr.count("Traceback") == 1
    else:
        assert done.stderr == ""
        assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_connections_of_its_own() -> None:
    script = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from yb_eval_decision.backends.addresses import Address
from yb_eval_decision.backends.base import Request
from yb_eval_decision.backends.systemone import SystemOneBackend
from yb_eval_decision.questions import Noul
backend = SystemOneBackend(Address(sys.argv[1]), spec="x")
asked = Request({}, {"q": Noul("?")})
backend.decide([asked])
child = os.fork()
print(backend.decide([asked])[0].answers["q"].probability, flush=True)
if child == 0:
    backend.close()
    os._exit(0)
os.waitpid(child, 0)
"""
    with servers.serving(servers.system_one()) as service:
        done = subprocess.run([sys.executable, "-c", script, service.url], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["0.9", "0.9"], done.stderr


def test_cookies_are_not_kept(opened: Any) -> None:
    def with_cookie(handler: Any) -> None:
        handler.say(200, '{"answers": {"a.q": {"noul": 1}, "b.q": {"noul": 1}}}', Set_Cookie="who=me")

    with servers.serving(with_cookie) as service:
        backend = opened(service.url)
        one(backend)
        one(backend)
        assert "cookie" not in service.seen[1][1]


# Models


def test_a_model_that_changes_meanwhile_is_noticed(opened: Any) -> None:
    faults = [servers.system_one(model=name) for name in ("jev-1.13.0", "jev-1.13.0", "jev-1.14.0", "jev-1.14.0")]
    with servers.serving(servers.system_one(), *faults) as service:
        backend = opened(service.url)
        for _ in range(4):
            one(backend)
    assert backend.models == ("jev-1.13.0", "jev-1.14.0")
    assert backend.notes == ["typesafe: the model changed from 'jev-1.13.0' to 'jev-1.14.0' while it was asked"]


# Settings


def test_settings_bound_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Settings(timeout=7.0, retries=1, jobs=40, connect_timeout=30.0, longest_wait=9.0)
    pace = Pace.of(given)
    assert (pace.timeout, pace.retries, pace.concurrency, pace.connect_timeout, pace.longest_wait) == (7, 1, 40, 7, 9)
    assert Pace.of(Settings()).concurrency == 16
    monkeypatch.setenv("YB_EVAL_DECISION_CONCURRENCY", "2")
    assert Pace.of(given).concurrency == 2
    for wrong in ("0", "x", "-1", "1.5", "99999999999"):
        monkeypatch.setenv("YB_EVAL_DECISION_CONCURRENCY", wrong)
        with pytest.raises(UsageError, match="YB_EVAL_DECISION_CONCURRENCY"):
            Pace.of(None)


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": float("inf")}, {"retries": -1}, {"concurrency": 0}])
def test_a_pace_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Pace(**wrong)


def test_the_pace_enters_no_fingerprint() -> None:
    made = [SystemOneBackend(Address("http://localhost:1"), spec="x", pace=Pace(retries=n)).fingerprint for n in (0, 3)]
    assert made[0] == made[1]
