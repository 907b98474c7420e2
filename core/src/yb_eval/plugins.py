"""Loading plugins: lazily, one at a time, and without letting a broken one break anything else.

A suite's module is imported when that suite is asked for. (pluggy's own entry-point loader imports everything and lets
any exception out, which is why it is not used.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from yb_eval.discovery import PLUGINS, Found, allowed, claim, clash, find
from yb_eval.errors import PluginError, shorten

if TYPE_CHECKING:
    from yb_eval.interfaces import Suite


@frozen(slots=True)
class Loaded:
    """A plugin's object, registered under its entry point's name, and where it came from."""

    found: Found
    plugin: Any


def load(found: Found) -> Loaded:
    """Imports the plugin. Whatever it raises, `SystemExit` and `KeyboardInterrupt` included, becomes a
    `PluginError`."""
    from yb_eval.interfaces import API_VERSION

    label = f"plugin {found.name!r} ({found.distribution} {found.version})"
    try:
        plugin = found.entry_point.load()
        version = getattr(plugin, "YB_EVAL_API", None)
    except BaseException as error:  # a plugin that calls sys.exit(0) when imported must not end us with 0
        raise PluginError(f"{label} cannot be imported: {describe(error)}") from error
    if version != API_VERSION:
        said = (
            "does not say which plugin API it was written for" if version is None else f"is for plugin API {version!r}"
        )
        raise PluginError(f"{label} {said}", hint=f"this is API {API_VERSION}: set YB_EVAL_API = {API_VERSION}")
    return Loaded(found, plugin)


def describe(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {shorten(text, 200)[1:-1]}" if text else type(error).__name__


def load_suite(name: str) -> tuple[Suite[Any], Loaded]:
    """The suite called `name` and the plugin it came from; imports that plugin and no other."""
    from yb_eval.hooks import manager
    from yb_eval.interfaces import Suite

    loaded = load(claim(name))
    label = f"plugin {name!r} ({loaded.found.distribution} {loaded.found.version})"
    try:
        answers = manager([loaded.plugin]).hook.yb_eval_suite()
    except BaseException as error:
        raise PluginError(f"{label} failed in yb_eval_suite(): {describe(error)}") from error
    if len(answers) != 1 or not isinstance(answers[0], Suite):
        raise PluginError(f"{label} has no yb_eval_suite() that returns a Suite", hint="mark it with @yb_eval.hookimpl")
    if answers[0].name != name:
        raise PluginError(f"{label} provides the suite {answers[0].name!r} under another name", hint="rename one")
    return answers[0], loaded


@frozen(slots=True)
class Extensions:
    """The cross-cutting plugins of a run. `broken` maps the name of each that could not be loaded to the reason."""

    plugins: tuple[Loaded, ...] = ()
    broken: Mapping[str, str] = field(factory=dict)
    _managers: dict[str, Any] = field(init=False, factory=dict, repr=False, eq=False)

    def provide(self, hook: str) -> dict[str, Any]:
        """What all plugins offer through one of the naming hooks (`yb_eval_targets`: scheme -> factory).

        Raises `PluginError` if two offer one name or a hook fails.
        """
        offered: dict[str, Any] = {}
        owner: dict[str, str] = {}
        for name, result in self.each(hook):
            if isinstance(result, BaseException):
                raise PluginError(f"plugin {name!r} failed in {hook}(): {describe(result)}") from result
            for key, value in dict(result or {}).items():
                if key in offered:
                    raise PluginError(f"{key!r} is offered by the plugins {owner[key]!r} and {name!r}")
                offered[key], owner[key] = value, name
        return offered

    def each(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]:
        """Calls `hook` of every plugin that has it, by itself: yields (plugin's name, its result or its exception)."""
        for loaded in self.plugins:
            try:
                answers = self._caller(loaded, hook)(**arguments)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                yield loaded.found.name, error
            else:
                for answer in answers:
                    yield loaded.found.name, answer

    def _caller(self, loaded: Loaded, hook: str) -> Callable[..., list[Any]]:
        """The hook of one plugin alone. Each has a manager of its own, so that one that raises stops no other."""
        from yb_eval.hooks import manager

        name = loaded.found.name
        if name not in self._managers:
            self._managers[name] = manager([loaded.plugin])
        caller: Callable[..., list[Any]] = getattr(self._managers[name].hook, hook)
        return caller


def load_extensions(group: str = PLUGINS) -> Extensions:
    """Every allowed plugin of the entry-point group `group`; a broken one is reported and the others stand."""
    plugins: list[Loaded] = []
    broken: dict[str, str] = {}
    for name, claims in find(group).items():
        # Core's own formats, targets and reporters come in by this same door and are always let in.
        permitted = [found for found in claims if found.distribution == "yb-eval-core" or allowed(found)]
        if len(permitted) > 1:
            broken[name] = clash(permitted)
            continue
        for found in permitted:
            try:
                plugins.append(load(found))
            except PluginError as error:
                broken[name] = str(error)
    return Extensions(tuple(plugins), broken)
