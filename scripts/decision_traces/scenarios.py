"""The scenarios: a good trace each, with what may go wrong in it, as people wrote them down in `en/` and `ru/`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from attrs import field, frozen

from .rows import draw
from .traces import FORMATS, Call, Event, Format, Said, Tool, Trace

HERE = Path(__file__).resolve().parent
LANGUAGES = ("en", "ru")
DOMAINS = ("shop", "travel", "bank", "it", "clinic", "hr", "devops", "library", "utilities", "school")


class _Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]
    """Days stay texts."""


_Loader.yaml_implicit_resolvers = {
    sign: [(tag, pattern) for tag, pattern in found if not tag.endswith((":timestamp", ":bool"))]
    for sign, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|false)\Z"), ["t", "f"])


def load(path: Path) -> Any:
    """A YAML file of this folder."""
    return yaml.load(path.read_text(encoding="utf-8"), _Loader)


@frozen(slots=True)
class Scenario:
    """`said` holds every text and every alternative by its name in the file."""

    lang: str
    place: int
    said: Mapping[str, Any]
    tools: Sequence[Tool] = field()

    @tools.default
    def _read_tools(self) -> list[Tool]:
        return [_tool(written) for written in self.said["tools"]]

    def __getitem__(self, name: str) -> Any:
        return self.said[name]

    def __contains__(self, name: str) -> bool:
        return name in self.said

    @property
    def domain(self) -> str:
        return str(self.said["domain"])

    @property
    def calls(self) -> list[Call]:
        """The calls of the good trace."""
        return [call_of(written) for written in self["calls"]]

    def trace(self, *events: Event | str, tools: bool = True) -> Trace:
        """A trace of these events; a text alone is the assistant's."""
        said = [Said("assistant", event) if isinstance(event, str) else event for event in events]
        return Trace(str(self["system"]), self.tools if tools else (), said)

    def format(self, kind: str) -> Format:
        return draw(FORMATS, "format", self.lang, self.domain, kind)

    def chosen(self, kind: str) -> bool:
        """Half of the scenarios of a language, evenly over the domains, another half for another kind."""
        offset = draw((0, 1), "half", kind)
        return (self.place + (self.lang == "ru") + offset) % 2 == 0


def call_of(written: Mapping[str, Any]) -> Call:
    """The call that `tool`, `args` and `result` of a file describe."""
    return Call(str(written["tool"]), written["args"], written.get("result"))


def scenarios() -> list[Scenario]:
    """All scenarios, by domain and language."""
    return [
        Scenario(lang, place, load(HERE / lang / f"{domain}.yaml"))
        for place, domain in enumerate(DOMAINS)
        for lang in LANGUAGES
    ]


def _tool(text: str) -> Tool:
    """`name - description | argument:type argument:type?`; a question mark makes an argument optional."""
    head, _, arguments = text.partition(" | ")
    name, _, description = head.partition(" - ")
    properties, required = {}, []
    for argument in arguments.split():
        label, _, kind = argument.partition(":")
        properties[label] = {"type": kind.rstrip("?")}
        if not kind.endswith("?"):
            required.append(label)
    return Tool(name, description, {"type": "object", "properties": properties, "required": required})
