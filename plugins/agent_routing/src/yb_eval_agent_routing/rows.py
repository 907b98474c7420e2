"""What scenario files look like: one attrs class for each kind of object in them.

They say what is written; `scenarios` turns them into what is meant. `schema/scenarios.schema.json` describes the same
shapes for editors and other programs.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

from yb_eval.datasets import RowError
from yb_eval.datasets.faults import step
from yb_eval.datasets.identity import check_id, check_tags
from yb_eval_agent_routing.model import SEPARATOR, Kind, Mode, State

#: Between a field's name and what is wrong with it, in the errors of the validators here: see `fault_of`.
_MARK = "\0"


def _fault(attribute: Any, what: str) -> ValueError:
    return ValueError(f"{attribute.name}{_MARK}{what}")


def fault_of(fault: RowError) -> RowError:
    """The fault with the path of the field. A validator sees an object that is all but made, so that without this the
    path ends at the object."""
    field_name, mark, what = fault.what.partition(_MARK)
    return RowError(what, path=step(fault.path, field_name), hint=fault.hint, line=fault.line) if mark else fault


def check_name(value: Any) -> str:
    """A string that can name a group or a tool in a menu and be found again in a report. Else `ValueError`."""
    try:
        return check_id(value)
    except RowError as fault:
        raise ValueError(fault.what) from None


def check_group_id(value: Any) -> str:
    """A name that can stand before a tool's in a qualified id. Else `ValueError`."""
    if SEPARATOR in check_name(value):
        raise ValueError(f"the id of a group has no {SEPARATOR!r}: that stands between group and tool")
    return str(value)


def _is_name(_: Any, attribute: Any, value: Any) -> None:
    try:
        if value is not None:
            check_name(value)
    except ValueError as error:
        raise _fault(attribute, str(error)) from None


def _is_group_id(_: Any, attribute: Any, value: Any) -> None:
    try:
        check_group_id(value)
    except ValueError as error:
        raise _fault(attribute, str(error)) from None


def _are_tags(_: Any, attribute: Any, value: tuple[str, ...]) -> None:
    try:
        check_tags(list(value))
    except RowError as fault:
        raise _fault(attribute, f"a tag {fault.what.removeprefix('the tag ')}") from None


def _is_threshold(_: Any, attribute: Any, value: int | None) -> None:
    if value is not None and value < 0:
        raise _fault(attribute, "must not be below 0")


@frozen(slots=True, kw_only=True)
class CapabilityRow:
    """A group. Beside a catalogue, what is not given here stays as the catalogue has it."""

    id: str = field(validator=_is_group_id)
    name: str | None = field(default=None, validator=_is_name)
    description: str | None = None
    state: State | None = None
    always_on: bool | None = None


@frozen(slots=True, kw_only=True)
class ToolRow:
    """A tool of the group `capability`. Without a word about it, it is one that writes."""

    name: str = field(validator=_is_name)
    capability: str
    description: str = ""
    read_only: bool = False
    input_schema: dict[str, Any] | None = None


@frozen(slots=True, kw_only=True)
class EnvironmentRow:
    """An environment: groups and tools; or a `catalogue` file, with `servers` to take from it (all by default) and
    `capabilities` that change them; or another `file` that holds the environment."""

    id: str | None = field(default=None, validator=_is_name)
    capabilities: tuple[CapabilityRow, ...] = ()
    tools: tuple[ToolRow, ...] = ()
    catalogue: str | None = None
    servers: tuple[str, ...] | None = None
    file: str | None = None


@frozen(slots=True, kw_only=True)
class MessageRow:
    role: Literal["user", "assistant"]
    content: str


@frozen(slots=True, kw_only=True)
class ScenarioRow:
    """A scenario. What it leaves out comes from the file's `defaults`, then from `model.Scenario`."""

    id: str = field(validator=_is_name)
    name: str | None = field(default=None, validator=_is_name)
    message: str | None = None
    messages: tuple[MessageRow, ...] | None = None
    environment: str | EnvironmentRow | None = None
    mode: Mode | None = None
    expected: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    acceptable: tuple[str, ...] = ()
    expected_tools: tuple[str, ...] = ()
    any_of_tools: tuple[tuple[str, ...], ...] = ()
    expand_threshold: int | None = field(default=None, validator=_is_threshold)
    tags: tuple[str, ...] = field(default=(), validator=_are_tags)
    kind: Kind | None = None


@frozen(slots=True, kw_only=True)
class DefaultsRow:
    """What scenarios of the file have that do not say otherwise; `tags` are added to each scenario's own."""

    environment: str | None = None
    mode: Mode | None = None
    expand_threshold: int | None = field(default=None, validator=_is_threshold)
    tags: tuple[str, ...] = field(default=(), validator=_are_tags)


@frozen(slots=True, kw_only=True)
class HeaderRow:
    """What stands beside the scenarios. `id` comes before every scenario's id: `id/scenario`. `note` and `$schema` are
    for readers."""

    id: str | None = field(default=None, validator=_is_name)
    note: str | None = None
    environments: tuple[EnvironmentRow, ...] = ()
    defaults: DefaultsRow = DefaultsRow()
