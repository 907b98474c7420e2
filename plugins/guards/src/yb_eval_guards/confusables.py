"""Characters that look alike, as tables from every script to the Latin and to the Cyrillic letters.

Sources: UTS #39 `intentional.txt` (shipped unchanged, licence beside it) and `data/confusables.toml`.
"""

from __future__ import annotations

from functools import cache

from .tables import load_table, table_bytes

__all__ = ["to_cyrillic", "to_latin"]

_ASCII = range(0x80)
_CYRILLIC = range(0x400, 0x530)


def _groups() -> list[set[str]]:
    """Return the sets of look-alikes of `intentional.txt`: its pairs, joined where they share a character."""
    groups: list[set[str]] = []
    for line in table_bytes("confusables_intentional.txt").decode("utf-8").splitlines():
        fields = line.split("#", 1)[0].split(";")
        if len(fields) != 2:
            continue
        pair = {chr(int(field.strip(), 16)) for field in fields}
        joined = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair]
        groups.append(pair.union(*joined))
    return groups


def _table(script: range, name: str) -> dict[int, str]:
    table: dict[int, str] = {}
    for group in _groups():
        targets = sorted(char for char in group if ord(char) in script and char.isalpha())
        if targets:
            table |= {ord(char): targets[0] for char in group - set(targets)}
    for letter, others in load_table("confusables.toml")[name].items():
        for char in others:
            table.setdefault(ord(char), letter)
    return table


@cache
def to_latin() -> dict[int, str]:
    """Return a `str.translate` table from look-alikes of every script to ASCII letters."""
    return {code: char for code, char in _table(_ASCII, "latin").items() if code not in _ASCII}


@cache
def to_cyrillic() -> dict[int, str]:
    """Return a `str.translate` table from look-alikes of every script to Cyrillic letters."""
    return _table(_CYRILLIC, "cyrillic")
