"""cattrs, taking only the exact JSON type.

On its own cattrs would turn 5 into "5", "abc" into ["a", "b", "c"] and let `true` pass for `Literal[1]`. What a file
says is taken as it is or refused, never converted; only the cells of a table, all text, are read as what they stand
for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import orjson
from cattrs import Converter
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    is_any_set,
    is_mapping,
    is_mutable_sequence,
    is_sequence,
    list_structure_factory,
    mapping_structure_factory,
)
from cattrs.gen import make_dict_structure_fn, override

from yb_eval.datasets.blocks import field_names
from yb_eval.datasets.faults import RowError, named, quoted
from yb_eval.errors import nearest

Hook = Callable[[Any, Any], Any]
Factory = Callable[[Any, Converter], Hook]

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}\Z")


def exact_converter(detailed: bool, *, text: bool) -> Converter:
    """A converter that takes exact types only; `text` reads scalars from strings and the rest from JSON in them."""
    # Unknown fields are looked for by our own hooks, which is faster, unless it is to say which.
    converter = Converter(detailed_validation=detailed, forbid_extra_keys=detailed)
    for kind, hook in (_TEXT_SCALARS if text else _SCALARS).items():
        converter.register_structure_hook(kind, hook)
    converter.register_structure_hook_func(lambda kind: kind is NoneType, _none)

    # Of two hooks that apply, the one registered later is taken.
    def register(applies: Callable[[Any], bool], factory: Factory) -> None:
        def hook_factory(kind: Any, converter: Converter) -> Hook:
            return factory(kind, converter)

        converter.register_structure_hook_factory(applies)(hook_factory)

    register(_is_literal, _literal)
    register(lambda kind: isinstance(kind, type) and issubclass(kind, Enum), _enum)
    register(is_mapping, _exact(_mapping, dict, text=text))
    register(is_any_set, _exact(_set, list, text=text))
    register(_is_tuple, _exact(_tuple, list, text=text))
    register(is_mutable_sequence, _exact(list_structure_factory, list, text=text))
    register(attrs.has, _exact(_attrs_class, dict, text=text))
    register(_is_union, _text_union if text else _union)
    return converter


def _exact(factory: Factory, expected: type, *, text: bool) -> Factory:
    """`factory`, but its hooks take nothing except a list, or a dict: cattrs iterates over whatever it is given."""
    words = "a list" if expected is list else "an object"

    def exact_factory(kind: Any, converter: Converter) -> Hook:
        inner = factory(kind, converter)

        def hook(value: Any, _: Any) -> Any:
            if type(value) is not expected:
                if not (text and type(value) is str):
                    raise RowError(f"must be {words}, not {named(value)}")
                value = _from_text(value, expected, words)
            return inner(value, kind)

        return hook

    return exact_factory


def _from_text(value: str, expected: type, words: str) -> Any:
    try:
        read = orjson.loads(value)
    except orjson.JSONDecodeError:
        read = None
    if type(read) is not expected:
        raise RowError(f"must be {words}, written as JSON")
    return read


def _mapping(kind: Any, converter: Converter) -> Hook:
    # Keys of JSON are strings already; values of any type need no visit.
    if get_args(kind) in ((), (str, Any), (str, object)):
        return lambda value, _: value
    hook: Hook = mapping_structure_factory(kind, converter, structure_to=dict)
    return hook


def _set(kind: Any, converter: Converter) -> Hook:
    # Only the type of the items matters to the factory of lists.
    inner = list_structure_factory(kind, converter)
    made: type = set if get_origin(kind) is set else frozenset
    return lambda value, _: made(inner(value, kind))


def _tuple(kind: Any, converter: Converter) -> Hook:
    parts = get_args(kind)
    if get_origin(kind) is not tuple or not parts or parts[-1] is Ellipsis:
        hook: Hook = homogenous_tuple_structure_factory(kind, converter)
        return hook
    hooks = [converter.get_structure_hook(part) for part in parts]

    def structure_tuple(value: Any, _: Any) -> Any:
        if len(value) != len(parts):
            raise RowError(f"must be a list of {len(parts)}, not of {len(value)}")
        return tuple(hook(item, part) for hook, item, part in zip(hooks, value, parts, strict=True))

    return structure_tuple


def _attrs_class(kind: Any, converter: Converter) -> Hook:
    inner = class_hook(kind, converter)
    fields = field_names(kind)

    def structure_class(value: Any, _: Any) -> Any:
        if not converter.forbid_extra_keys and not fields.issuperset(value):
            raise RowError("unknown field")
        return inner(value, kind)

    return structure_class


def class_hook(kind: Any, converter: Converter) -> Hook:
    """The hook that makes instances of an attrs class; required strings must not be empty."""
    attrs.resolve_types(kind)
    required = {
        field.name: override(struct_hook=_nonempty)
        for field in attrs.fields(kind)
        if field.type is str and field.default is attrs.NOTHING and not field.metadata.get("may_be_empty")
    }
    make: Any = make_dict_structure_fn  # its other options have types that a dict of overrides does not
    hook: Hook = make(kind, converter, **required)
    return hook


def _union(kind: Any, converter: Converter) -> Hook:
    """A union is told apart by the type of the JSON value, so no two of its members may have the same."""
    if Any in get_args(kind):
        return lambda value, _: value
    by_type: dict[type, tuple[Hook, Any]] = {}
    for member in get_args(kind):
        hook = converter.get_structure_hook(member)
        for json_type in _json_types(member):
            if json_type in by_type:
                raise TypeError(f"two members of {kind} look alike in JSON")
            by_type[json_type] = (hook, member)
    if float in by_type:
        by_type.setdefault(int, by_type[float])
    expected = " or ".join(dict.fromkeys(_WORDS[json_type] for json_type in by_type))

    def structure_union(value: Any, _: Any) -> Any:
        if value is None and NoneType in by_type:
            return None
        found = by_type.get(type(value))
        if found is None:
            raise RowError(f"must be {expected}, not {named(value)}")
        return found[0](value, found[1])

    return structure_union


def _text_union(kind: Any, converter: Converter) -> Hook:
    """In text there is one type: the union must be a type or nothing (a blank cell), or have a string among it."""
    members = [member for member in get_args(kind) if member is not NoneType]
    chosen = members[0] if len(members) == 1 else str if str in members else None
    if chosen is None:
        raise TypeError(f"{kind} cannot come from text")
    hook: Hook = converter.get_structure_hook(chosen)
    return lambda value, _: hook(value, chosen)


def _json_types(member: Any) -> Sequence[type]:
    if _is_literal(member):
        return list({type(choice): None for choice in get_args(member)})
    if isinstance(member, type) and issubclass(member, Enum):
        return list({type(choice.value): None for choice in member})
    if member in _SCALARS or member is NoneType:
        return [member]
    if is_any_set(member) or is_mutable_sequence(member) or _is_tuple(member):
        return [list]
    if attrs.has(member) or is_mapping(member):
        return [dict]
    raise TypeError(f"{member} in a union: its values cannot be told from others")


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _is_literal(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is Literal


def _is_tuple(kind: Any) -> bool:
    return is_sequence(kind) or kind is tuple or get_origin(kind) is tuple


def _literal(kind: Any, _: Converter) -> Hook:
    return _choice([(choice, choice) for choice in get_args(kind)])


def _enum(kind: Any, _: Converter) -> Hook:
    return _choice([(member.value, member) for member in kind])


def _choice(choices: Sequence[tuple[Any, Any]]) -> Hook:
    # By type too: True == 1 == 1.0.
    by_type: dict[type, dict[Any, Any]] = {}
    for value, meant in choices:
        by_type.setdefault(type(value), {})[value] = meant

    def structure_choice(value: Any, _: Any) -> Any:
        meanings = by_type.get(type(value))
        if meanings is None or value not in meanings:
            raise _no_choice(value, [choice for choice, _ in choices])
        return meanings[value]

    return structure_choice


def _str(value: Any, _: Any) -> str:
    if type(value) is str:
        return value
    raise RowError(f"must be a string, not {named(value)}")


def _nonempty(value: Any, _: Any) -> str:
    if type(value) is str and value:
        return value
    raise RowError("must not be empty" if value == "" else f"must be a string, not {named(value)}")


def _int(value: Any, _: Any) -> int:
    if type(value) is int:
        return value
    raise RowError(f"must be an integer, not {named(value)}")


def _float(value: Any, _: Any) -> float:
    if type(value) is float or type(value) is int:
        return float(value)
    raise RowError(f"must be a number, not {named(value)}")


def _bool(value: Any, _: Any) -> bool:
    if type(value) is bool:
        return value
    raise RowError(f"must be true or false, not {named(value)}")


def _none(value: Any, _: Any) -> None:
    if value is not None:
        raise RowError(f"must be null, not {named(value)}")


def _int_from_text(value: Any, kind: Any) -> int:
    if type(value) is not str:
        return _int(value, kind)
    if not _INTEGER.match(value):
        raise RowError("must be an integer")
    return int(value)


def _float_from_text(value: Any, kind: Any) -> float:
    if type(value) is not str:
        return _float(value, kind)
    try:
        number = float(value) if value.isascii() and "_" not in value else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RowError("must be a finite number")
    return number


def _bool_from_text(value: Any, kind: Any) -> bool:
    if type(value) is not str:
        return _bool(value, kind)
    if value not in ("true", "false"):
        raise RowError("must be true or false")
    return value == "true"


def _no_choice(value: Any, choices: Sequence[Any]) -> RowError:
    hint = None
    if isinstance(value, str):
        hint = nearest(value, [choice for choice in choices if isinstance(choice, str)])
    what = f"must be one of {', '.join(map(repr, choices))}" if len(choices) > 1 else f"must be {choices[0]!r}"
    return RowError(f"{what}, not {quoted(value)}", hint=hint if hint and hint.startswith("did") else None)


_WORDS: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
    list: "a list",
    dict: "an object",
}
_SCALARS: Mapping[type, Hook] = {str: _str, int: _int, float: _float, bool: _bool}
_TEXT_SCALARS: Mapping[type, Hook] = {str: _str, int: _int_from_text, float: _float_from_text, bool: _bool_from_text}
