"""Scenarios as a dataset: one sample each, with one revision over every file they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

import attrs
from attrs import define, field, frozen

from yb_eval import DatasetError, Sample, Snapshot
from yb_eval.digest import revision_id
from yb_eval.model import FileDigest
from yb_eval_agent_routing.model import Scenario
from yb_eval_agent_routing.scenarios import ScenarioSet, load_scenarios
from yb_eval_agent_routing.sweep import Ablation, ablated, scaled


@frozen(slots=True)
class ScenarioDataset:
    """The scenarios of shipped sets and files, in the order of `names`; then the same among `sizes` groups, drawn by
    `seed`, and with their menus altered."""

    names: tuple[str, ...]
    sizes: tuple[int, ...] = ()
    ablations: tuple[Ablation, ...] = ()
    seed: int = 0

    @property
    def fields(self) -> frozenset[str]:
        """The names a filter may use."""
        return frozenset(attribute.name for attribute in attrs.fields(Scenario))

    def open(self) -> Snapshot:
        """Raises `UsageError` or `DatasetError` for whatever `load_scenarios` refuses."""
        scenarios = load_scenarios(self.names)
        if self.sizes:
            scenarios = scaled(scenarios, self.sizes, seed=self.seed)
        if self.ablations:
            scenarios = ablated(scenarios, self.ablations, seed=self.seed)
        return snapshot(scenarios, self.names)


@define(slots=True)
class ScenarioSnapshot:
    """See `yb_eval.Snapshot`."""

    scenarios: tuple[Scenario, ...] = field(repr=False)
    id: str
    revision_id: str
    count: int
    files: Sequence[FileDigest]
    notes: Sequence[str] = ()

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        for start in range(0, len(self.scenarios), batch_size):
            yield [
                Sample(scenario.id, scenario, scenario.tags, start + offset + 1)
                for offset, scenario in enumerate(self.scenarios[start : start + batch_size])
            ]


def snapshot(scenarios: ScenarioSet, names: Sequence[str]) -> ScenarioSnapshot:
    """The snapshot of scenarios that were read. Raises `DatasetError` where there are none."""
    if not scenarios.scenarios:
        raise DatasetError("no scenarios", where=", ".join(names))
    files = [file.digest for file in scenarios.files]
    name = "+".join(PurePath(name).name.partition(".")[0] for name in names)
    return ScenarioSnapshot(scenarios.scenarios, name, revision_id(files), len(scenarios.scenarios), files)
