"""Scenarios from files, everything checked before the first is run.

```yaml
id: ops                                   # optional: comes before each scenario's id
environments:                             # written once, referred to by id
  - id: desk
    capabilities: [{id: jira, name: Jira, description: issues and tickets}]
    tools: [{name: jira_search, capability: jira, read_only: true}]
  - {id: reference, catalogue: reference_servers.json}
defaults: {environment: desk}
scenarios:                                # or the name of a JSONL file beside this one, one scenario a line
  - {id: open_issues, message: Which of my issues are open?, expected: [jira]}
  - {id: greeting, message: Hello!, kind: skip}
```

JSON says the same in the same words. In JSONL each line is a scenario; a first line with `environments` is the rest.
`schema/scenarios.schema.json` is the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from yb_eval import UsageError
from yb_eval.datasets import DataFile
from yb_eval.datasets.faults import named
from yb_eval.errors import nearest, shorten
from yb_eval_agent_routing.documents import Place, Rows, is_jsonl, read_lines, read_value
from yb_eval_agent_routing.environments import EnvironmentReader, close_to, structured
from yb_eval_agent_routing.labels import LabelCheck
from yb_eval_agent_routing.model import Environment, Mode, Scenario
from yb_eval_agent_routing.rows import EnvironmentRow, HeaderRow, ScenarioRow
from yb_eval_datasets import path as data_path

#: The scenarios that ship with the suite, by the name `--scenarios` knows them under.
SHIPPED: Mapping[str, str] = {
    "default": "agent_routing/default/scenarios.yaml",
    "wordings": "agent_routing/wordings/scenarios.yaml",
    "negatives": "agent_routing/negatives/scenarios.yaml",
    "situations": "agent_routing/situations/scenarios.yaml",
    "livemcpbench": "agent_routing/livemcpbench/scenarios.json",
    "livemcpbench-25": "agent_routing/livemcpbench/expanded.json",
    "metatool": "agent_routing/metatool/scenarios.json",
}

_HEADER_KEYS = frozenset({"environments", "defaults"})


@frozen(slots=True)
class ScenarioSet:
    """Scenarios in the order of their files, and every file they were made of: what the revision is computed from."""

    scenarios: tuple[Scenario, ...]
    files: tuple[DataFile, ...] = field(repr=False)

    @property
    def environments(self) -> tuple[Environment, ...]:
        """The different environments, in the order of their first scenario."""
        return tuple({id(scenario.environment): scenario.environment for scenario in self.scenarios}.values())


def load_scenarios(names: Sequence[str | Path]) -> ScenarioSet:
    """The scenarios of shipped sets (by name) and of files, one after another.

    Raises `UsageError` for a name that is neither, `DatasetError` (`file: JSON path`) for whatever contradicts itself:
    see `LabelCheck`.
    """
    if not names:
        raise UsageError("no scenarios to run", hint=f"shipped: {', '.join(SHIPPED)}")
    loader = _Loader()
    for name in names:
        loader.add(locate(name))
    return ScenarioSet(tuple(loader.scenarios), tuple(loader.environments.files.values()))


def locate(name: str | Path) -> Path:
    """The file of a shipped set, or the path as it is. Raises `UsageError` for a word that is neither."""
    if isinstance(name, str) and name in SHIPPED:
        return data_path(SHIPPED[name])
    path = Path(name)
    if not path.suffix and not path.exists():
        raise UsageError(
            f"no scenarios called {shorten(str(name))}, and no such file", hint=nearest(str(name), SHIPPED)
        )
    return path


@define(slots=True)
class _Loader:
    scenarios: list[Scenario] = field(factory=list)
    environments: EnvironmentReader = field(factory=EnvironmentReader)
    _places: dict[str, Place] = field(factory=dict)

    def add(self, path: Path) -> None:
        """The scenarios of one file."""
        rows = self._rows(path)
        place = Place(str(path))
        header: HeaderRow = structured(HeaderRow, rows.header, place)
        environments = self._environments(header, place, path.parent)
        if not rows.rows:
            raise place.error("no scenarios")
        for where, value in rows.rows:
            row: ScenarioRow = structured(ScenarioRow, value, where)
            scenario = self._scenario(row, where, header, environments, path.parent)
            if (earlier := self._places.setdefault(scenario.id, where)) is not where:
                what = f"the id {shorten(scenario.id)} is repeated: it is that of {earlier}"
                raise where.at("id").error(what, "one file's `id` can set its scenarios' ids apart from another's")
            self.scenarios.append(scenario)

    def _rows(self, path: Path) -> Rows:
        file = self.environments.file(path, "scenarios")
        if is_jsonl(path.name):
            lines = list(read_lines(file))
            if lines and _HEADER_KEYS & lines[0][1].keys():
                return Rows(lines[0][1], tuple(lines[1:]))
            return Rows({}, tuple(lines))
        place = Place(file.name)
        value = read_value(file)
        if type(value) is not dict:
            raise place.error(f"a file of scenarios is an object, not {named(value)}", "one with `scenarios`")
        header = {key: item for key, item in value.items() if key != "scenarios"}
        listed = value.get("scenarios")
        if type(listed) is str:
            other = self.environments.beside(path.parent, listed, place.at("scenarios"))
            if not is_jsonl(other.name):
                raise place.at("scenarios").error("the file of the scenarios is JSONL, one scenario a line")
            return Rows(header, tuple(read_lines(self.environments.file(other, "scenarios"))))
        if type(listed) is not list:
            what = "missing field" if "scenarios" not in value else f"must be a list, not {named(listed)}"
            raise place.at("scenarios").error(what, "a list of scenarios, or the name of a JSONL file beside this one")
        return Rows(header, tuple((place.at("scenarios", index), item) for index, item in enumerate(listed)))

    def _environments(self, header: HeaderRow, place: Place, folder: Path) -> dict[str, Environment]:
        found: dict[str, Environment] = {}
        for index, row in enumerate(header.environments):
            here = place.at("environments", index)
            made = self.environments.read(row, here, folder, default_id=f"environment-{index + 1}")
            if made.id in found:
                raise here.at("id").error(f"the environment {shorten(made.id)} is repeated")
            found[made.id] = made
        default = header.defaults.environment
        if default is not None and default not in found:
            what = f"no environment {shorten(default)} in this file"
            raise place.at("defaults", "environment").error(what, close_to(default, found))
        return found

    def _scenario(
        self, row: ScenarioRow, place: Place, header: HeaderRow, environments: Mapping[str, Environment], folder: Path
    ) -> Scenario:
        environment = self._environment(row, place, header, environments, folder)
        mode: Mode = row.mode or header.defaults.mode or "read-only"
        threshold = row.expand_threshold if row.expand_threshold is not None else header.defaults.expand_threshold
        full_id = row.id if header.id is None else f"{header.id}/{row.id}"
        return Scenario(
            id=full_id,
            name=row.name or row.id,
            messages=tuple(_messages(row, place)),
            environment=environment,
            mode=mode,
            expand_threshold=threshold or 0,
            tags=tuple(dict.fromkeys((*header.defaults.tags, *row.tags))),
            **LabelCheck(row, place, environment, mode).labels(),
        )

    def _environment(
        self, row: ScenarioRow, place: Place, header: HeaderRow, known: Mapping[str, Environment], folder: Path
    ) -> Environment:
        if isinstance(row.environment, EnvironmentRow):
            return self.environments.read(row.environment, place.at("environment"), folder, default_id=row.id)
        wanted = row.environment or header.defaults.environment
        if wanted is None and len(known) == 1:
            return next(iter(known.values()))
        if wanted is None:
            what = "no environment" if not known else "several environments, and the scenario names none"
            raise place.at("environment").error(what, "name one of the file's `environments`, or describe one here")
        if wanted not in known:
            what = f"no environment {shorten(wanted)} in this file"
            raise place.at("environment").error(what, close_to(wanted, known))
        return known[wanted]


def _messages(row: ScenarioRow, place: Place) -> Iterator[Mapping[str, Any]]:
    """The conversation: what was said before, then what the labels are about."""
    if (row.message is None) == (row.messages is None):
        what = "a scenario has either a message or messages"
        raise place.at("message" if row.messages is None else "messages").error(what)
    if row.message is not None:
        if not row.message.strip():
            raise place.at("message").error("must not be empty")
        yield {"role": "user", "content": row.message}
        return
    assert row.messages is not None
    if not row.messages or row.messages[-1].role != "user":
        raise place.at("messages").error("the last message is the user's: it is what the expectations are about")
    for index, message in enumerate(row.messages):
        if not message.content.strip():
            raise place.at("messages", index, "content").error("must not be empty")
        yield {"role": message.role, "content": message.content}
