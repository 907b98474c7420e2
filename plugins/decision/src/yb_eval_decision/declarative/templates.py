"""The state of a declarative eval: a JSON value whose texts may point into the sample.

A text that is a path (`$.tool_call.args`, `$goal`) or one `{{ path }}` stands for what the path leads to, null where it leads
nowhere. A longer text may hold `{{ path }}` in the middle, which becomes text: nothing for null, JSON for lists and objects.
Everything else is a literal: `$5`, `costs $USD 5`. `$$name` is the text `$name`, `{{'{{'}}` the text `{{`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.declarative.documents import Trail
from yb_eval_decision.declarative.paths import Path, read_path
from yb_eval_decision.sample import Sample

_PATH = re.compile(r"\$(?:\.(?!\d)|[^\W\d])")
_BRACES = ("'{{'", '"{{"')


@frozen(slots=True)
class Pieces:
    """A text with paths in it."""

    parts: tuple[str | Path, ...]

    def find(self, s: Sample) -> str:
        return "".join(part if isinstance(part, str) else _inline(part.find(s)) for part in self.parts)


#: A JSON value in which `Path` and `Pieces` stand for what they find.
Template = Any


def read_template(
    value: Any, declared: frozenset[str], refuse: Callable[[UsageError, Trail], UsageError], trail: Trail = ()
) -> Template:
    """The template that `value` describes. A fault is raised as `refuse(fault, where it stands)` makes it."""
    if isinstance(value, Mapping):
        return {key: read_template(item, declared, refuse, (*trail, key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [read_template(item, declared, refuse, (*trail, index)) for index, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    try:
        return _read_text(value, declared)
    except UsageError as fault:
        raise refuse(fault, trail) from None


def _read_text(text: str, declared: frozenset[str]) -> str | Path | Pieces:
    whole = text.strip()
    # A price or a sentence is no path; `$.` always begins one, so that a slip in it does not go out as text.
    if _PATH.match(whole) and (whole.startswith("$.") or not re.search(r"\s", whole)):
        return read_path(whole, declared)
    if whole.startswith("$$") and _PATH.match(whole[1:]) and not re.search(r"\s", whole):
        return whole[1:]
    parts = list(_read_pieces(text, declared))
    told = [part for part in parts if isinstance(part, Path) or part.strip()]
    if len(told) == 1 and isinstance(told[0], Path):
        return told[0]
    if not any(isinstance(part, Path) for part in parts):
        return "".join(map(str, parts))
    return Pieces(tuple(parts))


def _read_pieces(text: str, declared: frozenset[str]) -> Iterator[str | Path]:
    at = 0
    while (start := text.find("{{", at)) >= 0:
        end = text.find("}}", start)
        if end < 0:
            raise UsageError(f"'{{{{' is not closed in {shorten(text[start:], 40)}", hint="the text {{ is {{'{{'}}")
        if start > at:
            yield text[at:start]
        inside = text[start + 2 : end].strip()
        if inside in _BRACES:
            yield "{{"
        elif inside:
            yield read_path(inside, declared)
        else:
            raise UsageError("'{{ }}' holds no path", hint="the text {{ is {{'{{'}}")
        at = end + 2
    if at < len(text) or not text:
        yield text[at:]


def paths_in(template: Template) -> Iterator[Path]:
    """Every path that the template follows, in order."""
    if isinstance(template, Path):
        yield template
    elif isinstance(template, Pieces):
        yield from (part for part in template.parts if isinstance(part, Path))
    elif isinstance(template, Mapping):
        for item in template.values():
            yield from paths_in(item)
    elif isinstance(template, list):
        for item in template:
            yield from paths_in(item)


def fill(template: Template, s: Sample) -> Any:
    """The JSON value that the template makes of `s`."""
    if isinstance(template, Path | Pieces):
        return template.find(s)
    if isinstance(template, Mapping):
        return {key: fill(item, s) for key, item in template.items()}
    if isinstance(template, list):
        return [fill(item, s) for item in template]
    return template


def _inline(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    from json import dumps

    return dumps(value, ensure_ascii=False)
