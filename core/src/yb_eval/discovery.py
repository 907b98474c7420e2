"""Finding plugins by package metadata alone: nothing of them is imported here.

Three entry-point groups. `yb_eval.suites`: the entry point's name is the suite's name, its object a pluggy plugin with
`yb_eval_suite()`. `yb_eval.plugins`: cross-cutting plugins with any of the other hooks, loaded at each run.
`yb_eval.detectors`: plugins with `yb_eval_detectors()`, loaded when something asks for detectors.

`YB_EVAL_PLUGINS=a,b` is an allow-list of entry-point or distribution names; `YB_EVAL_DISABLE_PLUGINS=1` loads none
but those."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from yb_eval.errors import PluginError, nearest

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

SUITES = "yb_eval.suites"
PLUGINS = "yb_eval.plugins"
DETECTORS = "yb_eval.detectors"
_GROUPS = (SUITES, PLUGINS, DETECTORS)


# A named tuple: `yb-eval list` needs no other class, and importing attrs would be a fifth of its time.
class Found(NamedTuple):
    """An entry point as its distribution's metadata describes it; nothing of it is imported yet."""

    name: str
    group: str
    distribution: str
    version: str
    reference: str
    summary: str
    entry_point: EntryPoint


def find(group: str = SUITES) -> dict[str, list[Found]]:
    """Every entry point of `group` by name, sorted by name. More than one per name is a clash (see `claim`)."""
    by_name: dict[str, list[Found]] = {}
    for found in _scan(tuple(sys.path)):
        if found.group == group:
            by_name.setdefault(found.name, []).append(found)
    return {name: sorted(by_name[name], key=lambda found: found.distribution) for name in sorted(by_name)}


@cache
def _scan(path: tuple[str, ...]) -> list[Found]:
    """The entry points of all distributions on `path`, which is sys.path: a key of the cache."""
    from importlib_metadata import distributions

    listed: dict[tuple[str, str, str, str], Found] = {}
    for distribution in distributions():
        # Most distributions are none of ours: look at the text before anything is parsed.
        text = distribution.read_text("entry_points.txt") or ""
        if not any(group in text for group in _GROUPS):
            continue
        headers = _headers(distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or "")
        owner, version = headers.get("Name") or "an unnamed distribution", headers.get("Version", "?")
        for point in distribution.entry_points:
            if point.group in _GROUPS:
                found = Found(point.name, point.group, owner, version, point.value, headers.get("Summary", ""), point)
                # The same distribution can be on sys.path twice (an editable install and its build folder).
                listed.setdefault((point.group, point.name, owner, point.value), found)
    return list(listed.values())


def _headers(metadata: str) -> dict[str, str]:
    """A distribution's metadata without its long description, whose parsing would be most of the time of `list`."""
    head, _, _ = metadata.partition("\n\n")
    pairs = (line.partition(": ") for line in head.splitlines() if not line.startswith(" "))
    return {key: value.strip() for key, _, value in pairs}


def allowed(found: Found) -> bool:
    """Whether the environment lets this plugin be loaded."""
    listed = os.environ.get("YB_EVAL_PLUGINS")
    if listed is None:
        return os.environ.get("YB_EVAL_DISABLE_PLUGINS", "") in ("", "0")
    names = {name.strip().lower().replace("_", "-") for name in listed.split(",")}
    return found.name.lower().replace("_", "-") in names or found.distribution.lower().replace("_", "-") in names


def claim(name: str, found: Mapping[str, list[Found]] | None = None) -> Found:
    """The one entry point called `name`.

    Raises `PluginError` if there is none, if two distributions claim the name, or if the environment does not allow it.
    """
    known = find(SUITES) if found is None else found
    claims = known.get(name)
    if not claims:
        hint = nearest(name, known) if known else "no suite is installed: pip install yb-eval"
        raise PluginError(f"unknown suite {name!r}", hint=hint)
    if len(claims) > 1:
        raise PluginError(clash(claims), hint="uninstall one of them")
    if not allowed(claims[0]):
        raise PluginError(
            f"the suite {name!r} ({claims[0].distribution}) is not allowed here",
            hint="see YB_EVAL_PLUGINS and YB_EVAL_DISABLE_PLUGINS",
        )
    return claims[0]


def clash(claims: Sequence[Found]) -> str:
    owners = " and ".join(f"{claim.distribution} {claim.version}" for claim in claims)
    return f"{claims[0].name!r} is claimed by {owners}"


@cache
def core_version() -> str:
    """The version of the installed yb-eval-core."""
    from importlib_metadata import distribution

    return _headers(distribution("yb-eval-core").read_text("METADATA") or "").get("Version", "?")
