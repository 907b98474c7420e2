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

from yb_eval import Answer, DatasetError
from yb_eval.datasets import RowError, Source, jsonl
from yb_eval.digest import identify
from yb_eval.errors import shorten

_BATCH = 1_000


@frozen(slots=True)
class PredictionsTarget:
    """The answers in a file. See `yb_eval.Target`.

    `answers` holds each as the text of its line, a quarter of what the object would take; `lines` where each stands.
    """

    spec: str
    fingerprint: str
    answers: Mapping[str, bytes] = field(repr=False)
    lines: Mapping[str, int] = field(repr=False)
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
    """Raises `DatasetError` for a file that is not JSON Lines, or has an answer without an id, or two with one."""
    source = Source.open(path)
    reader = jsonl(source)
    answers: dict[str, bytes] = {}
    lines: dict[str, int] = {}
    for number, raw in reader.rows():
        try:
            said = reader.codec.check(raw)
        except RowError as error:
            where = reader.where(number, line=error.line, path=error.path)
            raise DatasetError(error.what, where=where, hint=error.hint) from None
        sample_id = said.get("id")
        if type(sample_id) is not str:
            raise DatasetError("a prediction has the id of its row", where=reader.where(number, path="$.id"))
        if sample_id in answers:
            first = reader.where(lines[sample_id])
            raise DatasetError(f"the id is first at {first}", where=reader.where(number, path="$.id"))
        answers[sample_id], lines[sample_id] = raw, number
    if not answers:
        raise DatasetError("no predictions", where=str(path))
    fingerprint = identify("triage-predictions", {"sha256": source.digest("predictions").sha256})
    return PredictionsTarget(f"predictions:{path}", fingerprint, answers, lines)
