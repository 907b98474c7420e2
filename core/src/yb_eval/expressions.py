"""The expression language of gates, filters and eval policies: a small, bounded part of Python's expressions.

`precision >= 0.98 and lower(recall["lang:ru"]) >= 0.9` is read once with `Expression.parse`, which refuses unknown
names and functions, and evaluated against a `Scope`. It is Python's own grammar (`ast`), of which only this is let
through: `and or not`, comparisons (chained too), `in`, `a if condition else b`, `+ - * / %`, numbers, strings, `true
false null`, lists and tuples of constants, names, dotted names, `name["key"]` and calls of the functions that the scope
offers.

There is no attribute access on values, no assignment, no comprehension and no power; numbers are the only operands of
arithmetic; text, node count and depth are limited: an expression can neither escape nor run long.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol

from attrs import frozen

from yb_eval.errors import ExpressionError, nearest, shorten

MAX_LENGTH = 2_000
MAX_NODES = 300
MAX_DEPTH = 40

_CONSTANTS = {"true": True, "false": False, "null": None}

_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.In: ("in", lambda left, right: left in right),
    ast.NotIn: ("not in", lambda left, right: left not in right),
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Missing(Exception):
    """A name has no value: raised by a scope that does not let absence pass as a value. `reason` says why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class Scope(Protocol):
    """What the names and functions of an expression mean."""

    def lookup(self, name: str) -> Any:
        """The value of a name (`recall`, `severity.mae`, `recall[lang:ru]`). May raise `Missing`."""

    def call(self, function: str, arguments: list[Reference | Any]) -> Any:
        """The value of a function; names among its arguments come as `Reference`, anything else as its value."""


@frozen(slots=True)
class Reference:
    """A name as it stands in an expression, with the key of `name["key"]` where it has one."""

    base: str
    key: str | None = None

    @property
    def name(self) -> str:
        return self.base if self.key is None else f"{self.base}[{self.key}]"


@frozen(slots=True)
class Vocabulary:
    """The names and functions an expression may use; `names=None` allows any name.

    `functions` maps each function to the number of arguments it takes, or to the range of numbers it may take. `keyed`
    holds the names that take `["key"]` (`None`: all do).
    """

    names: frozenset[str] | None = None
    functions: Mapping[str, int | range] = {}
    keyed: frozenset[str] | None = None

    def check(self, reference: Reference, text: str) -> None:
        if self.names is not None and reference.base not in self.names:
            raise ExpressionError(
                f"unknown name {reference.base!r} in {shorten(text)}", hint=nearest(reference.base, self.names)
            )
        if reference.key is not None and self.keyed is not None and reference.base not in self.keyed:
            raise ExpressionError(f"{reference.base!r} has no slices, so no [{reference.key!r}] in {shorten(text)}")


