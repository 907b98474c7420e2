"""The same scenarios on larger menus and on altered ones: what does the choice of a group hang on?

`scaled` offers each scenario among more groups, or fewer. The additional groups are drawn from shipped catalogues by a
seed, and the draws are nested: the menu of 20 groups holds all of the menu of 5. Nobody has judged whether a distractor
could serve a request as well, so read the sweep as a trend. `ablated` takes something away from the menu.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from attrs import define, evolve, field, frozen

from yb_eval import UsageError
from yb_eval.datasets import DataFile
from yb_eval_agent_routing.catalogue import read_catalogue
from yb_eval_agent_routing.documents import read_file
from yb_eval_agent_routing.model import SEPARATOR, Capability, Environment, Scenario, Tool
from yb_eval_agent_routing.scenarios import ScenarioSet
from yb_eval_datasets import path as data_path

#: How many groups the menus of a scale sweep have.
SIZES = (5, 20, 70, 200)

#: What a menu can lack: descriptions, so that names must do; the order of the ids; the names, so that descriptions must.
Ablation = Literal["no-descriptions", "shuffled", "anonymised"]
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)

_POOL = ("agent_routing/livemcpbench/catalogue.json", "agent_routing/metatool/catalogue.json")


@frozen(slots=True)
class Pool:
    """The groups that distractors are drawn from, and the files they stand in."""

    environment: Environment
    files: tuple[DataFile, ...] = field(repr=False)

    @classmethod
    def shipped(cls) -> Pool:
        """The servers of LiveMCPBench and the tools of MetaTool: 269 groups.

        All of their tools count as read-only, so that a distractor is there in every mode.
        """
        files = tuple(
            read_file(data_path(name), role=f"distractors-{number}") for number, name in enumerate(_POOL, start=1)
        )
        environments = [read_catalogue(file).environment("distractors") for file in files]
        return cls(
            Environment(
                id="distractors",
                capabilities=tuple(c for environment in environments for c in environment.capabilities),
                tools=tuple(evolve(tool, read_only=True) for e in environments for tool in e.tools),
            ),
            files,
        )


def scaled(scenarios: ScenarioSet, sizes: Sequence[int] = SIZES, *, seed: int, pool: Pool | None = None) -> ScenarioSet:
    """Every scenario once for each size, the id with `@20` behind it and the tag `size:20`.

    Scenarios without a suitable group are left out: among strangers there may be one. Raises `UsageError` for a size
    that cannot be had.
    """
    repeated = next((size for index, size in enumerate(sizes) if size in sizes[:index]), None)
    if repeated is not None:
        raise UsageError(f"the size {repeated} is given twice")
    pool = Pool.shipped() if pool is None else pool
    scaler = _Scaler(pool.environment, seed)
    made = [
        _variant(scenario, str(size), f"size:{size}", environment=scaler.environment(scenario, size))
        for size in sizes
        for scenario in scenarios.scenarios
        if scenario.kind != "no_suitable_group"
    ]
    if not made:
        raise UsageError("no scenario can be scaled: none of them is of the kind load or skip")
    return ScenarioSet(tuple(made), (*scenarios.files, *pool.files))


def _variant(scenario: Scenario, suffix: str, tag: str, **changes: Any) -> Scenario:
    return evolve(scenario, id=f"{scenario.id}@{suffix}", tags=(*scenario.tags, tag), **changes)


def _rank(seed: int, what: str, name: str) -> str:
    """Orders names by a seed. A name's rank depends on nothing else, which is what makes the draws nested."""
    return hashlib.sha256(f"{seed}\0{what}\0{name}".encode()).hexdigest()


@define(slots=True)
class _Scaler:
    pool: Environment
    seed: int
    _made: dict[tuple[str, frozenset[str]], Environment] = field(factory=dict)

    def environment(self, scenario: Scenario, size: int) -> Environment:
        """The scenario's environment with exactly `size` groups in its menu."""
        base = scenario.environment
        offered = [group.id for group in base.offered(scenario.mode)]
        needed = {*scenario.expected, *scenario.acceptable, *(g for groups in scenario.any_of for g in groups)}
        if len(needed) > size:
            what = f"the scenario {scenario.id!r} needs a menu of {len(needed)} groups, not of {size}"
            raise UsageError(what, hint="leave that size out")
        if size <= len(offered):
            others = self._drawn((group for group in offered if group not in needed), size - len(needed))
            return self._part(base, frozenset((*needed, *others)))
        taken = {name.lower() for group in base.capabilities for name in (group.id, group.name)}
        strangers = [group.id for group in self.pool.capabilities if not {group.id.lower(), group.name.lower()} & taken]
        missing = size - len(offered)
        if missing > len(strangers):
            what = f"a menu of {size} groups cannot be made: there are {len(strangers)} distractors"
            raise UsageError(what, hint=f"at most {len(offered) + len(strangers)}")
        return self._grown(base, frozenset(self._drawn(strangers, missing)))

    def _drawn(self, names: Iterable[str], count: int) -> list[str]:
        return sorted(names, key=lambda name: _rank(self.seed, "distractor", name))[:count]

    def _part(self, base: Environment, kept: frozenset[str]) -> Environment:
        key = (base.digest, kept)
        if key not in self._made:
            self._made[key] = evolve(
                base,
                capabilities=tuple(group for group in base.capabilities if group.id in kept),
                tools=tuple(tool for tool in base.tools if tool.capability in kept),
            )
        return self._made[key]

    def _grown(self, base: Environment, added: frozenset[str]) -> Environment:
        key = (base.digest, added)
        if key not in self._made:
            groups = [*base.capabilities, *(group for group in self.pool.capabilities if group.id in added)]
            tools = [*base.tools, *(tool for tool in self.pool.tools if tool.capability in added)]
            # By id again: the strangers must not all stand at the end.
            self._made[key] = evolve(
                base,
                capabilities=tuple(sorted(groups, key=lambda group: group.id)),
                tools=tuple(sorted(tools, key=lambda tool: (tool.capability, tool.name))),
            )
        return self._made[key]


