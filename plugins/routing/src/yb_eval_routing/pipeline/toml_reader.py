"""Reading TOML tables strictly: every key known, every value of its kind, every error with its path and its cure."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from difflib import get_close_matches

from yb_eval_routing.pipeline.errors import PolicyError, shown


def nearest(name: str, known: Mapping[str, object] | tuple[str, ...] | list[str]) -> str:
    """Return the part of a message that names the nearest known name, or lists the known ones."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}"


class TableReader:
    """A TOML table that is read key by key; :meth:`close` refuses what nobody asked for."""

    def __init__(self, table: object, path: str) -> None:
        if not isinstance(table, dict):
            raise PolicyError(f"{path}: {shown(table)} is not a table")
        self._table: dict[str, object] = table
        self._path = path
        self._known: list[str] = []

    @property
    def path(self) -> str:
        return self._path

    def where(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def has(self, key: str) -> bool:
        self._known.append(key)
        return key in self._table

    def _value(self, key: str, kind: str) -> object:
        if not self.has(key):
            raise PolicyError(f"{self.where(key)}: is missing; add {kind}")
        return self._table[key]

    def text(self, key: str) -> str:
        value = self._value(key, "a name in quotes")
        if not isinstance(value, str) or not value.strip() or value != value.strip() or not value.isprintable():
            raise PolicyError(f"{self.where(key)}: {shown(value)} is not a name; write printable text in quotes")
        return value

    def integer(self, key: str, *, least: int, most: int = 10**9, default: int | None = None) -> int:
        if default is not None and not self.has(key):
            return default
        value = self._value(key, f"a whole number from {least}")
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise PolicyError(f"{self.where(key)}: {shown(value)} is not a whole number from {least} to {most}")
        return value

    def decimal(self, key: str, *, places: int, most: int) -> int:
        """Return a decimal of 0..``most`` with at most so many places, as a whole number of its last place."""
        value = self._value(key, f"a number from 0 to {most}")
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise PolicyError(f"{self.where(key)}: {shown(value)} is not a number")
        number = Decimal(value)
        if not number.is_finite() or not 0 <= number <= most:
            raise PolicyError(f"{self.where(key)}: {shown(str(value))} is not a number from 0 to {most}")
        _, digits, exponent = number.as_tuple()
        assert isinstance(exponent, int)  # finite, see above
        whole = "".join(map(str, digits)).lstrip("0") or "0"
        shift = exponent + places
        if whole == "0":
            return 0
        if shift >= 0:
            return int(whole + "0" * shift)
        if set(whole[shift:]) - {"0"} or -shift > len(whole):
            raise PolicyError(f"{self.where(key)}: {shown(str(value))} has more than {places} decimal places; round it")
        return int(whole[:shift] or "0")

    def flag(self, key: str) -> bool:
        value = self._table[key] if self.has(key) else False
        if not isinstance(value, bool):
            raise PolicyError(f"{self.where(key)}: {shown(value)} is not true or false")
        return value

    def texts(self, key: str) -> list[str]:
        value = self._value(key, "a list of quoted texts")
        if not isinstance(value, list) or not value:
            raise PolicyError(f"{self.where(key)}: {shown(value)} is not a list with at least one quoted text")
        for index, entry in enumerate(value):
            if not isinstance(entry, str):
                raise PolicyError(f"{self.where(key)}[{index}]: {shown(entry)} is not a text in quotes")
        return value

    def table(self, key: str) -> "TableReader":
        return TableReader(self._value(key, f"a table [{self.where(key)}]"), self.where(key))

    def tables(self, key: str, *, optional: bool = False) -> list["TableReader"]:
        if optional and not self.has(key):
            return []
        value = self._value(key, f"at least one [[{self.where(key)}]]")
        if not isinstance(value, list) or not value:
            raise PolicyError(f"{self.where(key)}: {shown(value)} is not a list of tables; write [[{self.where(key)}]]")
        return [TableReader(entry, f"{self.where(key)}[{index}]") for index, entry in enumerate(value)]

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of a table whose keys are free names; they count as known."""
        self._known.extend(self._table)
        return iter(self._table)

    def close(self) -> None:
        for key in self._table:
            if key not in self._known:
                raise PolicyError(f"{self.where(key)}: unknown key; {nearest(key, self._known)}")


def refuse_duplicates(names: list[str], path: str, kind: str) -> None:
    """Raise :class:`PolicyError` naming both places when two entries of a list have one name."""
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in first:
            raise PolicyError(
                f"{path}[{index}].name: {kind} '{name}' is already defined as {path}[{first[name]}]; rename one of them"
            )
        first[name] = index
