"""The two ways a caller can be wrong: a bad policy and a bad request."""

from collections.abc import Mapping, Sequence


class PolicyError(ValueError):
    """A routing policy that cannot be used. The message is one line: where (TOML path), what, how to mend it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class RequestError(ValueError):
    """A request that cannot be routed. The message is one line: where, what, how to mend it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def kind(value: object) -> str:
    """Name the JSON type of a value. Errors about requests say this instead of the value: it may be personal data."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, Sequence) else "no JSON value"


def shown(value: object) -> str:
    """Return a short one-line form of a foreign value, safe to put into an error message."""
    text = repr(value)  # escapes line breaks, control characters and lone surrogates
    return text if len(text) <= 60 else f"{text[:57]}..."
