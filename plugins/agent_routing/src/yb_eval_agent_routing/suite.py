"""The suite `agent-routing`: does the model load the right MCP tools?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, frozen

from yb_eval import Comparison, Context, Measurements, Plan, Suite, UsageError, hookimpl, option
from yb_eval.targets import Settings as TargetSettings
from yb_eval_agent_routing.agent import BYTE_LIMIT, HARD_LIMIT, Budget, Offers, Settings
from yb_eval_agent_routing.dataset import ScenarioDataset
from yb_eval_agent_routing.evaluator import AgentEvaluator
from yb_eval_agent_routing.gates import agent_gates
from yb_eval_agent_routing.graduation import GraduationGate, Limits
from yb_eval_agent_routing.metrics import agent_metrics
from yb_eval_agent_routing.providers import ModelOptions, builtins, from_environment, with_provider
from yb_eval_agent_routing.report import details
from yb_eval_agent_routing.schemas import ANSWER, REQUEST
from yb_eval_agent_routing.sweep import Ablation

YB_EVAL_API = 1

#: What runs when no scenarios are named.
DEFAULT = ("default", "wordings", "negatives", "livemcpbench")


@frozen(kw_only=True)
class Options:
    """The options of `yb-eval run agent-routing`."""

    scenarios: tuple[str, ...] = option(
        DEFAULT, help="Shipped scenarios by name, or a file of them; give it again for more.", identity=False
    )
    provider: str | None = option(
        None,
        help="What plays the model: bm25:K, mock:FILE, openai:MODEL, anthropic:MODEL, python:..., replay:FILE; "
        "the same as --target.",
        identity=False,
    )
    policy: Literal["in-band", "router", "search", "all", "none"] = option(
        "in-band", help="How tools get to the model: it loads groups, a router does, it searches, it has all or none."
    )
    expand_threshold: int | None = option(
        None,
        help="Offer groups with more tools than this tool by tool; 0: never. By default as scenarios say.",
        minimum=0,
    )
    max_tools: int = option(
        0, help=f"How many tools a model call may have; 0: the {HARD_LIMIT} that providers accept.", minimum=0
    )
    max_tool_bytes: int = option(BYTE_LIMIT, help="How many bytes of tools a model call may have.", minimum=1)
    nudge: bool = option(True, help="Remind a model once that answers without having loaded anything.")
    max_calls: int = option(10, help="Model calls of a turn before it is asked to sum up.", minimum=1, maximum=1000)
    top_k: int = option(5, help="With --policy search: how many tools a search finds.", minimum=1, maximum=1000)
    sticky: bool = option(False, help="Keep what is loaded for the later turns of a conversation.")
    scale: tuple[int, ...] = option((), help="Offer each scenario among this many groups; again for more sizes.")
    ablation: tuple[Ablation, ...] = option(
        (), help="Run each scenario also with its menu altered in this way; again for more."
    )
    endpoint: str | None = option(None, help="The base URL of openai: or anthropic:.", identity=False)
    temperature: float | None = option(None, help="The temperature to ask for.", minimum=0, maximum=2, identity=False)
    max_output_tokens: int = option(1024, help="Tokens an answer may have.", minimum=1, identity=False)
    stream: bool = option(False, help="Have answers streamed.", identity=False)
    token_weight: float = option(
        0.1,
        help="What needless tools cost in cost_weighted_score: 0.1 is a tenth of a hit for all tools.",
        minimum=0,
        maximum=10,
    )
    min_top1: float = option(0.25, help="The floor of top1.", minimum=0, maximum=1)
    graduation: bool = option(False, help="Say whether to stay with in-band routing or to move to the router.")
    max_raw_skip: float = option(
        0.1, help="With --graduation: the limit of raw_skip_rate's upper bound.", minimum=0, maximum=1
    )
    max_misroute: float = option(
        0.1, help="With --graduation: the limit of misroute_rate's upper bound.", minimum=0, maximum=1
    )
    min_scenarios: int = option(60, help="With --graduation: scenarios that need a group, at least.", minimum=1)
    min_repeats: int = option(3, help="With --graduation: repeats, at least.", minimum=1, maximum=1000)


def build(options: Options, context: Context) -> Plan:
    """The plan of one run."""
    offers = Offers(options.expand_threshold)
    target = context.open_target(_providers(options, context, offers))
    settings = Settings(
        policy=options.policy,
        budget=Budget(tools=options.max_tools, bytes=options.max_tool_bytes),
        nudge=options.nudge,
        max_calls=options.max_calls,
        top_k=options.top_k,
        sticky=options.sticky,
    )
    identity = {**asdict(settings), "expand_threshold": options.expand_threshold}
    return Plan(
        dataset=ScenarioDataset(options.scenarios, options.scale, options.ablation, context.seed),
        evaluator=AgentEvaluator(target, settings, offers, identity=identity),
        metrics=agent_metrics(token_weight=options.token_weight),
        gates=agent_gates(min_top1=options.min_top1, against=context.against, graduation=_graduation(options)),
        details=Details(options.min_top1, _graduation(options)),
    )


def _graduation(options: Options) -> GraduationGate | None:
    """The graduation rule, where it is asked for. Raises `UsageError` for a policy that it says nothing about."""
    if not options.graduation:
        return None
    if options.policy not in ("in-band", "router"):
        raise UsageError(f"--graduation is about in-band routing and the router, not about {options.policy!r}")
    limits = Limits(
        raw_skip=options.max_raw_skip,
        misroute=options.max_misroute,
        scenarios=options.min_scenarios,
        repeats=options.min_repeats,
    )
    return GraduationGate(limits, router=options.policy == "router")


@frozen(slots=True)
class Details:
    """Makes the suite's part of the report."""

    floor: float
    graduation: GraduationGate | None

    def __call__(self, measured: Measurements, comparison: Comparison | None) -> Mapping[str, Any]:
        said = None
        if self.graduation is not None:
            # Of the baseline's measurements a report knows nothing; the gate's reason is the whole sentence.
            said = None if self.graduation.router else self.graduation.recommend(measured).sentence
        return details(measured, floor=self.floor, recommendation=said)