class Expression:
    """A parsed expression. Frozen in use: evaluating it changes nothing, and threads may share it."""

    __slots__ = ("_root", "text")

    def __init__(self, text: str, root: ast.expr) -> None:
        self.text = text
        self._root = root

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_read, (self.text,))

    @classmethod
    def parse(cls, text: str, vocabulary: Vocabulary | None = None) -> Expression:
        """Reads `text`; raises `ExpressionError` for what the language does not have or the vocabulary does not
        know."""
        expression = _read(text)
        words = vocabulary or Vocabulary()
        for function, arguments in expression.calls():
            if function not in words.functions:
                raise ExpressionError(
                    f"unknown function {function!r} in {shorten(text)}", hint=nearest(function, words.functions)
                )
            takes = words.functions[function]
            if arguments not in (takes if isinstance(takes, range) else (takes,)):
                counts = f"{takes[0]} to {takes[-1]}" if isinstance(takes, range) else takes
                raise ExpressionError(f"{function}() takes {counts} argument(s), not {arguments}, in {shorten(text)}")
        for reference in expression.references():
            words.check(reference, text)
        return expression

    def references(self) -> list[Reference]:
        """Every name the expression uses, in order of appearance."""
        return list(_references(self._root))

    def calls(self) -> list[tuple[str, int]]:
        """Every function the expression calls, with its number of arguments."""
        return [
            (node.func.id, len(node.args))
            for node in ast.walk(self._root)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]

    def arguments_of(self, function: str) -> list[Reference]:
        """The names that `function` is called with."""
        calls = (node for node in ast.walk(self._root) if isinstance(node, ast.Call))
        named = (_reference(node.args[0]) for node in calls if getattr(node.func, "id", "") == function and node.args)
        return [reference for reference in named if reference is not None]

    @property
    def is_condition(self) -> bool:
        """Whether the expression as a whole is true or false by its form, rather than a number."""
        return _is_condition(self._root)

    @property
    def is_stepwise(self) -> bool:
        """Whether its value can only change where a name crosses one of the numbers of `comparisons()`, or is another
        text: every name stands in a comparison with constants, and nowhere else."""
        return _is_stepwise(self._root)

    @property
    def function(self) -> str | None:
        """The function that the expression as a whole is a call of, if it is one."""
        root = self._root
        return root.func.id if isinstance(root, ast.Call) and isinstance(root.func, ast.Name) else None

    @property
    def strings(self) -> list[str]:
        """The string constants of the expression, the keys of `name["key"]` apart."""
        return list(_strings(self._root))

    def comparisons(self) -> list[tuple[Reference | None, str, float]]:
        """Each comparison with a number: (the name compared, or None where it is more than a name, symbol, number).

        The symbol stands between name and number in this order: `0.9 <= x` is ("x", ">=", 0.9).
        `lower(x)` and `upper(x)` count as `x`: a bound lies in the measurement's own range.
        """
        found = []
        for node in ast.walk(self._root):
            if not isinstance(node, ast.Compare):
                continue
            operands = [node.left, *node.comparators]
            for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
                symbol = _COMPARISONS[type(op)][0]
                for subject, threshold, seen in ((left, right, symbol), (right, left, _MIRRORED.get(symbol, symbol))):
                    number = _number(threshold)
                    if number is not None and _number(subject) is None:
                        found.append((_subject(subject), seen, number))
        return found

    def evaluate(self, scope: Scope) -> Any:
        """The value. `Missing` from the scope passes through, whichever operand it is in: no operand is left out
        because another has decided."""
        try:
            return _evaluate(self._root, scope)
        except (TypeError, ZeroDivisionError, OverflowError) as error:
            raise Missing(self.text, _explain(error)) from error


def _explain(error: Exception) -> str:
    return "a division by zero" if isinstance(error, ZeroDivisionError) else f"cannot be evaluated: {error}"


def _read(text: str) -> Expression:
    if not isinstance(text, str) or not text.strip():
        raise ExpressionError("an empty expression")
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression of {len(text)} characters; the limit is {MAX_LENGTH}")
    try:
        root = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else "not an expression"
        raise ExpressionError(f"cannot read {shorten(text)}: {detail}") from None
    if sum(1 for _ in ast.walk(root)) > MAX_NODES:
        raise ExpressionError(f"{shorten(text)} has more than {MAX_NODES} parts")
    _allow(root, text, 0)
    return Expression(text.strip(), root)


