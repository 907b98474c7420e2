"""Tool calls, compared: those that were made with those that were expected.

Two calls agree where the tools agree and, where arguments count, these are the same JSON value: the order of keys does not
matter, and 1 and 1.0 are one number. An expected call that says nothing about arguments (a bare name) agrees with any call
of its tool; one with `{}` wants a call without arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval_decision.messages.content import canonical_text, peek
from yb_eval_decision.messages.model import ToolCall
from yb_eval_decision.sample import Sample


@frozen(slots=True)
class Key:
    """What a call is compared by. `args` is canonical JSON, `None` for any arguments."""

    name: str
    args: str | None

    def __str__(self) -> str:
        return self.name if self.args is None else f"{self.name}({self.args})"


def key(call: ToolCall) -> Key:
    """The key of a call, its arguments included."""
    return Key(call.name, canonical_args(call.args))


def canonical_args(value: Any) -> str:
    """A JSON value as text that is the same for equal values, 1 and 1.0 among them; true is not 1."""
    return canonical_text(_whole(value))


def made_keys(s: Sample, *, args: bool) -> list[Key]:
    """The keys of the calls that were made, in order."""
    return [key(call) if args else Key(call.name, None) for call in s.tool_calls]


def expected_keys(s: Sample, *, args: bool) -> list[Key]:
    """The keys of the calls that are expected, in order. Raises `UsageError`, naming the place, for what is no call."""
    calls = s.expected_tool_calls or []
    given = s["expected_tool_calls"] if calls else []
    items = [given] if isinstance(given, str | Mapping) or not isinstance(given, Sequence) else given
    pairs = zip(calls, items, strict=True)
    return [key(call) if args and _says_args(item) else Key(call.name, None) for call, item in pairs]


def in_common(made: Iterable[Key], expected: Iterable[Key]) -> int:
    """How many calls of each side can be paired, one with one, so that the two of a pair agree; the most there can be.

    Keys with arguments take each other first: a call that such a key can pair with is no better used for a bare name, which
    any other call of the tool would do for.
    """
    got, wanted = Counter(made), Counter(expected)
    alike = got & wanted
    left: Counter[str] = Counter()
    for each, n in (got - alike).items():
        left[each.name] += n
    bare: Counter[str] = Counter()
    for each, n in (wanted - alike).items():
        if each.args is None:
            bare[each.name] += n
    return alike.total() + (left & bare).total()


def longest_in_order(made: Sequence[Key], expected: Sequence[Key]) -> int:
    """The length of the longest common subsequence: the most calls that agree and come in the same order.

    Bit-parallel, in len(expected) steps on integers of len(made) bits (H. Hyyrö, "Bit-parallel LCS-length computation
    revisited", AWOCA 2004).
    """
    places: dict[Key, int] = {}
    of_tool: dict[str, int] = {}
    for index, each in enumerate(made):
        places[each] = places.get(each, 0) | 1 << index
        of_tool[each.name] = of_tool.get(each.name, 0) | 1 << index
    full = (1 << len(made)) - 1
    row = full
    for each in expected:
        agree = of_tool.get(each.name, 0) if each.args is None else places.get(each, 0)
        both = row & agree
        row = ((row + both) | (row - both)) & full
    return len(made) - row.bit_count()


def _says_args(item: Any) -> bool:
    if isinstance(item, str):
        return False
    inner = peek(item, "function")
    inner = item if inner is None or isinstance(inner, str) else inner
    inner = peek(item, "custom") or inner
    return any(peek(inner, name) is not None for name in ("arguments", "args", "input", "parameters"))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return value