def _providers(options: Options, context: Context, offers: Offers) -> Mapping[str, Any]:
    """What `--target` may name; with `--provider`, or where the environment names a provider, that in the place of the
    built-in one."""
    # More than one job: a scenario is asked call by call, so nothing is gained by handing a provider several at once.
    settings = getattr(context, "settings", None) or TargetSettings(jobs=2)
    model = ModelOptions(
        endpoint=options.endpoint,
        temperature=options.temperature,
        max_output_tokens=options.max_output_tokens,
        stream=options.stream,
        timeout=settings.timeout,
        retries=settings.retries,
    )
    if options.provider is not None:
        if context.target != "builtin":
            raise UsageError("--provider and --target name two providers", hint="use one of them")
        return with_provider(options.provider, offers, model, settings)
    named = from_environment(model) if context.target == "builtin" else None
    return builtins(offers, model) if named is None else with_provider(named.spec, offers, named.options, settings)


@hookimpl
def yb_eval_suite() -> Suite[Options]:
    return Suite(
        name="agent-routing",
        summary="Does the model load the right MCP tools?",
        options=Options,
        build=build,
        request=REQUEST,
        answer=ANSWER,
        targets={
            "builtin": "bm25:1, or what CHAT_EVAL_PROVIDER names",
            "bm25:K": "loads the K groups whose words are closest to the request's",
            "mock:FILE": "answers from a script",
            "openai:MODEL": "any OpenAI-compatible server (extra: openai)",
            "anthropic:MODEL": "Anthropic's messages API (extra: anthropic)",
        },
        baseline=Path("datasets/eval/agent_routing_baseline.json"),
        commands={
            "capture": "yb_eval_agent_routing.commands.capture:command",
            "import": "yb_eval_agent_routing.commands.import_servers:command",
            "table": "yb_eval_agent_routing.commands.table:command",
            "graduate": "yb_eval_agent_routing.commands.graduate:command",
        },
    )
