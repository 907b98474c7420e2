"""The constructor arguments of evals: declared on the class, checked when an eval is made.

```python
class PromptInjection(NoulEval):
    surface = parameter("input", choices=SURFACES, help="Which text is looked at.")
```

A subclass changes a default by assigning to the name: `threshold = 0.66`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten


@frozen(slots=True)
class Parameter:
    """One constructor argument. `check` turns a value into the one that is kept, or raises `UsageError`."""

    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Any, ...] = ()
    optional: bool = False
    required: bool = False
    check: Callable[[Any], Any] | None = None

    def read(self, value: Any, where: str) -> Any:
        """`value` as it is kept. Raises `UsageError` at `where` for one that cannot be."""
        if value is None and self.optional:
            return None
        if self.choices and value not in self.choices:
            raise UsageError(f"{shorten(value)} is none of {', '.join(map(str, self.choices))}", where=where,
                             hint=nearest(str(value), map(str, self.choices)))  # fmt: skip
        if self.minimum is not None or self.maximum is not None:
            value = self._number(value, where)
        elif isinstance(self.default, bool) and not isinstance(value, bool):
            raise UsageError(f"true or false is expected, not {shorten(value)}", where=where)
        if self.check is None:
            return value
        try:
            return self.check(value)
        except UsageError as error:
            raise UsageError(error.what, where=where, hint=error.hint) from error

    def _number(self, value: Any, where: str) -> Any:
        whole = isinstance(self.default, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise UsageError(f"a{' whole' if whole else ''} number is expected, not {shorten(value)}", where=where)
        low, high = self.minimum, self.maximum
        if not math.isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
            bounds = [
                f"{word} {bound:g}" for word, bound in (("at least", low), ("at most", high)) if bound is not None
            ]
            raise UsageError(f"{value} is out of range", where=where, hint=" and ".join(bounds))
        return value


def parameter(
    default: Any = None,
    *,
    help: str,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[Any] = (),
    optional: bool = False,
    required: bool = False,
    check: Callable[[Any], Any] | None = None,
) -> Any:
    """Declares a constructor argument in the body of an eval class. Bounds are inclusive; with bounds, the type of the
    default (int or float) says which numbers are meant. `check` reads a value of any other kind."""
    return Parameter(default, help, minimum, maximum, tuple(choices), optional, required, check)


class Parameterised:
    """A class whose constructor takes what `parameter()` declares in its body and in those of its bases."""

    parameters: Mapping[str, Parameter] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        known = dict(cls.parameters)
        for name, value in list(vars(cls).items()):
            if isinstance(value, Parameter):
                known[name] = value
                setattr(cls, name, value.default)
            elif name in known:
                known[name] = evolve(known[name], default=value, required=False)
        cls.parameters = known

    def __init__(self, **given: Any) -> None:
        title = type(self).__name__
        for name in given:
            if name not in self.parameters:
                raise UsageError(f"{title} has no argument {name!r}", hint=nearest(name, self.parameters))
        for name, declared in self.parameters.items():
            if name in given:
                setattr(self, name, declared.read(given[name], f"{title}({name}=)"))
            elif declared.required:
                raise UsageError(f"{title} needs {name}", hint=declared.help)

    def arguments(self) -> dict[str, Any]:
        """The value of every parameter, by name."""
        return {name: getattr(self, name) for name in self.parameters}
