"""From options classes to click parameters, and back to the values that were really given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from yb_eval.options import OptionInfo, describe

#: `--save` alone means the default place.
OPTIONAL_VALUE = {"save": ""}


def parameters(options: type, *, prefix: str = "YB_EVAL") -> list[click.Option]:
    """A click option for each option of the class. Nothing has a default here: defaults are the class's own."""
    return [_parameter(info, prefix) for info in describe(options)]


def _parameter(info: OptionInfo, prefix: str) -> click.Option:
    settings: dict[str, Any] = {"help": info.help, "default": None}
    settings["envvar"] = f"{prefix}_{info.attribute}".upper().replace("-", "_")
    if info.type is bool:
        # Both ways, so that the command line can take back what a file or the environment says.
        return click.Option([f"--{info.name}/--no-{info.name}", info.attribute], is_flag=True, **settings)
    if info.name in OPTIONAL_VALUE:
        settings |= {"is_flag": False, "flag_value": OPTIONAL_VALUE[info.name], "metavar": "[PATH]"}
    else:
        settings["metavar"] = "|".join(info.choices) if info.choices else _metavar(info)
    shown = _shown(info.default)
    if shown is not None:
        settings["help"] = f"{info.help}  [default: {shown}]"
    kind: Any = click.Choice(info.choices) if info.choices else info.type if info.type is not Path else str
    option = ManyOption if info.many else click.Option
    return option([f"--{info.name}", info.attribute], type=kind, multiple=info.many, **settings)


class ManyOption(click.Option):
    """A repeatable option; in the environment its values stand one a line, since a gate holds spaces."""

    def value_from_envvar(self, ctx: click.Context) -> Any:
        text = self.resolve_envvar_value(ctx)
        return None if text is None else tuple(line for line in text.splitlines() if line.strip())


def _metavar(info: OptionInfo) -> str:
    return {int: "N", float: "X", Path: "PATH", str: "EXPR" if info.name in ("gate", "filter") else "TEXT"}[info.type]


def _shown(default: Any) -> str | None:
    if default is None or default == () or not isinstance(default, str | int | float | Path | tuple):
        return None
    if isinstance(default, Path):
        # A file that ships inside a package has a path that says nothing to anybody.
        return default.name if default.is_absolute() else str(default)
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def given(ctx: click.Context, infos: Iterable[OptionInfo], *sources: ParameterSource) -> dict[str, Any]:
    """The values that came from these sources, by option name."""
    values: dict[str, Any] = {}
    for info in infos:
        if ctx.get_parameter_source(info.attribute) in sources:
            value = ctx.params[info.attribute]
            values[info.name] = list(value) if info.many else value
    return values
