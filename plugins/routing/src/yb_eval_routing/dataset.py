"""The golden rows, and the pairs of paraphrases that `--robustness` adds to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from yb_eval import Dataset, DatasetError, Sample, Snapshot
from yb_eval.datasets import RowDataset
from yb_eval.digest import revision_id
from yb_eval.model import FileDigest
from yb_eval_routing.pipeline import Policy, RequestError
from yb_eval_routing.pipeline.request import read_request

PARAPHRASES = Path(str(files("yb_eval_routing") / "data" / "paraphrase.jsonl"))


@frozen(slots=True, kw_only=True)
class GoldenRow:
    """A request and the tier it should map to.

    `tier` is what the policy gave when the row was made; `acceptable` lists, by judgement, the tiers that are right. Where
    the policy is arguably wrong, the golden tier is not among them; where there is no list, the golden tier is right.
    """

    tier: str
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    metadata: dict[str, Any] = field(factory=dict)
    acceptable: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("a row has either a prompt or messages")
        if not (self.prompt or self.messages):
            raise ValueError("the prompt is empty")

    def request(self, sample_id: str) -> dict[str, Any]:
        """The request to a target."""
        asked = {"prompt": self.prompt} if self.messages is None else {"messages": self.messages}
        return {"id": sample_id, **asked, "metadata": self.metadata}


@frozen(slots=True, kw_only=True)
class Paraphrase:
    """Two wordings of one request; a router should see no difference."""

    a: str
    b: str


def golden_dataset(path: Path, policy: Policy, *, robustness: bool, formats: Mapping[str, Any] | None) -> Dataset:
    """The golden rows of `path`, their tiers checked against the policy's; with `robustness` the paraphrases too."""
    golden = GoldenDataset(RowDataset(path, row=GoldenRow, formats=formats), tuple(tier.name for tier in policy.tiers))
    if not robustness:
        return golden
    return Joined((golden, RowDataset(PARAPHRASES, row=Paraphrase, role="paraphrases")))


@frozen(slots=True)
class GoldenDataset:
    """Golden rows whose tiers are all known and whose requests can be read: a misspelt tier, or a conversation in which
    no user speaks, is the dataset's fault, not the router's."""

    rows: RowDataset
    tiers: tuple[str, ...]

    @property
    def fields(self) -> frozenset[str] | None:
        return self.rows.fields

    def open(self) -> Snapshot:
        snapshot = self.rows.open()
        known = ", ".join(self.tiers)
        for batch in snapshot.samples(1_000):
            for sample in batch:
                try:
                    read_request(sample.data.request(sample.id))
                except RequestError as error:
                    raise DatasetError(error.message, where=f"{self.rows.path}:{sample.line}") from error
                for name in (sample.data.tier, *sample.data.acceptable):
                    if name not in self.tiers:
                        raise DatasetError(
                            f"the row {sample.id!r} has the tier {name!r}, which the policy does not have",
                            where=f"{self.rows.path}:{sample.line}",
                            hint=f"its tiers: {known}",
                        )
        return snapshot


@frozen(slots=True)
class Joined:
    """Several datasets one after another, with one revision."""

    parts: tuple[Dataset, ...]

    def open(self) -> Snapshot:
        snapshots = [part.open() for part in self.parts]
        listed = [file for snapshot in snapshots for file in snapshot.files]
        notes = [note for snapshot in snapshots for note in snapshot.notes]
        count = sum(snapshot.count for snapshot in snapshots)
        return JoinedSnapshot(snapshots, snapshots[0].id, revision_id(listed), count, listed, notes)


@define(slots=True)
class JoinedSnapshot:
    """See `yb_eval.Snapshot`. Ids must not repeat across the parts; the paraphrases' ids have a prefix of their own."""

    parts: Sequence[Snapshot] = field(repr=False)
    id: str
    revision_id: str
    count: int
    files: Sequence[FileDigest]
    notes: Sequence[str]

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        for part in self.parts:
            yield from part.samples(batch_size)