def ablated(scenarios: ScenarioSet, ablations: Sequence[Ablation] = ABLATIONS, *, seed: int) -> ScenarioSet:
    """Every scenario as it is (tag `menu:full`), and once for each ablation (`@shuffled`, tag `menu:shuffled`)."""
    repeated = next((name for index, name in enumerate(ablations) if name in ablations[:index]), None)
    if repeated is not None:
        raise UsageError(f"the ablation {repeated!r} is given twice")
    made = [evolve(scenario, tags=(*scenario.tags, "menu:full")) for scenario in scenarios.scenarios]
    for name in ablations:
        changed: dict[int, _Changed] = {}
        for scenario in scenarios.scenarios:
            environment = scenario.environment
            change = changed.get(id(environment))
            if change is None:
                change = changed[id(environment)] = _CHANGES[name](environment, seed)
            made.append(
                _variant(scenario, name, f"menu:{name}", environment=change.environment, **change.labels(scenario))
            )
    return ScenarioSet(tuple(made), scenarios.files)


@frozen(slots=True)
class _Changed:
    """An environment that was made of another one, and the new names of its groups and tools, where they have any."""

    environment: Environment
    groups: Mapping[str, str] = field(factory=dict)
    tools: Mapping[str, str] = field(factory=dict)

    def labels(self, scenario: Scenario) -> dict[str, Any]:
        if not self.groups:
            return {}
        return {
            "expected": _renamed(scenario.expected, self.groups),
            "any_of": tuple(_renamed(groups, self.groups) for groups in scenario.any_of),
            "acceptable": _renamed(scenario.acceptable, self.groups),
            "expected_tools": _renamed(scenario.expected_tools, self.tools),
            "any_of_tools": tuple(_renamed(tools, self.tools) for tools in scenario.any_of_tools),
        }


def _renamed(names: Sequence[str], new: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(new[name] for name in names)


def _without_descriptions(environment: Environment, seed: int) -> _Changed:
    return _Changed(
        evolve(
            environment,
            capabilities=tuple(evolve(group, description="") for group in environment.capabilities),
            tools=tuple(evolve(tool, description="") for tool in environment.tools),
        )
    )


def _shuffled(environment: Environment, seed: int) -> _Changed:
    def group_rank(group: Capability) -> str:
        return _rank(seed, "group", group.id)

    def tool_rank(tool: Tool) -> str:
        return _rank(seed, "tool", tool.qualified_id)

    return _Changed(
        evolve(
            environment,
            capabilities=tuple(sorted(environment.capabilities, key=group_rank)),
            tools=tuple(sorted(environment.tools, key=tool_rank)),
        )
    )


def _anonymised(environment: Environment, seed: int) -> _Changed:
    """Groups become `g001`, `g002`, ... in menu order, their tools `g001_t01`, ...; descriptions stay."""
    groups = {group.id: f"g{number:03d}" for number, group in enumerate(environment.capabilities, start=1)}
    names = {
        tool.qualified_id: f"{new}_t{number:02d}"
        for old, new in groups.items()
        for number, tool in enumerate(environment.tools_of(old), start=1)
    }
    made = evolve(
        environment,
        capabilities=tuple(evolve(c, id=groups[c.id], name=groups[c.id]) for c in environment.capabilities),
        tools=tuple(
            evolve(tool, capability=groups[tool.capability], name=names[tool.qualified_id])
            for tool in environment.tools
        ),
    )
    qualified = {old: f"{groups[old.partition(SEPARATOR)[0]]}{SEPARATOR}{new}" for old, new in names.items()}
    return _Changed(made, groups, qualified)


_CHANGES: Mapping[Ablation, Callable[[Environment, int], _Changed]] = {
    "no-descriptions": _without_descriptions,
    "shuffled": _shuffled,
    "anonymised": _anonymised,
}
