"""Recorded outcomes: for each prompt how well the weak and the strong model answered it, and what that cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen, validators

from yb_eval import Dataset, DatasetError, Snapshot
from yb_eval.datasets import MultiFile, RowDataset
from yb_eval_datasets import path
from yb_eval_routing.pipeline import RequestError
from yb_eval_routing.pipeline.request import read_request
from yb_eval_routing.quality.prices import Prices

#: The data that ships, by name, and whether its rows have prompts.
SHIPPED = {"gsm8k": True, "mmlu": True, "routerarena": False}

_AMOUNT = validators.optional(validators.and_(validators.ge(0), validators.lt(float("inf"))))


@frozen(slots=True, kw_only=True)
class Served:
    """What one model made of a prompt.

    `score` is 0 (wrong) to 1 (right). The cost is given as `cost_usd`, or as the `model` and its token counts, which a
    price list turns into USD.
    """

    score: float = field(validator=[validators.ge(0), validators.le(1)])
    cost_usd: float | None = field(default=None, validator=_AMOUNT)
    model: str | None = None
    input_tokens: int | None = field(default=None, validator=_AMOUNT)
    output_tokens: int | None = field(default=None, validator=_AMOUNT)

    def __attrs_post_init__(self) -> None:
        counted = self.input_tokens is not None and self.output_tokens is not None
        if self.output_tokens is not None and not (counted and self.model):
            raise ValueError("output_tokens need input_tokens and a model beside them")

    def cost(self, prices: Prices | None) -> float | None:
        """USD, `None` where the row says nothing of it. Raises `DatasetError` for a model without a price: it is not
        free."""
        if self.cost_usd is not None:
            return self.cost_usd
        if self.model is None or self.input_tokens is None or self.output_tokens is None:
            return None
        if prices is None:
            raise DatasetError(f"there is no price for the model {self.model!r}", hint="give a price list: --prices")
        return prices.cost(self.model, self.input_tokens, self.output_tokens)


@frozen(slots=True, kw_only=True)
class OutcomeRow:
    """A request and both models' outcomes. Without a prompt the request has the token count in its metadata."""

    weak: Served
    strong: Served
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    metadata: dict[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if self.prompt is not None and self.messages is not None:
            raise ValueError("a row has either a prompt or messages")
        if self.prompt is None and self.messages is None and self.weak.input_tokens is None:
            raise ValueError(
                "a row has a prompt, messages, or at least weak.input_tokens: nothing else can be routed by"
            )
        if self.prompt == "":
            raise ValueError("the prompt is empty")

    def request(self, sample_id: str) -> dict[str, Any]:
        """The request to a target. What the models answered, and what that cost, is not in it."""
        if self.prompt is not None:
            return {"id": sample_id, "prompt": self.prompt, "metadata": self.metadata}
        if self.messages is not None:
            return {"id": sample_id, "messages": self.messages, "metadata": self.metadata}
        return {"id": sample_id, "metadata": {**self.metadata, "input_tokens": self.weak.input_tokens}}


def request_length(request: Mapping[str, Any]) -> int:
    """The length of the last user message in characters, or in tokens where a request has no text.

    Raises `RequestError` for messages that no router could read.
    """
    if "prompt" in request or "messages" in request:
        return len(read_request(request).asks[-1])
    return int(request["metadata"]["input_tokens"])


def quality_dataset(data: Path, *, prices: Prices | None, formats: Mapping[str, Any] | None) -> Dataset:
    """The rows of a shipped set or of a file, with the price list as part of the revision."""
    name = shipped(data)
    file = data if name is None else path(f"routing/{name}.jsonl")
    rows = OutcomeDataset(RowDataset(file, row=OutcomeRow, formats=formats), prices)
    if prices is None:
        return rows
    others: Any = (prices.file,)
    return MultiFile(rows, others)


def shipped(data: Path) -> str | None:
    """The name of the shipped set that `--data` means, `None` for a file of the user's."""
    return data.name if data.name in SHIPPED and not data.is_file() else None


@frozen(slots=True)
class OutcomeDataset:
    """Rows that are fit to be compared: requests that can be read, costs for all of them or for none."""

    rows: RowDataset
    prices: Prices | None = None

    @property
    def fields(self) -> frozenset[str] | None:
        return self.rows.fields

    def open(self) -> Snapshot:
        snapshot = self.rows.open()
        first: bool | None = None
        for batch in snapshot.samples(1_000):
            for sample in batch:
                where = f"{self.rows.path}:{sample.line}"
                row: OutcomeRow = sample.data
                try:
                    request_length(row.request(sample.id))
                    costs = {served.cost(self.prices) is not None for served in (row.weak, row.strong)}
                except RequestError as error:
                    raise DatasetError(error.message, where=where) from error
                except DatasetError as error:
                    raise DatasetError(error.what, where=where, hint=error.hint) from error
                first = min(costs) if first is None else first
                if costs != {first}:
                    raise DatasetError(
                        "some outcomes have a cost and others have none: their mean would be that of another set",
                        where=where,
                        hint="give every outcome a cost, or none",
                    )
        return snapshot