def _allow(node: ast.expr, text: str, depth: int) -> None:
    """Refuses every node that the language does not have."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"{shorten(text)} is nested deeper than {MAX_DEPTH}")
    children: list[ast.expr]
    match node:
        case ast.BoolOp(values=children):
            pass
        case ast.IfExp(test=test, body=body, orelse=orelse):
            children = [test, body, orelse]
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.UAdd(), operand=operand):
            children = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            children = [left, right]
        case ast.Compare(left=left, ops=ops, comparators=rights) if all(type(op) in _COMPARISONS for op in ops):
            children = [left, *rights]
        case ast.Constant(value=value) if value is None or isinstance(value, bool | int | float | str):
            if isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) <= 2**53:
                raise ExpressionError(f"{shorten(text)}: the number {shorten(value)} is not finite, or beyond 2^53")
            return
        case ast.List(elts=children) | ast.Tuple(elts=children):
            if not all(map(_is_constant, children)):
                raise ExpressionError(f"{shorten(text)}: a list holds constants only")
        case ast.Call(func=ast.Name(), args=children, keywords=[]):
            if any(isinstance(child, ast.Starred) for child in children):
                raise ExpressionError(f"{shorten(text)}: '*' is not part of the language")
        case ast.Name(id=word) if word in _CONSTANTS:
            return
        case _ if _reference(node) is not None:
            return
        case _:
            raise ExpressionError(f"{shorten(text)}: {ast.unparse(node)[:40]!r} is not part of the language")
    for child in children:
        _allow(child, text, depth + 1)


def _reference(node: ast.expr) -> Reference | None:
    if isinstance(node, ast.Subscript):
        base = _reference(node.value)
        key = node.slice
        if base is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        return Reference(base.base, key.value if base.key is None else f"{base.key}][{key.value}")
    if isinstance(node, ast.Attribute):
        base = _reference(node.value)
        return Reference(f"{base.base}.{node.attr}") if base is not None and base.key is None else None
    if isinstance(node, ast.Name) and node.id not in _CONSTANTS:
        return Reference(node.id)
    return None


def _references(node: ast.expr) -> Iterator[Reference]:
    reference = _reference(node)
    if reference is not None:
        yield reference
        return
    children = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for child in children:
        if isinstance(child, ast.expr):
            yield from _references(child)


def _strings(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif _reference(node) is None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _strings(child)


def _number(node: ast.expr) -> float | None:
    match node:
        case ast.Constant(value=value) if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
    return None


def _is_constant(node: ast.expr) -> bool:
    word = isinstance(node, ast.Name) and node.id in _CONSTANTS
    return word or isinstance(node, ast.Constant) or _number(node) is not None


def _is_condition(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_condition(node.body) and _is_condition(node.orelse)
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.BoolOp | ast.Compare)


def _is_stepwise(node: ast.expr) -> bool:
    match node:
        case ast.BoolOp() | ast.IfExp() | ast.UnaryOp(op=ast.Not()):
            return all(_is_stepwise(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
        case ast.Compare(left=left, ops=ops, comparators=rights):
            return all(map(_is_step, [left, *rights], ops, rights))
    return _is_constant(node)


def _is_step(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    if isinstance(op, ast.In | ast.NotIn):
        # The numbers of a list are not among `comparisons()`.
        texts = isinstance(right, ast.List | ast.Tuple) and all(_number(item) is None for item in right.elts)
        return texts and (_is_constant(left) or _reference(left) is not None)
    return (_is_constant(left) and (_is_constant(right) or _reference(right) is not None)) or (
        _reference(left) is not None and _is_constant(right)
    )


def _subject(node: ast.expr) -> Reference | None:
    if isinstance(node, ast.Call) and len(node.args) == 1 and getattr(node.func, "id", "") in ("lower", "upper"):
        return _reference(node.args[0])
    return _reference(node)


def _evaluate(node: ast.expr, scope: Scope) -> Any:
    reference = _reference(node)
    if reference is not None:
        return scope.lookup(reference.name)
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return _CONSTANTS[name]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_evaluate(item, scope) for item in items]
        case ast.BoolOp(op=op, values=operands):
            values = [_truth(_evaluate(operand, scope)) for operand in operands]
            return all(values) if isinstance(op, ast.And) else any(values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            taken, other = (body, orelse) if _truth(_evaluate(test, scope)) else (orelse, body)
            # A missing name is missing in either branch; what the other branch would have divided by is of no interest.
            with suppress(TypeError, ZeroDivisionError, OverflowError):
                _evaluate(other, scope)
            return _evaluate(taken, scope)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _truth(_evaluate(operand, scope))
        case ast.UnaryOp(op=op, operand=operand):
            value = _numeric(_evaluate(operand, scope))
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            result = _ARITHMETIC[type(op)](_numeric(_evaluate(left, scope)), _numeric(_evaluate(right, scope)))
            if not math.isfinite(result):
                raise OverflowError("the result is not finite")
            return result
        case ast.Compare(left=left, ops=ops, comparators=rights):
            values = [_evaluate(operand, scope) for operand in (left, *rights)]
            return all(_compare(op, a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
        case ast.Call(func=ast.Name(id=function), args=arguments):
            return scope.call(function, [_reference(a) or _evaluate(a, scope) for a in arguments])
    raise AssertionError(f"{ast.dump(node)} was let through")


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"{shorten(value, 40)} is not true or false")


def _numeric(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise TypeError(f"{shorten(value, 40)} is not a number")


def _compare(op: ast.cmpop, left: Any, right: Any) -> bool:
    # An absent value is in no order with anything: `confidence < 0.5` does not select rows without a confidence.
    if isinstance(op, _ORDERED) and (left is None or right is None):
        return False
    return bool(_COMPARISONS[type(op)][1](left, right))
