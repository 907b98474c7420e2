"""`predictions:FILE`: answers that were recorded elsewhere, matched to the rows by id.

One JSON object a line: `{"id", "label", "severity", "escalate", "confidence", ...}`, the answer's fields beside the id.
A row without an answer is an error outcome; an answer without a row is refused before the run, and so is a repeated
id: nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval import Answer
from yb_eval.datasets import open_rows
from yb_eval.digest import identify
from yb_eval.errors import shorten

_BATCH = 1_000


@frozen(slots=True)
class PredictionsTarget:
    """The answers in a file. See `yb_eval.Target`.

    `answers` holds each as JSON, a quarter of what the object would take; `lines` where each stands.
    """

    spec: str
    fingerprint: str
    answers: Mapping[str, str] = field(repr=False)
    lines: Mapping[str, int | None] = field(repr=False)
    batch_size: int = _BATCH
    concurrency: Any = "serial"

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        return [self._answer(request["id"]) for request in requests]

    def close(self) -> None:
        pass

    def _answer(self, sample_id: str) -> Answer:
        found = self.answers.get(sample_id)
        if found is None:
            return Answer(None, f"there is no prediction for the id {shorten(sample_id)}")
        return Answer(orjson.loads(found))


def predictions_target(path: Path) -> PredictionsTarget:
    """Raises `DatasetError` for a file that is not one of answers with ids of their own."""
    snapshot = open_rows(path, required=("id",), role="predictions")
    answers: dict[str, str] = {}
    lines: dict[str, int | None] = {}
    for batch in snapshot.samples(_BATCH):
        for sample in batch:
            # As text: the bytes that orjson returns keep the memory of its buffer, five times what they hold.
            answers[sample.id] = orjson.dumps(sample.data).decode()
            lines[sample.id] = sample.line
    fingerprint = identify("triage-predictions", {"revision": snapshot.revision_id})
    return PredictionsTarget(f"predictions:{path}", fingerprint, answers, lines)
