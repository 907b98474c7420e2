"""The agent: it shows a model the menu, delivers the tools it loads, and lets it call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import define, field, frozen

from yb_eval_agent_routing.agent import prompts
from yb_eval_agent_routing.agent.delivery import Budget, Delivery, deliver
from yb_eval_agent_routing.agent.loading import LOAD_DEFINITION, Loaded, Request, Unreadable, read, reply
from yb_eval_agent_routing.agent.menu import Menu
from yb_eval_agent_routing.agent.offer import LOAD_TOOLS, SEARCH_TOOLS, Offer
from yb_eval_agent_routing.agent.replies import Call, Reply, read_reply, written_calls
from yb_eval_agent_routing.agent.router import choose_groups
from yb_eval_agent_routing.agent.searching import SEARCH_DEFINITION, search
from yb_eval_agent_routing.agent.tokens import tool_tokens
from yb_eval_agent_routing.agent.trace import Trace
from yb_eval_agent_routing.model import Scenario

Policy = Literal["in-band", "router", "search", "all", "none"]

#: Sends one request to the model and returns its answer. Raises for what is no answer.
Ask = Callable[[Mapping[str, Any]], Any]

OWN_TOKENS = {LOAD_TOOLS: tool_tokens(LOAD_DEFINITION), SEARCH_TOOLS: tool_tokens(SEARCH_DEFINITION)}
TOOL_RESULT = "(ok)"


@frozen(slots=True, kw_only=True)
class Settings:
    """How the agent works. `max_calls` bounds the model calls of a turn, the closing summary not counted; `top_k` is
    how many tools a search finds; `sticky` keeps what was loaded for later turns of a conversation.
    """

    policy: Policy = "in-band"
    budget: Budget = field(factory=Budget)
    nudge: bool = True
    max_calls: int = 10
    top_k: int = 5
    sticky: bool = False


def run(
    scenario: Scenario, offer: Offer, menu: Menu, settings: Settings, ask: Ask, transcript: list[dict[str, Any]]
) -> Trace:
    """Plays a scenario's conversation and returns the trace of its last turn; all of it is written to `transcript`.

    A user message that is followed by another one is answered by the model first; one that is followed by a scripted
    answer is history. What was loaded is forgotten after a turn, unless it is sticky.
    """
    conversation = _Conversation(scenario, offer, menu, settings, ask, transcript)
    messages = scenario.messages
    trace = None
    for place, message in enumerate(messages):
        conversation.add({"role": message["role"], "content": message["content"]})
        is_last = place + 1 == len(messages)
        if message["role"] == "user" and (is_last or messages[place + 1]["role"] == "user"):
            trace = conversation.turn()
    assert trace is not None, "a scenario ends with a user's message"
    return trace


@define(slots=True)
class _Conversation:
    scenario: Scenario
    offer: Offer
    menu: Menu
    settings: Settings
    ask: Ask
    transcript: list[dict[str, Any]]
    messages: list[dict[str, Any]] = field(factory=list)
    loaded: Loaded = field(factory=Loaded)
    system: str = ""
    own: tuple[Mapping[str, Any], ...] = ()
    shown: str | None = None
    requests: int = 0
    tool_calls: int = 0

    def add(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self.transcript.append(message)

    def turn(self) -> Trace:
        """Answers the last user's message."""
        trace = self._begin()
        for _ in range(self.settings.max_calls):
            delivery = self._deliver()
            said = self._call(trace, delivery)
            if said.calls:
                self._answer_calls(trace, delivery, said.calls)
            elif self._needs_nudge(trace):
                trace.nudged, trace.loads_before_nudge = True, trace.load_calls
                trace.routing_calls += 1
                self.add({"role": "system", "content": prompts.NUDGE})
            else:
                break
        else:
            trace.hit_limit = True
            self.add({"role": "system", "content": prompts.SUMMARY})
            self._call(trace, None)
        trace.loaded = self.loaded
        return trace

    def _begin(self) -> Trace:
        policy, offer = self.settings.policy, self.offer
        if not self.settings.sticky:
            self.loaded = Loaded()
        routes = policy not in ("all", "none")
        trace = Trace(routing_active=bool(offer.deferred) if routes else None)
        trace.active = policy != "none" and (bool(self.loaded) or bool(offer.always_on))
        self.own, self.system = (), prompts.BASE
        if policy == "in-band":
            self.own = (LOAD_DEFINITION,) if self.menu.text else ()
            self.system = prompts.in_band(self.menu)
        elif policy == "search":
            self.own = (SEARCH_DEFINITION,) if offer.searchable else ()
            self.system = prompts.search(bool(self.own))
        elif policy == "all":
            self.loaded = Loaded(offer.deferred_ids)
            trace.active = bool(offer.groups)
        elif policy == "router" and self.menu.text:
            self._route(trace)
        return trace

    def _route(self, trace: Trace) -> None:
        trace.routing_calls += 1
        trace.sent(None, menu_tokens=self.menu.tokens)
        said = read_reply(self.ask(self._request("route", prompts.route(self.menu), ())))
        self._came(trace, said)
        choice = choose_groups(self.offer, said.text)
        if choice is None:
            trace.malformed_calls += 1
        elif choice.groups or choice.tools or choice.unknown_groups or choice.unknown_tools:
            self._load(trace, choice)

    def _deliver(self) -> Delivery | None:
        if self.settings.policy == "none":
            return None
        return deliver(self.offer, self.loaded, self.settings.budget, self.own)

    def _call(self, trace: Trace, delivery: Delivery | None) -> Reply:
        own = self.own if delivery is not None else ()
        # Where there is no menu in the prompt there is none to pay for.
        menu_tokens = self.menu.tokens if self.settings.policy == "in-band" else 0
        trace.sent(delivery, menu_tokens=menu_tokens, own_tokens=sum(OWN_TOKENS[str(tool["name"])] for tool in own))
        tools = delivery.definitions if delivery is not None else ()
        said = read_reply(self.ask(self._request("chat", self.system, tools)))
        self._came(trace, said)
        if not said.calls:
            self.messages.append({"role": "assistant", "content": said.text})
            if said.text:
                names = {*self.offer.names.values(), LOAD_TOOLS, SEARCH_TOOLS}
                trace.written_calls |= dict.fromkeys(written_calls(said.text, names))
        return said

    def _came(self, trace: Trace, said: Reply) -> None:
        entry: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.calls:
            entry["tool_calls"] = [
                {"name": call.name, "arguments": call.malformed if call.arguments is None else dict(call.arguments)}
                for call in said.calls
            ]
        if said.stop is not None:
            entry["stop"] = said.stop
        self.transcript.append(entry)
        trace.used_by(said.usage)

    def _request(self, purpose: str, system: str, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        self.requests += 1
        if self.shown != system:
            self.shown = system
            self.transcript.append({"role": "system", "content": system})
        return {
            "scenario": self.scenario.id,
            "environment": self.offer.digest,
            "policy": self.settings.policy,
            "purpose": purpose,
            "call": self.requests - 1,
            "system": system,
            "messages": list(self.messages),
            "tools": list(tools),
        }

    def _needs_nudge(self, trace: Trace) -> bool:
        return (
            self.settings.nudge
            and self.settings.policy == "in-band"
            and bool(self.menu.text)
            and not trace.nudged
            and not trace.active
            and not self.loaded
        )

    def _answer_calls(self, trace: Trace, delivery: Delivery | None, calls: Sequence[Call]) -> None:
        offered = {offered.definition["name"]: offered.id for offered in delivery.tools} if delivery is not None else {}
        own = {tool["name"] for tool in self.own} if delivery is not None else set()
        if all(call.name in own for call in calls):
            trace.routing_calls += 1
        made, results = [], []
        for call in calls:
            self.tool_calls += 1
            identity = f"call_{self.tool_calls}"
            if call.name in own:
                text, failed = self._own_call(trace, call)
            else:
                text, failed = self._tool_call(trace, call, offered)
            made.append({"id": identity, "name": call.name, "arguments": dict(call.arguments or {})})
            results.append(
                {
                    "role": "tool",
                    "id": identity,
                    "name": call.name,
                    "content": text,
                    **({"failed": True} if failed else {}),
                }
            )
        self.messages.append({"role": "assistant", "content": self.transcript[-1]["content"], "tool_calls": made})
        self.messages += results
        self.transcript += results

    def _own_call(self, trace: Trace, call: Call) -> tuple[str, bool]:
        try:
            if call.malformed is not None:
                raise Unreadable("the arguments are not a JSON object")
            if call.name == SEARCH_TOOLS:
                request, text = search(self.offer, call.arguments, self.settings.top_k)
                self._load(trace, request)
                return text, False
            request = read(self.offer, call.arguments)
        except Unreadable as error:
            trace.malformed_calls += 1
            return f"Error: {call.name}: {error}.", True
        self._load(trace, request)
        return reply(self.offer, request, self.loaded), False

    def _load(self, trace: Trace, request: Request) -> None:
        trace.load_calls += 1
        trace.asked |= dict.fromkeys(request.asked)
        trace.asked_tools |= dict.fromkeys(tool.qualified_id for tool in request.tools)
        trace.unknown |= dict.fromkeys([*request.unknown_groups, *request.unknown_tools])
        if trace.first_choice is None and request.asked:
            trace.first_choice = request.asked
        now = self.loaded.with_request(request)
        if trace.load_calls > 1:
            trace.reloads += 1
            trace.redundant_reloads += now == self.loaded
        self.loaded = now

    def _tool_call(self, trace: Trace, call: Call, offered: Mapping[str, str]) -> tuple[str, bool]:
        if call.name not in offered:
            tool = self.offer.named(call.name)
            if tool is None:
                trace.unknown_calls[call.name] = None
                return f"Error: there is no tool {call.name}.", True
            trace.unloaded_calls[tool.qualified_id] = None
            return f"Error: the tool {call.name} is not loaded.", True
        if call.malformed is not None:
            trace.malformed_calls += 1
            return f"Error: {call.name}: the arguments are not a JSON object.", True
        trace.called[offered[call.name]] = None
        return TOOL_RESULT, False
