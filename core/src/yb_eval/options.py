"""Options, declared once as an attrs class: from it come the command line, the configuration file and the docs.

```python
@frozen(kw_only=True)
class Options:
    golden: Path = option(DEFAULT, help="The labelled rows.")
    max_mismatch: int = option(0, help="How many rows may differ.", minimum=0)
```

An option's name is its attribute's name in kebab-case, on the command line (`--max-mismatch`) and in `yb-eval.toml`
(`max-mismatch`) alike. Types: str, int, float, bool, Path, a `Literal`, `tuple[T, ...]` of these, each of them `|
None`."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import attrs
from attrs import NOTHING, frozen

from yb_eval.errors import UsageError, nearest, shorten

_METADATA = "yb_eval"


@frozen(slots=True)
class OptionInfo:
    """One option as the command line and the configuration file see it."""

    attribute: str
    name: str
    type: type
    many: bool
    optional: bool
    choices: tuple[str, ...]
    default: Any
    help: str
    minimum: float | None
    maximum: float | None
    identity: bool


def option(
    default: Any = NOTHING,
    *,
    help: str,
    minimum: float | None = None,
    maximum: float | None = None,
    identity: bool = True,
) -> Any:
    """A field of an options class.

    `minimum` and `maximum` bound a number, both inclusive. `identity=False` keeps the value out of the plan's id: for
    what cannot change the result, or is identified otherwise. (A path enters the id by the bytes of its file, never
    by its name.)"""
    described = {"help": help, "minimum": minimum, "maximum": maximum, "identity": identity}
    return attrs.field(default=default, metadata={_METADATA: described})


def describe(options: type) -> tuple[OptionInfo, ...]:
    """The options of an attrs class in the order of their definition.

    Raises `TypeError` for a type that is not supported.
    """
    known = _described.get(options)
    if known is None:
        # Evaluating the annotations compiles each of them: once a class is enough.
        hints = get_type_hints(options)
        known = _described[options] = tuple(_info(field, hints[field.name]) for field in attrs.fields(options))
    return known


_described: WeakKeyDictionary[type, tuple[OptionInfo, ...]] = WeakKeyDictionary()


def _info(field: attrs.Attribute[Any], hint: Any) -> OptionInfo:
    told = field.metadata.get(_METADATA)
    if told is None:
        raise TypeError(f"{field.name}: declare options with yb_eval.option()")
    optional = many = False
    if get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint):
        optional = True
        (hint,) = (arg for arg in get_args(hint) if arg is not type(None))
    if get_origin(hint) is tuple:
        many = True
        hint = get_args(hint)[0]
    choices: tuple[str, ...] = ()
    if get_origin(hint) is Literal:
        choices, hint = tuple(str(arg) for arg in get_args(hint)), str
    if hint not in (str, int, float, bool, Path):
        raise TypeError(f"{field.name}: options cannot be of the type {hint}")
    return OptionInfo(
        attribute=field.name,
        name=field.name.replace("_", "-"),
        type=hint,
        many=many,
        optional=optional,
        choices=choices,
        default=field.default,
        help=told["help"],
        minimum=told["minimum"],
        maximum=told["maximum"],
        identity=told["identity"],
    )


def structure(options: type, values: Mapping[str, Any], *, where: str = "options", base: Path | None = None) -> Any:
    """An instance of `options` from values by option name, as a configuration file or the command line gives them.

    Relative paths are taken from `base`. Raises `UsageError` naming the key for an unknown name, a wrong type or a
    value out of range."""
    known = {info.name: info for info in describe(options)}
    arguments: dict[str, Any] = {}
    for name, value in values.items():
        info = known.get(name)
        if info is None:
            raise UsageError(f"unknown option {name!r}", where=where, hint=nearest(name, known))
        arguments[info.attribute] = read_value(info, value, f"{where}.{name}", base)
    missing = [info.name for info in known.values() if info.default is NOTHING and info.attribute not in arguments]
    if missing:
        raise UsageError(f"the option {missing[0]!r} is required", where=where)
    return options(**arguments)


def read_value(info: OptionInfo, value: Any, where: str, base: Path | None = None) -> Any:
    """The value of an option as its type has it; relative paths start in `base`. Raises `UsageError` at `where`."""
    if value is None and info.optional:
        return None
    if info.many:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise UsageError(f"a list is expected, not {shorten(value)}", where=where)
        return tuple(_single(info, item, f"{where}[{index}]", base) for index, item in enumerate(value))
    return _single(info, value, where, base)


def _single(info: OptionInfo, value: Any, where: str, base: Path | None) -> Any:
    if info.type is Path and isinstance(value, str | Path) and str(value):
        path = Path(value)
        return base / path if base is not None and not path.is_absolute() else path
    if info.type is float and type(value) is int:
        value = float(value)
    if type(value) is not info.type:
        raise UsageError(f"{_noun(info.type)} is expected, not {shorten(value)}", where=where)
    if info.choices and value not in info.choices:
        raise UsageError(
            f"{value!r} is none of {', '.join(info.choices)}", where=where, hint=nearest(str(value), info.choices)
        )
    if isinstance(value, int | float):
        check_range(value, info, where)
    return value


def check_range(value: float, info: OptionInfo, where: str) -> None:
    if not math.isfinite(value):
        raise UsageError(f"{value} is not a finite number", where=where)
    if (info.minimum is not None and value < info.minimum) or (info.maximum is not None and value > info.maximum):
        low = "" if info.minimum is None else f"at least {info.minimum:g}"
        high = "" if info.maximum is None else f"at most {info.maximum:g}"
        raise UsageError(f"{value:g} is out of range", where=where, hint=" and ".join(filter(None, (low, high))))


def _noun(kind: type) -> str:
    return {str: "a string", int: "an integer", float: "a number", bool: "true or false", Path: "a path"}[kind]
