"""From what the user wrote after `--target` to a target."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, get_args

from attrs import evolve

from yb_eval.digest import HEX_ID
from yb_eval.errors import PluginError, UsageError, YbEvalError, nearest
from yb_eval.interfaces import Concurrency, Target
from yb_eval.targets.failures import failed
from yb_eval.targets.secrets import mask
from yb_eval.targets.settings import Settings

Factory = Callable[[str, Settings], Target]


def _python(spec: str, settings: Settings) -> Target:
    from yb_eval.targets.python import open_python

    return open_python(spec, settings)


def _exec(spec: str, settings: Settings) -> Target:
    from yb_eval.targets.process import open_exec

    return open_exec(spec, settings)


def _http(spec: str, settings: Settings) -> Target:
    from yb_eval.targets.http import open_http

    return open_http(spec, settings)


def _replay(spec: str, settings: Settings) -> Target:
    from yb_eval.targets.replay import open_replay

    return open_replay(spec, settings)


#: The schemes of core, as the hook `yb_eval_targets` offers them. What a scheme needs is imported when it is used.
SCHEMES: Mapping[str, Factory] = {"python": _python, "exec": _exec, "http": _http, "https": _http, "replay": _replay}


def open_target(
    spec: str,
    *,
    builtins: Mapping[str, Callable[..., Target]],
    schemes: Mapping[str, Factory] | None = None,
    settings: Settings | None = None,
    private: Collection[str] = (),
) -> Target:
    """The target that `spec` names, with the cache and the recording of `settings` around it.

    `spec` is the name of one of `builtins`, a suite's reference systems (`builtin`), `name:argument` for a built-in
    that takes an argument, or one of the schemes `python:`, `exec:`, `http:`, `https:` and `replay:`, or one of
    `schemes`, which plugins bring.

    `private` are fields of a request that a recording holds as their sha256 only: personal data, say.

    A built-in with a true `keeps_answers` keeps its own answers where there is a cache, and counts `hits` and `misses`.
    A recording holds what was answered from the cache too. A replay is not cached: its cassette is one already.

    Raises `UsageError`, without showing credentials, for what cannot be opened.
    """
    settings = evolve(settings or Settings(), private=frozenset(private))
    factories = _factories(schemes)
    name, argument = _read(spec, builtins, factories, settings.base)
    if name in builtins:
        make = builtins[name]
        target = make() if argument is None else make(argument)
    else:
        target = factories[name](spec, settings) if name in SCHEMES else _plugged(name, factories[name], spec, settings)
    try:
        if settings.cache is not None and name != "replay" and not getattr(target, "keeps_answers", False):
            from yb_eval.targets.cache import CachedTarget

            target = CachedTarget(target, settings.base / settings.cache)
        if settings.record is not None:
            target = _recording(target, name, argument or "", settings, settings.base / settings.record)
    except BaseException:
        target.close()
        raise
    return target


def check_target(
    spec: str,
    *,
    builtins: Mapping[str, Callable[..., Target]],
    schemes: Mapping[str, Factory] | None = None,
    settings: Settings | None = None,
) -> None:
    """Raises `UsageError` for a target that `open_target` would refuse, as far as that can be told from here.

    Nothing is run: no module is imported, no process started, no connection made, and no reference system or plugin is
    asked for its target.
    """
    settings = settings or Settings()
    name, _ = _read(spec, builtins, _factories(schemes), settings.base)
    if name in builtins:
        return
    if name == "python":
        from yb_eval.targets.python import check_python

        check_python(spec, settings.base)
    elif name in SCHEMES:
        # These read files at most when they are opened; processes and connections come with the first request.
        SCHEMES[name](spec, settings).close()


def _factories(schemes: Mapping[str, Factory] | None) -> dict[str, Factory]:
    """All schemes there are; a plugin cannot take over one of core."""
    return {**(schemes or {}), **SCHEMES}


def _read(
    spec: str, builtins: Mapping[str, Callable[..., Target]], factories: Mapping[str, Factory], base: Path
) -> tuple[str, str | None]:
    """The name of the built-in or the scheme that `spec` is of, and what stands behind its colon, if it has one."""
    name, colon, argument = spec.partition(":")
    if not spec.isprintable() or not _writable(spec):
        raise UsageError(f"the target {mask(spec)!r} has characters that cannot be printed")
    if name in builtins:
        _check_argument(name, builtins[name], argument if colon else None)
    elif not colon or name not in factories:
        raise UsageError(f"unknown target {mask(spec)!r}", hint=_hint(spec, builtins, factories, base))
    return name, argument if colon else None


def _recording(target: Target, name: str, argument: str, settings: Settings, path: Path) -> Target:
    from yb_eval.targets.record import RecordingTarget

    if name == "replay" and (settings.base / argument).resolve() == path.resolve():
        raise UsageError("a recording cannot be replayed into itself", where=str(path), hint="--record another file")
    return RecordingTarget(target, path, resume=settings.resume, private=settings.private)


def _check_argument(name: str, make: Callable[..., Target], argument: str | None) -> None:
    takes = [
        p for p in inspect.signature(make).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if argument is not None and not takes:
        raise UsageError(f"the target {name!r} takes no argument", hint=f"--target {name}")
    if argument is None and takes and takes[0].default is takes[0].empty:
        raise UsageError(f"the target {name!r} needs an argument", hint=f"--target {name}:{takes[0].name.upper()}")


def _plugged(name: str, make: Factory, spec: str, settings: Settings) -> Target:
    label = f"the plugin target {name}:"
    try:
        target: Any = make(spec, settings)
    except (YbEvalError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise PluginError(f"{label} cannot be opened: {failed(error)}") from error
    fingerprint = getattr(target, "fingerprint", None)
    if not isinstance(fingerprint, str) or not HEX_ID.match(fingerprint):
        raise PluginError(f"{label} has no fingerprint of 64 hex characters", hint="use yb_eval.digest.identify")
    size = getattr(target, "batch_size", None)
    if type(size) is not int or size < 1 or getattr(target, "concurrency", None) not in get_args(Concurrency):
        raise PluginError(f"{label} has no valid batch_size and concurrency", hint="see yb_eval.interfaces.Target")
    opened: Target = target
    return opened


def _writable(spec: str) -> bool:
    try:
        spec.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _hint(spec: str, builtins: Mapping[str, Any], factories: Mapping[str, Any], base: Path) -> str | None:
    name, colon, rest = spec.partition(":")
    known = [*builtins, *(f"{scheme}:" for scheme in factories)]
    try:
        is_file = bool(spec) and (base / spec).is_file()
    except (OSError, ValueError):
        is_file = False
    if is_file:
        runner = "python " if spec.endswith(".py") else ""
        return f"replay:{spec}" if spec.endswith(".jsonl") else f"exec:{runner}{spec}"
    close = nearest(f"{name}:" if colon else name, known)
    if colon and rest.isidentifier() and (close is None or close.startswith("known")):
        return f"python:{mask(spec)}"
    return close
