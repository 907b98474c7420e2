"""What a declarative eval's answers lead to: rules in a fixed order, the first that holds decides.

The order is `block_if`, `escalate_if`, `modify_if`, `allow_if`, `else`, however they stand in the file. A rule that no answer
could ever make decide is refused: it is a slip, and a dangerous one in a gate.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from attrs import frozen

from yb_eval.errors import ExpressionError
from yb_eval.expressions import Expression, Missing
from yb_eval_decision.declarative.scope import Names, Range, Values, plain_name
from yb_eval_decision.results import Action

RULES: Mapping[str, Action] = {
    "block_if": "block", "escalate_if": "escalate", "modify_if": "modify", "allow_if": "allow",
}  # fmt: skip
ELSE = "else"
ACTIONS: tuple[str, ...] = get_args(Action)

_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
#: Combinations of values that are tried to find out what a policy can do.
MAX_CASES = 4_096


@frozen(slots=True)
class Policy:
    """`rules` in the order they are tried, by key (`block_if`); `otherwise` where none holds, None for no action."""

    rules: Mapping[str, Expression]
    otherwise: Action | None = None

    @property
    def is_allow_list(self) -> bool:
        """Whether it says what is allowed, so that what it does not mention is not."""
        return "allow_if" in self.rules

    def decide(self, scope: Values) -> tuple[Action | None, str]:
        """The action, and the key of the rule that gave it (`else`; "" where nothing did). Raises `Missing` for a rule
        that cannot be evaluated: it is never passed over."""
        for key, rule in self.rules.items():
            if rule.evaluate(scope):
                return RULES[key], key
        return self.otherwise, ELSE if self.otherwise else ""


class RuleError(ExpressionError):
    """An expression at fault: `key` is where it stands (`pass`, `block_if`)."""

    def __init__(self, key: str, what: str, hint: str | None = None) -> None:
        super().__init__(what, hint=hint)
        self.key = key


def check_expressions(expressions: Mapping[str, Expression], conditions: Sequence[str], names: Names) -> None:
    """Raises `RuleError` for an expression that uses no answer, whose kinds of values do not fit (a choice's option in
    arithmetic), that is a number where a condition is meant, or that compares a name with a number it can never reach."""
    for key, expression in expressions.items():
        if not expression.references():
            raise RuleError(key, f"{expression.text!r} uses no answer, so it is always the same")
        _check_comparisons(key, expression, names)
        value = _try(key, expression, names)
        if key in conditions and not isinstance(value, bool):
            raise RuleError(key, f"{expression.text!r} is not a condition", hint="compare it with a threshold")
        if key not in conditions and not isinstance(value, bool | int | float):
            raise RuleError(key, f"{expression.text!r} is not a number")


def _check_comparisons(key: str, expression: Expression, names: Names) -> None:
    for reference, symbol, number in expression.comparisons():
        if reference is None or symbol not in _COMPARISONS:
            continue
        name = plain_name(reference)
        values = names.range_of(name)
        if isinstance(values[0], str):
            hint = f"compare it with a text: {name} == '{values[0]}'"
            raise RuleError(key, f"{name} is an option's name, not a number", hint=hint)
        low, high = (values[0], values[-1])
        verdicts = {_COMPARISONS[symbol](value, number) for value in _around(values, [number])}
        if len(verdicts) == 1:
            always = "always" if verdicts.pop() else "never"
            raise RuleError(
                key, f"{name} {symbol} {number:g} is {always} true", hint=f"{name} lies in {low:g}..{high:g}"
            )


def _try(key: str, expression: Expression, names: Names) -> object:
    """The value for some answers. The kinds of values are the same for all answers, so one try shows whether they fit."""
    values: dict[str, object] = {}
    for place, reference in enumerate(expression.references(), start=1):
        known = names.range_of(plain_name(reference))
        # Uneven numbers, so that differences that one divides by are not zero by accident.
        values[plain_name(reference)] = 0.5 + 0.4 / (place + 1) if isinstance(known[0], float) else known[-1]
    try:
        return expression.evaluate(Values(values))
    except Missing as missing:
        if isinstance(missing.__cause__, TypeError):
            raise RuleError(key, f"{expression.text!r} {missing.reason}") from None
        return True if expression.is_condition else 0.0


def check_reach(policy: Policy, names: Names) -> None:
    """Raises `RuleError` for a rule that is never or always true, or never decides because earlier ones do.

    Rules that compare names with constants (nearly all are such) change only where a name crosses a constant, so trying
    each value that is compared and one between each two tries everything. Others are only compared by their text.
    """
    seen: dict[str, str] = {}
    for key, rule in policy.rules.items():
        text = "".join(rule.text.split())
        if text in seen:
            raise RuleError(key, f"{rule.text!r} can never decide", hint=f"{seen[text]} is the same and comes first")
        seen[text] = key
    rules = {key: rule for key, rule in policy.rules.items() if rule.is_stepwise}
    true: set[str] = set()
    false: set[str] = set()
    decided: set[str] = set()
    for case in _cases(list(rules.values()), names):
        first = True
        for key, rule in rules.items():
            holds = rule.evaluate(case)
            (true if holds else false).add(key)
            if holds and first:
                decided.add(key)
                first = False
        if len(decided) == len(rules) == len(false):
            return
    if not true and not false:
        return  # too many cases to try
    for key, rule in rules.items():
        for never, which in ((true, "never"), (false, "always")):
            if key not in never:
                raise RuleError(key, f"{rule.text!r} is {which} true")
        if key not in decided:
            earlier = " or ".join(list(rules)[: list(rules).index(key)])
            raise RuleError(key, f"{rule.text!r} can never decide", hint=f"wherever it is true, {earlier} is too")


def _cases(rules: Sequence[Expression], names: Names) -> Iterator[Values]:
    """A case for every combination of answers that the rules can tell apart."""
    compared: dict[str, set[tuple[str, float]]] = {}
    for rule in rules:
        for reference in rule.references():
            compared.setdefault(plain_name(reference), set())
        for subject, symbol, number in rule.comparisons():
            if subject is not None:
                compared[plain_name(subject)].add((symbol, number))
    tried = {name: _told_apart(names.range_of(name), sorted(found)) for name, found in compared.items()}
    if math.prod(map(len, tried.values())) > MAX_CASES:
        return
    groups = [[f"{id}.{option}" for option in options] for id, options in names.options.items()]
    for chosen in itertools.product(*tried.values()):
        case = dict(zip(tried, chosen, strict=True))
        # Options whose least probabilities sum to more than 1 are no case.
        if all(sum(case[name][0] for name in group if name in case) <= 1 + 1e-9 for group in groups):
            yield Values({name: value for name, (_, value) in case.items()})


def _told_apart(values: Range, comparisons: Sequence[tuple[str, float]]) -> list[tuple[float, float | str]]:
    """A value for each way in which the comparisons can come out, and the least value that comes out so."""
    around = _around(values, [number for _, number in comparisons])
    if not isinstance(values[0], float):
        return [(0.0, value) for value in around]
    found: dict[tuple[bool, ...], tuple[float, float | str]] = {}
    for index, value in enumerate(around):
        # Every other value stands for all between its neighbours.
        outcome = tuple(_COMPARISONS[symbol](value, number) for symbol, number in comparisons)
        found.setdefault(outcome, (float(around[index - index % 2]), value))
    return list(found.values())


def _around(values: Range, numbers: Sequence[float]) -> list[float | str]:
    """Each value of a name at which a comparison can change, and one between each two: all that there are of texts and
    whole numbers."""
    if isinstance(values, range) or isinstance(values[0], str):
        return list(values)
    low, high = values
    steps = sorted({low, high, *(number for number in numbers if low <= number <= high)})
    between = [(left + right) / 2 for left, right in itertools.pairwise(steps)]
    return sorted([*steps, *between])
