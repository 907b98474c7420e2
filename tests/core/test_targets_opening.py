"""From a spec to a target."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from yb_eval.errors import PluginError, UsageError
from yb_eval.interfaces import Target
from yb_eval.targets import SCHEMES, CallableTarget, Settings, check_target, open_target


def made(name: str = "made") -> Target:
    return CallableTarget(lambda _: name, fingerprint="a" * 64, spec=name)


def said(spec: str, **more: Any) -> Any:
    builtins = {
        "builtin": lambda: made("builtin"),
        "length": lambda limit="10": made(limit),
        "fitted": lambda model: made(model),
    }
    (answer,) = open_target(spec, builtins=builtins, **more).ask([{}])
    return answer.value


def test_builtins_are_opened_by_name_and_take_an_argument_where_they_have_one() -> None:
    assert said("builtin") == "builtin"
    assert said("length") == "10"
    assert said("length:20:30") == "20:30"
    assert said("fitted:a.json") == "a.json"


def test_an_argument_too_many_or_too_few_is_refused() -> None:
    with pytest.raises(UsageError, match="'builtin' takes no argument"):
        said("builtin:x")
    with pytest.raises(UsageError, match=r"'fitted' needs an argument \(--target fitted:MODEL\)"):
        said("fitted")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("", "unknown target ''"),
        ("bultin", "did you mean 'builtin'"),
        ("pyhton:bot:answer", "did you mean 'python:'"),
        ("htps://x", r"did you mean 'http"),
        ("bot:answer", r"\(python:bot:answer\)"),
        ("python", "did you mean 'python:'"),
        ("bot.py", r"\(exec:python bot.py\)"),
        ("run.sh", r"\(exec:run.sh\)"),
        ("old.jsonl", r"\(replay:old.jsonl\)"),
        ("grcp:host", "did you mean 'grpc:'"),
        ("bad\x1b[2Jspec", r"cannot be printed"),
        ("bad\ud800", r"cannot be printed"),
    ],
)
def test_an_unknown_spec_is_refused_with_what_may_be_meant(tmp_path: Path, spec: str, told: str) -> None:
    for name in ("bot.py", "run.sh", "old.jsonl"):
        (tmp_path / name).write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        said(spec, schemes={"grpc": lambda spec, settings: made()}, settings=Settings(base=tmp_path))


def test_credentials_in_a_spec_are_not_shown() -> None:
    with pytest.raises(UsageError) as caught:
        said("htpp://bob:hunter22@host/")
    assert "hunter22" not in str(caught.value)


def test_a_plugins_scheme_gets_the_whole_spec_and_the_settings() -> None:
    seen = []

    def grpc(spec: str, settings: Settings) -> Target:
        seen.append((spec, settings.timeout))
        return made("grpc")

    assert said("grpc:host:1", schemes={"grpc": grpc}, settings=Settings(timeout=5.0)) == "grpc"
    assert seen == [("grpc:host:1", 5.0)]


def test_a_plugin_cannot_take_over_a_scheme_of_core() -> None:
    assert said("python:builtins:dict", schemes={"python": lambda spec, settings: made("stolen")}) == {}


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(0)])
def test_a_plugin_that_fails_is_named(error: BaseException) -> None:
    def broken(spec: str, settings: Settings) -> Target:
        raise error

    with pytest.raises(PluginError, match=f"the plugin target grpc: cannot be opened: {type(error).__name__}"):
        said("grpc:x", schemes={"grpc": broken})


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("fingerprint", "abc", "no fingerprint"),
        ("batch_size", 0, "no valid batch_size"),
        ("concurrency", "many", "concurrency"),
    ],
)
def test_a_plugins_target_that_breaks_the_contract_is_refused(attribute: str, value: object, told: str) -> None:
    target = made()
    setattr(target, attribute, value)
    with pytest.raises(PluginError, match=told):
        said("grpc:x", schemes={"grpc": lambda spec, settings: target})


def test_the_schemes_of_core_are_offered_as_a_plugin_would_offer_them() -> None:
    assert set(SCHEMES) == {"python", "exec", "http", "https", "replay"}
    assert SCHEMES["python"]("python:builtins:dict", Settings()).ask([{"a": 1}])[0].value == {"a": 1}


@pytest.mark.parametrize(
    "given",
    [
        {"timeout": 0.0},
        {"timeout": float("nan")},
        {"timeout": float("inf")},
        {"retries": -1},
        {"jobs": 0},
        {"jobs": 1.5},
    ],
)
def test_settings_that_mean_nothing_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(given))):
        Settings(**given)


def test_a_target_is_closed_if_what_goes_around_it_cannot_be_opened(tmp_path: Path) -> None:
    closed = []

    class Closing(CallableTarget):
        def close(self) -> None:
            closed.append(True)

    (tmp_path / "file").write_bytes(b"")
    make = {"builtin": lambda: Closing(len, fingerprint="a" * 64)}
    with pytest.raises(Exception, match="cannot be written"):
        open_target("builtin", builtins=make, settings=Settings(base=tmp_path, record=Path("file/c.jsonl")))
    assert closed == [True]


def test_importing_the_targets_imports_neither_httpx_nor_asyncio_nor_subprocess() -> None:
    code = (
        "import sys; from yb_eval.targets import open_target; "
        "open_target('python:builtins:dict', builtins={}).ask([{}]); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"httpx", "httpcore", "tenacity", "asyncio", "subprocess", "filelock", "numpy"} & set(loaded)


def never(*_: Any) -> Target:
    raise AssertionError("nothing is opened to be checked")


@pytest.mark.parametrize(
    "spec",
    [
        "builtin",
        "fitted:a.json",
        "mine:x",
        "python:package.module:answer",
        "python:os.path:join",
        "python:nested.in.it:f",
    ],
)
def test_checking_a_target_opens_none(tmp_path: Path, spec: str) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("raise AssertionError('imported')", encoding="utf-8")
    (tmp_path / "package" / "module.py").write_text("", encoding="utf-8")
    (tmp_path / "nested" / "in").mkdir(parents=True)
    (tmp_path / "nested" / "in" / "it.py").write_text("", encoding="utf-8")
    builtins: dict[str, Any] = {"builtin": lambda: never(), "fitted": lambda model: never()}
    check_target(spec, builtins=builtins, schemes={"mine": never}, settings=Settings(base=tmp_path))


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("bultin", "unknown target"),
        ("builtin:x", "takes no argument"),
        ("fitted", "needs an argument"),
        ("python:os.path", "does not name a callable"),
        ("python:bot.py:answer", "is a file, not a module"),
        ("python:no_such_module:answer", "there is no module 'no_such_module'"),
        ("python:json.no_such:answer", "there is no module 'json.no_such'"),
        ("python:json.decoder.no_such:answer", "there is no module 'json.decoder.no_such'"),
        ("exec:", "names no command"),
        ("http://", "no host"),
        ("replay:no_such.jsonl", "cannot be read"),
    ],
)
def test_what_is_checked_is_refused_in_the_words_of_opening(spec: str, what: str) -> None:
    builtins: dict[str, Any] = {"builtin": lambda: made(), "fitted": lambda model: made(model)}
    refused = []
    for function in (check_target, open_target):
        with pytest.raises(UsageError, match=what) as caught:
            function(spec, builtins=builtins)
        refused.append(str(caught.value))
    assert refused[0] == refused[1]
