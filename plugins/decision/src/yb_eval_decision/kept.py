"""Values that are worked out at first use and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class kept(Generic[T]):
    """A property that is worked out once. What it raises is not kept.

    The value lies in the object's `__dict__`, where Python finds it before it asks the class: from then on it costs no more
    than any attribute. `functools.cached_property` is the same, with a lock around it in Python 3.11.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, thing: None, owner: type) -> Self: ...
    @overload
    def __get__(self, thing: object, owner: type) -> T: ...
    def __get__(self, thing: object | None, owner: type) -> T | Self:
        if thing is None:
            return self
        value = thing.__dict__[self._name] = self._make(thing)
        return value
