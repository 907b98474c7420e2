"""What acceptance found wrong: costs of services whose price only the user knows, and commands that waited for a minute."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from yb_eval import UsageError, run_suite
from yb_eval_decision.backends.base import Backend, Price
from yb_eval_decision.backends.cascade import CascadeBackend
from yb_eval_decision.backends.opening import open_backend
from yb_eval_decision.commands.benching import bench
from yb_eval_decision.commands.calibrating import calibrate
from yb_eval_decision.commands.checking import check
from yb_eval_decision.registry import resolve_evals


def _load(name: str) -> Any:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


servers = _load("decision_servers")

#: A request takes 120 input and 8 output tokens of every service here, and a row is one request.
ROWS = 5


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.jsonl"
    lines = [{"id": f"r{i}", "sample": {"output": f"Ответ {i}."}, "labels": {"coherence": True}} for i in range(ROWS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def _summary(tmp_path: Path, rows: str, backend: str, **more: Any) -> list[str]:
    options = {"data": [rows], "evals": ["coherence"], "backend": backend, **more}
    report = run_suite("decision", store=tmp_path / "store", options=options)
    return list(report["suites"][0]["details"].get("summary", ()))


@pytest.mark.parametrize("spec", ["{url}", "local -> {url}", "local -> {kev} -> {url}"])
def test_a_run_reckons_with_the_price_that_it_was_given_as_its_dry_run_does(
    tmp_path: Path, rows: str, spec: str
) -> None:
    with servers.serving(servers.system_one(0.4)) as service:
        named = spec.format(url=service.url, kev=f"kev://127.0.0.1:{service.port}")
        asked = {"input-price": 100.0, "output-price": 1000.0}
        (cost,) = (line for line in _summary(tmp_path, rows, named, **asked) if line.startswith("cost"))
    # 120 x $100 + 8 x $1000 for a million is two cents; what Kev answers on the way is free.
    assert cost.startswith(f"cost ${ROWS * 0.02:.4f}, ")


def test_a_price_that_is_known_is_not_replaced(tmp_path: Path, rows: str) -> None:
    with servers.serving(servers.system_one()) as service:
        said = _summary(tmp_path, rows, f"kev://127.0.0.1:{service.port}", **{"input-price": 100.0})
    assert not [line for line in said if line.startswith("cost")]


def test_without_a_price_no_cost_is_told(tmp_path: Path, rows: str) -> None:
    with servers.serving(servers.system_one()) as service:
        assert not [line for line in _summary(tmp_path, rows, service.url) if line.startswith("cost")]


class _Waiting(Backend):
    waits = True

    def __init__(self, price: Price | None = None) -> None:
        self.spec, self.fingerprint, self.price = "waiting", "0" * 64, price


def test_what_computes_here_stays_free_and_each_stage_keeps_its_own_price() -> None:
    here, own, unknown = open_backend("mock"), _Waiting(Price(input=1.0)), _Waiting()
    cascade = CascadeBackend([here, own, unknown])
    assert cascade.price is None
    cascade.reckon(Price(input=2.0, output=3.0))
    assert own.price == Price(input=1.0) and unknown.price == Price(input=2.0, output=3.0)
    assert cascade.price == Price(input=3.0, output=3.0)
    free = here.price
    here.reckon(Price(input=9.0))
    assert here.price == free


@pytest.mark.parametrize("command", ["check", "calibrate", "bench"])
def test_a_service_that_hangs_is_given_up_when_the_command_says(tmp_path: Path, rows: str, command: str) -> None:
    (tmp_path / "one.json").write_text('{"output": "Ответ."}', encoding="utf-8")
    with servers.serving(servers.hang) as service:
        more = ["--backend", service.url, "--timeout", "0.05"]
        said: Result
        if command == "check":
            said = CliRunner().invoke(check, [str(tmp_path / "one.json"), "-e", "coherence", *more])
            assert "no answer within 0.05 s" in said.output
        elif command == "calibrate":
            said = CliRunner().invoke(calibrate, ["--data", rows, "-e", "coherence", *more])
        else:
            said = CliRunner().invoke(bench, ["--data", rows, "-e", "coherence", "--n", "2", *more])
        assert service.answered == 0
    assert said.exit_code == 3, said.output


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_timeout_that_is_none_is_refused(tmp_path: Path, seconds: str) -> None:
    (tmp_path / "one.json").write_text('{"output": "Ответ."}', encoding="utf-8")
    asked = [str(tmp_path / "one.json"), "-e", "coherence", "--backend", "mock", "--timeout", seconds]
    said = CliRunner().invoke(check, asked)
    assert isinstance(said.exception, UsageError) and "timeout" in str(said.exception)


@pytest.mark.parametrize("spec", ["openai", "openai:", "anthropic:", "llm"])
def test_a_chat_backend_without_a_model_is_refused_once(spec: str) -> None:
    with pytest.raises(UsageError) as refused:
        open_backend(spec)
    assert str(refused.value).startswith(f"{spec.rstrip(':')}: it names no model")


def test_a_folder_of_evals_without_its_slash_is_refused_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "polite.yaml").write_text("questions: {q: {type: noul, instructions: 'Вежливо?'}}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="own/"):
        resolve_evals("own")
    assert [one.name for one in resolve_evals("own/")] == ["polite"]
    with pytest.raises(UsageError, match="no eval is named"):
        resolve_evals("o" * 5000)
