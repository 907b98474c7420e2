"""What models cost: a price list, as RouterArena publishes one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval import DatasetError
from yb_eval.datasets import DataFile

_KEYS = ("input_token_price_per_million", "output_token_price_per_million")


@frozen(slots=True)
class Prices:
    """USD per million input and output tokens of each model, and the file they stand in."""

    by_model: Mapping[str, tuple[float, float]] = field(repr=False)
    file: DataFile = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Prices:
        """A price list in JSON: `{MODEL: {"input_token_price_per_million": X, "output_token_price_per_million": Y}}`.

        Raises `DatasetError` for a file that is none, a price that is missing, negative or no number.
        """
        file = DataFile.read(path, role="prices", limit=2**24)
        try:
            listed = orjson.loads(file.data)
        except orjson.JSONDecodeError as error:
            raise DatasetError(f"is not JSON: {error}", where=file.name) from error
        if not isinstance(listed, dict):
            raise DatasetError("a price list is an object with a model's name for each key", where=file.name)
        return cls({model: _pair(entry, f"{file.name}: {model}") for model, entry in listed.items()}, file)

    def cost(self, model: str, input_tokens: int, output_tokens: int) -> float:
        """USD. Raises `DatasetError` for a model that is not in the list: taking it for free would reward choosing it."""
        try:
            read, written = self.by_model[model]
        except KeyError:
            raise DatasetError(f"there is no price for the model {model!r} in {self.file.name}") from None
        return (input_tokens * read + output_tokens * written) / 1_000_000


def _pair(entry: Any, where: str) -> tuple[float, float]:
    prices: list[Any] = [entry.get(key) if isinstance(entry, dict) else None for key in _KEYS]
    for key, price in zip(_KEYS, prices, strict=True):
        # Not `isinstance(price, int)`: true is one.
        if type(price) not in (int, float) or not (math.isfinite(price) and price >= 0):
            raise DatasetError(f"{key} is missing or no price", where=where, hint="a number, at least 0")
    return prices[0], prices[1]
