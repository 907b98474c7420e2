"""`yb-eval describe SUITE`: its options, measurements, gates, and what a target is asked and answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from yb_eval.cli.output import emit
from yb_eval.errors import YbEvalError
from yb_eval.interfaces import Context, Plan, Suite, Target
from yb_eval.options import OptionInfo, describe, structure
from yb_eval.plugins import load_suite

#: From so many judgements on a measurement that they share is told once.
_MANY = 4


@click.command("describe")
@click.argument("suite")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(suite: str, as_json: bool) -> None:
    """Show a suite's options, measurements, default gates, and the JSON Schemas of its requests and answers."""
    found, loaded = load_suite(suite)
    document = _document(found, f"{loaded.found.distribution} {loaded.found.version}")
    if as_json:
        import orjson

        emit([orjson.dumps(document, option=orjson.OPT_INDENT_2).decode(), "\n"])
    else:
        emit(_text(document))


def _document(suite: Suite[Any], plugin: str) -> dict[str, Any]:
    document: dict[str, Any] = {
        "suite": suite.name,
        "summary": suite.summary,
        "plugin": plugin,
        "options": [_option(info) for info in describe(suite.options)],
        "targets": {"builtin": "the reference system that ships with the suite", **suite.targets},
        "request": dict(suite.request),
        "answer": dict(suite.answer),
        "commands": sorted(suite.commands),
    }
    try:
        plan = plan_of(suite, structure(suite.options, {}))
    except YbEvalError as error:
        return {**document, "measurements": [], "gates": [], "note": f"with its default options: {error}"}
    declared = [entry for metric in plan.metrics for entry in metric.declares]
    measurements = [
        {"name": entry.name, "help": entry.help, "low": entry.low, "high": entry.high, "sliced": entry.sliced}
        for entry in declared
    ]
    gates = [{"gate": gate.text, "severity": gate.severity} for gate in plan.gates]
    return {**document, "measurements": measurements, "gates": gates}


def plan_of(
    suite: Suite[Any], options: Any, *, offered: Callable[[Mapping[str, Any]], object] = lambda systems: None
) -> Plan:
    """What the suite plans with these options and its own reference system. Nothing is evaluated. `offered` is told of
    the reference systems that the suite offers, by name."""
    from yb_eval.targets import Settings, open_target

    def opener(builtins: Any, *, private: Collection[str] = ()) -> Target:
        offered(builtins)
        return open_target("builtin", builtins=builtins, schemes={}, settings=Settings())

    context = Context(target="builtin", open_target=opener, store=Path(".yb-eval") / "plugins" / suite.name)
    return suite.build(options, context)


def _option(info: OptionInfo) -> dict[str, Any]:
    default: Any = info.default if isinstance(info.default, str | int | float | bool | None) else str(info.default)
    if isinstance(info.default, Path):
        default = info.default.name
    elif isinstance(info.default, tuple | list):
        default = [*map(str, info.default)]
    return {"name": info.name, "help": info.help, "default": default, "choices": list(info.choices)}


def _text(document: dict[str, Any]) -> list[str]:
    import orjson

    lines = [f"{document['suite']} ({document['plugin']})", document["summary"], ""]
    lines += ["Options", *_table((f"--{o['name']}", _with_default(o)) for o in document["options"]), ""]
    lines += ["Targets", *_table((f"--target {name}", help) for name, help in document["targets"].items()), ""]
    lines += ["Measurements", *_measurements(document["measurements"]), ""]
    lines += ["Gates", *(f"  {gate['severity']}: {gate['gate']}" for gate in document["gates"]), ""]
    for key, title in (("request", "A target is asked (JSON Schema)"), ("answer", "and answers (JSON Schema)")):
        if document[key]:
            schema = orjson.dumps(document[key], option=orjson.OPT_INDENT_2).decode()
            lines += [title, *(f"  {line}" for line in schema.splitlines()), ""]
    if document["commands"]:
        lines += ["Commands", *(f"  yb-eval {document['suite']} {name}" for name in document["commands"]), ""]
    if "note" in document:
        lines += [document["note"], ""]
    return [f"{line}\n" for line in lines[:-1]]


def _measurements(measurements: list[dict[str, Any]]) -> list[str]:
    """A line for each; those that many judgements share have one line for all of them."""
    sharing: dict[str, dict[str, None]] = {}
    for measurement in measurements:
        judgement, dot, measure = measurement["name"].rpartition(".")
        if dot:
            sharing.setdefault(measure, {})[judgement] = None
    shared = {measure: tuple(judgements) for measure, judgements in sharing.items() if len(judgements) >= _MANY}
    rows: dict[str, str] = {}
    for measurement in measurements:
        judgement, dot, measure = measurement["name"].rpartition(".")
        of_all = dot and measure in shared
        rows.setdefault(
            _measured({**measurement, "name": f"NAME.{measure}"} if of_all else measurement), measurement["help"]
        )
    lines = _table(rows.items())
    for judgements in dict.fromkeys(shared.values()):
        lines += wrap(f"NAME is one of {', '.join(judgements)}", 100, initial_indent="  ", subsequent_indent="  ")
    return lines


def _measured(measurement: dict[str, Any]) -> str:
    return str(measurement["name"]) + ('["..."]' if measurement["sliced"] else "")


def _with_default(option: dict[str, Any]) -> str:
    default = option["default"]
    told = ", ".join(default) if isinstance(default, list) else default
    return str(option["help"]) + (f"  [default: {told}]" if told not in (None, "", False) else "")


def _table(rows: Any) -> list[str]:
    listed = list(rows)
    width = max((len(name) for name, _ in listed), default=0)
    return [f"  {name:<{width}}  {text}" for name, text in listed]
