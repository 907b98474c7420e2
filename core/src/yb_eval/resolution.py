"""Where each option's value comes from: defaults, the configuration file, the environment, the command line - in this
order, the last one wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import NOTHING, frozen

from yb_eval.configuration import Configuration, WholeOptions
from yb_eval.errors import UsageError, nearest
from yb_eval.interfaces import Suite
from yb_eval.options import describe, read_value
from yb_eval.runoptions import RunOptions, SuiteRequest

#: Gates add up over the layers: leaving one out must not be easy.
ADDING = frozenset({"gate"})

_BASELINES = frozenset({"against", "save"})


@frozen(slots=True, kw_only=True)
class Layer:
    """Option values from one place. `where` says where a key of it stands; relative paths start in `base`."""

    source: str
    values: Mapping[str, Any]
    where: Callable[[str], str]
    base: Path | None = None


@frozen(slots=True)
class Resolved:
    """An instance of an options class, and for each option where its value is from."""

    options: Any
    sources: Mapping[str, str]


def resolve(options: type, layers: Iterable[Layer], *, other_names: Iterable[str] = ()) -> Resolved:
    """Options from layers, the lowest first.

    Raises `UsageError` for an unknown name (the nearest known one, or one of `other_names`, is named), a wrong type, a
    value out of range, or a required option without a value; it says where.
    """
    infos = {info.name: info for info in describe(options)}
    arguments: dict[str, Any] = {}
    sources = dict.fromkeys(infos, "default")
    for layer in layers:
        for name, given in layer.values.items():
            info = infos.get(name)
            if info is None:
                hint = nearest(name, {*infos, *other_names})
                raise UsageError(f"unknown option {name!r}", where=layer.where(name), hint=hint)
            value = read_value(info, _placed(name, given, layer.base), layer.where(name), layer.base)
            if name in ADDING and info.attribute in arguments:
                arguments[info.attribute] += value
                sources[name] += f" and {layer.source}"
            else:
                arguments[info.attribute] = value
                sources[name] = layer.source
    for info in infos.values():
        if info.default is NOTHING and info.attribute not in arguments:
            raise UsageError(f"the option {info.name!r} is required")
    return Resolved(options(**arguments), sources)


def _placed(name: str, value: Any, base: Path | None) -> Any:
    """A baseline may be a run's id; as a file it lies where the configuration does, and so does a report."""
    if name == "report" and base is not None and isinstance(value, list):
        return [_report_placed(item, base) for item in value]
    if name in _BASELINES and base is not None and isinstance(value, str) and value:
        path = base / value
        return str(path) if name == "save" or path.is_file() else value
    return value


def _report_placed(value: Any, base: Path) -> Any:
    kind, _, path = value.partition("=") if isinstance(value, str) else (value, "", "")
    return f"{kind}={base / path}" if path else value


def whole_of(configuration: Configuration, *above: Layer) -> Resolved:
    """The options of the whole run: what the configuration says, then the layers above it."""
    file = Layer(
        source=str(configuration.path),
        values=configuration.run,
        where=lambda key: configuration.where("run", key),
        base=configuration.base,
    )
    return resolve(WholeOptions, [file, *above])


@frozen(slots=True)
class ResolvedRequest:
    """A suite's request, and where the values of its own and of core's options are from."""

    request: SuiteRequest
    own: Resolved
    run: Resolved


def resolve_request(
    name: str,
    suite: Suite[Any],
    distribution: str,
    version: str,
    configuration: Configuration,
    *,
    own: Sequence[Layer] = (),
    run: Sequence[Layer] = (),
) -> ResolvedRequest:
    """The request for the suite that the configuration may have a table `name` for; `own` and `run` are the layers above the
    configuration, for the suite's options and for core's."""
    general = {info.name for info in describe(RunOptions)}
    suites_own = {info.name for info in describe(suite.options)}
    table = {key: value for key, value in configuration.suites.get(name, {}).items() if key != "suite"}

    def layer(keys: Iterable[str]) -> Layer:
        return Layer(
            source=str(configuration.path),
            values={key: table[key] for key in keys},
            where=lambda key: configuration.where("suites", name, key),
            base=configuration.base,
        )

    from_file = layer(key for key in table if key in general), layer(key for key in table if key not in general)
    resolved_run = resolve(RunOptions, [from_file[0], *run], other_names=suites_own)
    resolved_own = resolve(suite.options, [from_file[1], *own], other_names=general)
    request = SuiteRequest(
        suite=suite,
        options=resolved_own.options,
        run=resolved_run.options,
        name=name,
        distribution=distribution,
        version=version,
    )
    return ResolvedRequest(request, resolved_own, resolved_run)
