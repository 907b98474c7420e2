"""Callables as targets."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from yb_eval.errors import UsageError
from yb_eval.interfaces import Target
from yb_eval.targets import CallableTarget, Settings, open_target

Write = Callable[..., Settings]


@pytest.fixture(autouse=True)
def imports_are_undone() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "bot.py", **settings: Any) -> Settings:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return Settings(base=tmp_path, **settings)

    return write


def opened(spec: str, settings: Settings) -> Target:
    return open_target(spec, builtins={}, settings=settings)


def callable_target(call: Callable[..., Any], **more: Any) -> CallableTarget:
    return CallableTarget(call, fingerprint="0" * 64, **more)


def failures(target: Target, *requests: dict[str, Any]) -> list[str | None]:
    return [answer.failure for answer in target.ask(requests or [{}])]


def test_a_function_in_the_working_folder_answers(write: Write) -> None:
    target = opened("python:bot:answer", write("def answer(request): return {'n': request['n'] + 1}"))
    assert [answer.value for answer in target.ask([{"n": 1}, {"n": 2}])] == [{"n": 2}, {"n": 3}]
    assert target.spec == "python:bot:answer"
    assert target.concurrency == "threads"


def test_methods_and_callable_objects_answer(write: Write) -> None:
    settings = write(
        """
        class Bot:
            concurrency = "processes"
            batch_size = 7
            def __call__(self, request): return "called"
            def method(self, request): return "method"
            @staticmethod
            def static(request): return "static"
        bot = Bot()
        """
    )
    for attribute, said in [("bot", "called"), ("bot.method", "method"), ("Bot.static", "static")]:
        assert opened(f"python:bot:{attribute}", settings).ask([{}])[0].value == said
    assert opened("python:bot:bot", settings).concurrency == "processes"
    assert opened("python:bot:bot", settings).batch_size == 7


def test_a_batch_function_answers_many_at_once(write: Write) -> None:
    settings = write("def answer(requests): return [len(requests)] * len(requests)\nanswer.batch = True")
    target = opened("python:bot:answer", settings)
    assert [answer.value for answer in target.ask([{}] * 5)] == [5] * 5
    assert target.batch_size > 1


def test_with_several_jobs_a_plain_function_is_asked_one_by_one(write: Write) -> None:
    settings = write("def answer(request): return 1", jobs=4)
    assert opened("python:bot:answer", settings).batch_size == 1


def test_async_callables_are_awaited_on_one_loop_for_each_thread() -> None:
    loops: dict[int, set[int]] = {}

    async def answer(request: dict[str, Any]) -> int:
        loops.setdefault(threading.get_ident(), set()).add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return int(request["n"])

    target = callable_target(answer)
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda n: target.ask([{"n": n}, {"n": n}])[1].value, range(30)))
    target.close()
    assert answers == list(range(30))
    assert all(len(ids) == 1 for ids in loops.values())


def test_closing_closes_the_loops() -> None:
    found: list[asyncio.AbstractEventLoop] = []

    async def answer(_: object) -> None:
        found.append(asyncio.get_running_loop())

    target = callable_target(answer)
    target.ask([{}])
    target.close()
    target.close()
    assert found[0].is_closed()
    gc.collect()


def test_a_lambda_around_an_async_function_and_an_async_batch_are_awaited() -> None:
    async def one(request: dict[str, Any]) -> dict[str, Any]:
        return request

    async def many(requests: list[Any]) -> list[Any]:
        return requests

    single, batch = callable_target(lambda request: one(request)), callable_target(many, batch=True)
    assert single.ask([{"a": 1}])[0].value == {"a": 1}
    assert [answer.value for answer in batch.ask([{"a": 1}, {"a": 2}])] == [{"a": 1}, {"a": 2}]
    single.close()
    batch.close()


def test_an_async_callable_has_its_time() -> None:
    async def answer(request: dict[str, Any]) -> int:
        if request.get("slow"):
            await asyncio.sleep(3600)
        if request.get("own"):
            raise TimeoutError("its own")
        return 1

    target = callable_target(answer, timeout=0.05)
    assert failures(target, {"slow": True}, {"own": True}, {}) == [
        "TimeoutError: no answer within 0.05 s", "TimeoutError: its own", None,
    ]  # fmt: skip
    target.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no such tier\nsecond line"), "ValueError: no such tier"),
        (KeyError("x"), "KeyError: 'x'"),
        (SystemExit(0), "SystemExit: 0"),
        (asyncio.CancelledError(), "CancelledError"),
        (RecursionError("deep"), "RecursionError: deep"),
        (MemoryError(), "MemoryError"),
    ],
)
@pytest.mark.parametrize("batch", [False, True])
def test_what_a_callable_raises_is_a_failure(error: BaseException, told: str, batch: bool) -> None:
    def answer(_: object) -> None:
        raise error

    assert failures(callable_target(answer, batch=batch), {}, {}) == [told, told]


@pytest.mark.parametrize("batch", [False, True])
def test_an_interrupt_passes(batch: bool) -> None:
    def answer(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        callable_target(answer, batch=batch).ask([{}])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([1], "1 answers came back for a batch of 2 requests"),
        ([1, 2, 3], "3 answers came back for a batch of 2 requests"),
        (None, "a NoneType came back for a batch of 2 requests"),
        ({"a": 1}, "a dict came back for a batch of 2 requests"),
        ("ab", "a str came back for a batch of 2 requests"),
    ],
)
def test_the_wrong_number_of_answers_fails_every_request_of_the_batch(said: object, told: str) -> None:
    assert failures(callable_target(lambda _: said, batch=True), {}, {}) == [told, told]


def test_one_bad_answer_of_a_batch_fails_alone() -> None:
    target = callable_target(lambda _: iter([1, float("nan"), ValueError("bad"), {"a": object()}]), batch=True)
    assert failures(target, {}, {}, {}, {}) == [
        None,
        "the answer is not JSON: $: nan is not a finite number",
        "ValueError: bad",
        "the answer is not JSON: $.a: a object is not JSON",
    ]


def test_an_answer_is_what_json_reads_back_and_nobody_elses() -> None:
    shared = {"pair": (1, 2)}
    answer = callable_target(lambda _: shared).ask([{}])[0].value
    assert answer == {"pair": [1, 2]}
    shared["pair"] = (3, 4)
    assert answer == {"pair": [1, 2]}


def test_secrets_in_an_exception_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_API_KEY", "sk-very-secret")

    def answer(_: object) -> None:
        raise RuntimeError("401 for sk-very-secret")

    assert failures(callable_target(answer)) == ["RuntimeError: 401 for ***"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("python:", "does not name a callable"),
        ("python:bot", "does not name a callable"),
        ("python::answer", "does not name a callable"),
        ("python:nowhere:answer", "there is no module 'nowhere'"),
        ("python:bot.part:answer", "there is no module 'bot.part'"),
        ("python:bot:anser", "did you mean 'answer'"),
        ("python:bot:answer.deeper.still", "bot has no 'answer.deeper.still'"),
        ("python:bot:VALUE", "VALUE is a int, which cannot be called"),
        ("python:bot.py:answer", r"\(python:bot:answer\)"),
        ("python:./sub/bot.py:answer", r"\(python:sub.bot:answer\)"),
        ("python:needy:answer", "install what provides 'not_installed_anywhere'"),
        ("python:broken:answer", "broken cannot be imported: SyntaxError"),
        ("python:leaver:answer", "leaver cannot be imported: SystemExit: 0"),
        ("python:bot:sized", "its batch_size is 0"),
        ("python:bot:odd", "its concurrency is 'many'"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_what_is_missing(write: Write, spec: str, told: str) -> None:
    write("import not_installed_anywhere", "needy.py")
    write("def answer(:", "broken.py")
    write("import sys; sys.exit(0)", "leaver.py")
    settings = write(
        """
        VALUE = 1
        def answer(request): pass
        def sized(request): pass
        sized.batch_size = 0
        def odd(request): pass
        odd.concurrency = "many"
        """
    )
    with pytest.raises(UsageError, match=told):
        opened(spec, settings)


def test_the_module_of_the_working_folder_is_meant_even_if_another_of_that_name_was_loaded(tmp_path: Path) -> None:
    for name in ("first", "second", "first"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "samename.py").write_text(f"def answer(_): return {name!r}", encoding="utf-8")
        assert opened("python:samename:answer", Settings(base=folder)).ask([{}])[0].value == name


def test_the_fingerprint_follows_the_spec_and_the_source(write: Write) -> None:
    settings = write("def answer(_): return 1\ndef other(_): return 1")
    first = opened("python:bot:answer", settings).fingerprint
    assert opened("python:bot:answer", settings).fingerprint == first
    assert opened("python:bot:other", settings).fingerprint != first
    write("def answer(_): return 2")
    assert opened("python:bot:answer", settings).fingerprint != first


def test_the_fingerprint_covers_every_file_of_the_package(write: Write) -> None:
    write("", "pack/__init__.py")
    write("from pack.inner import rules\ndef answer(_): return 1", "pack/bot.py")
    write("", "pack/inner/__init__.py")
    settings = write("RULE = 1", "pack/inner/rules.py")
    first = opened("python:pack.bot:answer", settings).fingerprint
    write("RULE = 2", "pack/inner/rules.py")
    assert opened("python:pack.bot:answer", settings).fingerprint != first


def test_the_fingerprint_covers_the_module_that_defines_the_callable(write: Write) -> None:
    write("def answer(_): return 1", "inner_bot.py")
    settings = write("from inner_bot import answer", "outer_bot.py")
    first = opened("python:outer_bot:answer", settings).fingerprint
    write("def answer(_): return 2", "inner_bot.py")
    assert opened("python:outer_bot:answer", settings).fingerprint != first


def test_the_fingerprint_follows_what_the_callable_says_of_itself(write: Write) -> None:
    text = "import os\ndef answer(_): return 1\nanswer.fingerprint = os.environ['MODEL_NAME_OF_TEST']"
    code = (
        "from pathlib import Path; from yb_eval.targets import *; "
        "print(open_target('python:bot:answer', builtins={}, settings=Settings()).fingerprint)"
    )
    settings = write(text)
    found = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=settings.base, env={**os.environ, "MODEL_NAME_OF_TEST": model},
            capture_output=True, text=True, check=True,
        ).stdout
        for model in ("a", "b")
    }  # fmt: skip
    assert len(found) == 2


def test_an_installed_module_is_identified_with_its_distribution() -> None:
    target = opened("python:orjson:dumps", Settings())
    assert len(target.fingerprint) == 64
    assert len(opened("python:builtins:dict", Settings()).fingerprint) == 64
    assert opened("python:builtins:dict", Settings()).ask([{"a": 1}])[0].value == {"a": 1}


def test_a_target_is_found_again_in_another_process(write: Write) -> None:
    settings = write(
        """
        import threading
        class Bot:
            def __init__(self): self.lock = threading.Lock()
            def __call__(self, request): return request
        bot = Bot()
        """
    )
    target = opened("python:bot:bot", settings)
    again = pickle.loads(pickle.dumps(target))
    assert again.ask([{"a": 1}])[0].value == {"a": 1}
    assert (again.spec, again.fingerprint, again.batch_size) == (target.spec, target.fingerprint, target.batch_size)


def test_a_reference_target_pickles_with_its_callable() -> None:
    target = pickle.loads(pickle.dumps(callable_target(len, batch_size=5, timeout=2.0)))
    assert target.ask([{"a": 1}])[0].value == 1
    assert target.batch_size == 5


def test_a_callable_that_changes_its_request_changes_no_sample(write: Write) -> None:
    settings = write(
        """
        def answer(request):
            request["messages"].clear()
            request["metadata"]["n"] = 7
            return {}
        """
    )
    request = {"messages": [{"role": "user"}], "metadata": {}}
    assert failures(opened("python:bot:answer", settings), request) == [None]
    assert request == {"messages": [{"role": "user"}], "metadata": {}}
