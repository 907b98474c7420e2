"""Agents as triagers: their hand-offs as they happen, driven by a model server on the loopback interface.

The cases are those of public reports: an agent says that it hands off and does not, hands to the wrong one, or goes
round in circles until it runs out of turns.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from yb_eval import UsageError, run_suite
from yb_eval.targets import Settings
from yb_eval_triage.agents import MAX_TURNS, promises, reference_agent_target, user_agent_target
from yb_eval_triage.task import Task

pytest.importorskip("agents")


def tools_of(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def behave(completion: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    """A model that does what the item's text says."""

    def reply(body: dict[str, Any]) -> Any:
        item = json.loads(next(m["content"] for m in body["messages"] if m["role"] == "user"))["text"]
        verb, _, where = item.partition(" ")
        tools = tools_of(body)
        began = "transfer_to_triage" not in tools
        if verb == "hand" and began:
            return completion(None, f"transfer_to_{where}")
        if verb == "say":
            return completion("Thank you. I am transferring you to our billing team now.")
        if verb == "keep":
            return completion("That is nothing for us.")
        if verb == "loop":
            return completion(None, f"transfer_to_{where}" if began else "transfer_to_triage")
        if verb == "return" and began and not any(m["role"] == "tool" for m in body["messages"]):
            return completion(None, f"transfer_to_{where}")
        if verb == "return" and not began:
            return completion(None, "transfer_to_triage")
        return completion("Got it.")

    return reply


def ask(target: Any, text: str) -> Any:
    (answer,) = target.ask([{"id": "a", "task": "desk", "text": text, "meta": {}}])
    assert answer.failure is None, answer.failure
    return answer.value


@pytest.fixture
def agent(desk: Task, model_server: Any, completion: Any) -> Any:
    model_server.reply = behave(completion)
    target = reference_agent_target("m", [desk])
    yield target
    target.close()


def test_a_hand_off_is_captured_with_its_label(agent: Any, model_server: Any) -> None:
    assert ask(agent, "hand outage") == {"label": "outage", "handoff": "outage", "path": ["outage"], "promised": False}
    assert tools_of(model_server.bodies[0]) == [
        "transfer_to_outage",
        "transfer_to_billing_desk",
        "transfer_to_question",
    ]
    assert ask(agent, "hand billing_desk")["label"] == "billing"


def test_saying_so_is_not_doing_so(agent: Any) -> None:
    said = ask(agent, "say billing")
    assert (said["handoff"], said["path"], said["promised"]) == (None, [], True)


def test_what_is_kept_is_out_of_scope(agent: Any) -> None:
    assert ask(agent, "keep it") == {"label": "other", "handoff": None, "path": [], "promised": False}


def test_a_loop_is_measured_and_not_an_error(agent: Any, model_server: Any) -> None:
    said = ask(agent, "loop outage")
    assert said["path"] == ["outage", "triage"] * (MAX_TURNS // 2)
    assert said["handoff"] == "triage"
    assert "label" not in said
    assert len(model_server.bodies) == MAX_TURNS


def test_an_item_handed_back_is_kept_after_a_detour(agent: Any) -> None:
    said = ask(agent, "return outage")
    assert (said["handoff"], said["path"]) == (None, ["outage", "triage"])


def test_a_hand_off_to_nobody_known_is_a_failure(agent: Any) -> None:
    (answer,) = agent.ask([{"id": "a", "task": "desk", "text": "hand legal", "meta": {}}])
    assert "transfer_to_legal" in answer.failure


def test_a_whole_run_tells_the_failures_apart(
    desk_file: Path, write: Callable[..., Path], model_server: Any, completion: Any, tmp_path: Path
) -> None:
    model_server.reply = behave(completion)
    cases = [
        ("hand outage", "outage"),
        ("hand billing_desk", "billing"),
        ("hand question", "billing"),
        ("say billing", "billing"),
        ("loop question", "question"),
        ("keep it", "other"),
        ("hand question", "other"),
    ]
    rows = [{"id": f"r{i}", "text": text, "gold": {"label": label}} for i, (text, label) in enumerate(cases)]
    report = run_suite(
        "triage",
        store=tmp_path / "store",
        options={"task": [str(desk_file)], "rows": write(rows)},
        target="agents:m",
        jobs=3,
        gate=["handoff.broken_promises == 0", "handoff.loop_rate <= 0.1"],
    )
    suite = report["suites"][0]
    assert suite["counts"]["error"] == 0
    found = {
        n.removeprefix("handoff."): m["value"] for n, m in suite["measurements"].items() if n.startswith("handoff.")
    }
    assert found["recall"] == 2 / 5
    assert found["missing_rate"] == 1 / 5
    assert found["wrong_target_rate"] == 2 / 5
    assert found["needless_rate"] == 1 / 2
    assert found["broken_promises"] == 1
    assert found["loop_rate"] == 1 / 5
    verdicts = {gate["gate"]: gate["verdict"] for gate in suite["gates"]}
    assert verdicts["handoff.broken_promises == 0"] == verdicts["handoff.loop_rate <= 0.1"] == "fail"


MINE = """
from dataclasses import dataclass
from agents import Agent

@dataclass
class Triage:
    label: str
    severity: int
    confidence: float

desk = Agent(name="front", model="m", instructions="Triage.", output_type=Triage)
not_an_agent = 3
"""


def test_an_agent_of_ones_own_may_answer_in_a_type(
    desk: Task, model_server: Any, completion: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_triage_agent.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_triage_agent", raising=False)
    model_server.reply = lambda body: completion('{"response": {"label": "outage", "severity": 3, "confidence": 0.5}}')
    target = user_agent_target("my_triage_agent:desk", [desk])
    assert ask(target, "down") == {
        "label": "outage", "severity": 3, "confidence": 0.5, "handoff": None, "path": [], "promised": False,
    }  # fmt: skip
    target.close()
    for place, fault in (
        ("my_triage_agent:not_an_agent", "is a int, not an agent"),
        ("my_triage_agent:gone", "cannot be imported: AttributeError"),
        ("no_such_module_here:x", "cannot be imported: ModuleNotFoundError"),
        ("my_triage_agent", "does not name an agent"),
    ):
        with pytest.raises(UsageError, match=fault):
            user_agent_target(place, [desk])


@pytest.mark.parametrize(
    "text",
    [
        "I am handing you off to billing.",
        "Let me transfer you to an expert.",
        "I'll connect you with the team.",
        "We will forward your request to the finance desk.",
        "I will escalate this to the engineer.",
        "Сейчас переведу вас на специалиста.",
        "Передаю обращение в отдел оплаты.",
    ],
)
def test_promises_are_recognised(text: str) -> None:
    assert promises(text)


@pytest.mark.parametrize(
    "text", ["", "Your transfer arrived.", "The report is attached.", "Passwords are reset in the settings.", "Готово."]
)
def test_other_texts_promise_nothing(text: str) -> None:
    assert not promises(text)


def test_the_runs_retries_hold_for_an_agents_model_calls(desk: Task, model_server: Any) -> None:
    model_server.status = 500
    for retries in (0, 1):
        model_server.bodies.clear()
        target = reference_agent_target("m", [desk], Settings(timeout=5, retries=retries))
        (answer,) = target.ask([{"id": "a", "task": "desk", "text": "x", "meta": {}}])
        target.close()
        assert "500" in answer.failure
        assert len(model_server.bodies) == 1 + retries
