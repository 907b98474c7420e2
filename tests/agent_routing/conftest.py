"""A small world for tests of the agent: an environment, scenarios over it, a scripted model, and the suite run whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve

from yb_eval import Outcome, Sample, run_suite
from yb_eval.targets import CallableTarget
from yb_eval_agent_routing.agent import Budget, Offers, Settings
from yb_eval_agent_routing.evaluator import AgentEvaluator
from yb_eval_agent_routing.model import Capability, Environment, Scenario, Tool
from yb_eval_agent_routing.providers.mock import Script


def _tool(group: str, name: str, *, read_only: bool = True, description: str = "") -> Tool:
    return Tool(name=name, capability=group, read_only=read_only, description=description or f"{name} of {group}")


def desk() -> Environment:
    """Four groups: `jira` (2 read, 1 write tool), `wiki` (2), `metrics` (4), `calendar` (1)."""
    return Environment(
        id="desk",
        capabilities=(
            Capability(id="calendar", name="Calendar", description="meetings"),
            Capability(id="jira", name="Jira", description="issues and tickets"),
            Capability(id="metrics", name="Metrics", description="volumes and clusters"),
            Capability(id="wiki", name="Wiki", description="pages and runbooks"),
        ),
        tools=(
            _tool("calendar", "calendar_list"),
            _tool("jira", "jira_create", read_only=False),
            _tool("jira", "jira_get"),
            _tool("jira", "jira_search"),
            *(_tool("metrics", f"metrics_{what}") for what in ("clusters", "disks", "nodes", "volumes")),
            _tool("wiki", "wiki_read"),
            _tool("wiki", "wiki_search"),
        ),
    )


class World:
    """Builds scenarios over an environment and plays them against scripted answers."""

    environment = desk()

    def with_groups(self, **changes: Mapping[str, Any]) -> World:
        """The same world with some groups changed: `jira={"always_on": True}`."""
        other = World()
        other.environment = evolve(
            self.environment,
            capabilities=tuple(evolve(c, **changes.get(c.id, {})) for c in self.environment.capabilities),
        )
        return other

    def over(self, environment: Environment) -> World:
        other = World()
        other.environment = environment
        return other

    def scenario(self, message: str | Sequence[str] = "Which issues are open?", **fields: Any) -> Scenario:
        messages = [message] if isinstance(message, str) else message
        fields.setdefault("kind", "load" if fields.get("expected") or fields.get("any_of") else "skip")
        return Scenario(
            id=fields.pop("id", "case"),
            name=fields.pop("name", "case"),
            messages=fields.pop("messages", tuple({"role": "user", "content": text} for text in messages)),
            environment=self.environment,
            **{key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()},
        )

    def judge(
        self, scenario: Scenario, answers: Sequence[Any] | Callable[[Mapping[str, Any]], Any], **settings: Any
    ) -> Outcome:
        """The outcome of a scenario whose model calls are answered by a script or a function."""
        threshold = settings.pop("threshold", None)
        budget = Budget(**{key: settings.pop(key) for key in ("tools", "bytes") if key in settings})
        call = answers if callable(answers) else Script({scenario.id: list(answers)})
        evaluator = AgentEvaluator(
            CallableTarget(call, fingerprint="0" * 64),
            Settings(budget=budget, **settings),
            Offers(threshold),
            identity={},
        )
        (outcome,) = evaluator.evaluate([Sample(scenario.id, scenario, scenario.tags)])
        return outcome


def load(*groups: str, tools: Sequence[str] = ()) -> dict[str, Any]:
    """A model's answer that loads."""
    arguments: dict[str, Any] = {"groups": list(groups)} if groups or not tools else {}
    if tools:
        arguments["tools"] = list(tools)
    return {"tool_calls": [{"name": "load_tools", "arguments": arguments}]}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A model's answer that calls a tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def text(said: str = "Done.") -> dict[str, Any]:
    return {"text": said}


@pytest.fixture
def world() -> World:
    return World()


class Says:
    """The answers a scripted model can give."""

    load, call, text = staticmethod(load), staticmethod(call), staticmethod(text)


@pytest.fixture
def says() -> type[Says]:
    return Says


@pytest.fixture
def recorded() -> Callable[..., Any]:
    """Wraps answers in a function that notes every request in `.requests`."""

    class Recorded:
        def __init__(self, *answers: Any) -> None:
            self.answers = answers
            self.requests: list[dict[str, Any]] = []

        def __call__(self, request: Mapping[str, Any]) -> Any:
            self.requests.append(dict(request))
            place = len(self.requests) - 1
            return self.answers[place] if place < len(self.answers) else {}

    return Recorded


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Runs the installed suite in a folder of its own and returns its part of the JSON report."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROVIDER", "ENDPOINT", "MODEL", "API_KEY"):
        monkeypatch.delenv(f"CHAT_EVAL_{name}", raising=False)

    def run(*, code: int | None = 0, **arguments: Any) -> dict[str, Any]:
        own = {key: arguments.pop(key) for key in list(arguments) if key.replace("_", "-") in OWN}
        options = {key.replace("_", "-"): value for key, value in own.items()}
        report = run_suite("agent-routing", store=tmp_path / "store", options=options, **arguments)
        assert code is None or report["exit_code"] == code, [gate for s in report["suites"] for gate in s["gates"]]
        return report["suites"][0]

    return run


def _own() -> set[str]:
    from yb_eval.options import describe
    from yb_eval_agent_routing.suite import Options

    return {info.name for info in describe(Options)}


OWN = _own()


@pytest.fixture
def outcomes_of(tmp_path):
    """The outcome lines of a report's suite, from the store."""
    from yb_eval.record import Store, read_log

    def read(report: Mapping[str, Any]) -> list[dict[str, Any]]:
        with Store(tmp_path / "store").open(report["outcomes"]["sha256"]) as log:
            return list(read_log(log))

    return read


@pytest.fixture
def model_server():
    """A server that speaks the wire formats of the real providers: see `ar_model_server.py`."""
    import importlib.util
    from pathlib import Path

    place = Path(__file__).with_name("ar_model_server.py")
    spec = importlib.util.spec_from_file_location("ar_model_server", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = module.ModelServer()
    yield server
    server.close()
