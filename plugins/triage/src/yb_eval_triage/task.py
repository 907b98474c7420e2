"""A triage task: what may be answered, how bad each severity is, what a wrong answer costs.

A task is a small TOML file, so that a label set and a cost matrix are reviewed like code:

```toml
name = "ops"
out_of_scope = "out_of_scope"          # optional; must be one of the labels
rules = "ops"                          # optional; the shipped rule file for the rule triager

[labels]                               # the label set, in the order of reports, each with its definition
availability = "A service does not work at all for those who need it."
out_of_scope = "Nothing this desk handles."

[severity]                             # optional
levels = ["none", "minor", "major"]    # ordered, index = severity, higher = worse
critical = 2                           # from here on a missed severity counts as critical
under_cost = 3                         # cost per level of under-triage (predicted < gold) ...
over_cost = 1                          # ... and of over-triage; or `cost = [[...]]`, cost[gold][predicted]
ranges = { out_of_scope = [0, 1] }     # severities that a label can have: anything else is a contradiction

[escalate]                             # optional
required_from = 2                      # severity at which an answer without escalation contradicts itself
allowed_from = 1                       # severity below which an escalation contradicts the answer
beta = 2                               # recall counts beta times as much as precision

[handoffs]                             # optional: to whom an agent should hand an item of each label
nobody = ["out_of_scope"]              # labels that it should keep; default: the out-of-scope label
names = { billing = "Billing agent" }  # default: an agent that is called as the label

[files]                                # beside the task file
train = "train.jsonl"
test = "test.jsonl"

[training]                             # how the built-in triager is trained; every key has a default
in_scope_accuracy = 0.92
```

Whatever is wrong is refused with its place: `ops/task.toml: severity.cost[1]: ...`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Self

from attrs import Factory, asdict, field, frozen

from yb_eval_triage.reader import TableReader, TaskError

__all__ = ["Answer", "Escalation", "Handoffs", "Severity", "Task", "TaskError", "Training"]

ROLES = ("train", "validation", "test", "sample")


@frozen(kw_only=True)
class Answer:
    """What a triager says of one item.

    `confidence` is its probability, 0..1, that `label` is right. `abstain` means "a person must look": the label is
    then a best guess that nobody should act on. A triager that has no opinion on a field leaves it None.
    """

    label: str | None = None
    severity: int | None = None
    escalate: bool | None = None
    confidence: float | None = None
    abstain: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer in the shape every target gives: fields without an opinion are left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@frozen(kw_only=True)
class Severity:
    """An ordered scale. `cost[gold][predicted]` >= 0, zero on the diagonal; `ranges` limits severities by label."""

    levels: tuple[str, ...]
    critical: int
    cost: tuple[tuple[float, ...], ...]
    ranges: Mapping[str, tuple[int, int]]


@frozen(kw_only=True)
class Escalation:
    """When a person is called at once. `beta` weighs recall against precision in F-beta."""

    required_from: int
    allowed_from: int
    beta: float = 2.0


@frozen(kw_only=True)
class Handoffs:
    """Whom an item belongs to: `nobody` lists labels that are not handed on, `names` the agents called otherwise."""

    nobody: tuple[str, ...] = ()
    names: Mapping[str, str] = field(factory=dict)

    def to(self, label: str) -> str | None:
        """The name of whoever should get an item with this label; `None`: nobody."""
        return None if label in self.nobody else self.names.get(label, label)


@frozen(kw_only=True)
class Training:
    """How the built-in triager is trained on this task.

    `in_scope_accuracy`: the operating point keeps this accuracy on in-scope rows and then rejects as many
    out-of-scope rows as it can; without it, the number of right answers is maximised.
    `out_of_scope_share`: the share of out-of-scope items that confidences are calibrated for; default: as in the
    validation data. `out_of_scope_weight`: how many rows an out-of-scope training row counts for.
    `word_lists`: the model also reads which word lists of the task's rules occur in a text; a small task gains most.
    """

    in_scope_accuracy: float | None = None
    out_of_scope_share: float | None = None
    out_of_scope_weight: float = 3.0
    min_documents: int = 2
    unseen_weight: float = 0.5
    penalty: float = 1.0
    seed: int = 0
    word_lists: bool = False


@frozen(kw_only=True)
class Task:
    """`labels` maps each label to its definition, in report order; `files` maps a role to a file name."""

    name: str
    labels: Mapping[str, str]
    out_of_scope: str | None = None
    severity: Severity | None = None
    escalation: Escalation | None = None
    handoffs: Handoffs = Factory(Handoffs)
    files: Mapping[str, str] = field(factory=dict)
    rules: str | None = None
    training: Training = Factory(Training)
    folder: Path | None = field(default=None, eq=False)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a task file.

        Raises:
            TaskError: the file cannot be read, is not TOML, or something in it is wrong.
        """
        try:
            data = path.read_bytes()
        except OSError as fault:
            raise TaskError(f"{path}: cannot be read ({fault.strerror})") from fault
        return cls.parse(data, where=str(path), folder=path.parent)

    @classmethod
    def parse(cls, data: bytes, *, where: str, folder: Path | None = None) -> Self:
        """The task in the bytes of a TOML file; `where` is what errors call it."""
        try:
            table = tomllib.loads(data.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
            raise TaskError(f"{where}: not a TOML file ({fault})") from fault
        root = TableReader(where, table)
        labels = _labels(root)
        severity = _severity(root.child("severity"), labels) if "severity" in root else None
        escalation = _escalation(root.child("escalate"), severity) if "escalate" in root else None
        outside = root.choice("out_of_scope", labels) if "out_of_scope" in root else None
        task = cls(
            name=root.name("name"),
            labels=labels,
            out_of_scope=outside,
            severity=severity,
            escalation=escalation,
            handoffs=_handoffs(root, labels, outside),
            files=_files(root.child("files")) if "files" in root else {},
            rules=root.text("rules") if "rules" in root else None,
            training=_training(root.child("training")) if "training" in root else Training(),
            folder=folder,
        )
        if task.training.word_lists and task.rules is None:
            raise root.fault("training.word_lists", "the task names no rules", 'add rules = "..."')
        if task.out_of_scope is not None and len(labels) < 2:
            raise root.fault("labels", "holds nothing but the out-of-scope label")
        root.finish()
        return task

    def path(self, role: str) -> Path:
        """The file that plays `role` (train, validation, test, sample).

        Raises:
            TaskError: the task names no such file, or was not read from a folder.
        """
        if role not in self.files or self.folder is None:
            known = ", ".join(self.files) or "none"
            raise TaskError(f"task {self.name}: no {role} file (it names: {known})")
        return self.folder / self.files[role]

    def identity(self) -> dict[str, Any]:
        """All that decides what a right answer is and how a model is trained, as JSON: no paths, no file names."""
        return {
            "name": self.name,
            "labels": list(self.labels),
            "out_of_scope": self.out_of_scope,
            "severity": None
            if self.severity is None
            else {
                "levels": list(self.severity.levels),
                "critical": self.severity.critical,
                "cost": [[repr(cell) for cell in row] for row in self.severity.cost],
                "ranges": [[label, *self.severity.ranges[label]] for label in sorted(self.severity.ranges)],
            },
            "escalate": None
            if self.escalation is None
            else {
                "required_from": self.escalation.required_from,
                "allowed_from": self.escalation.allowed_from,
                "beta": repr(self.escalation.beta),
            },
            "handoffs": {
                "nobody": list(self.handoffs.nobody),
                "names": [[label, self.handoffs.names[label]] for label in sorted(self.handoffs.names)],
            },
            "training": {key: repr(value) for key, value in asdict(self.training).items()},
        }

    def check(self, answer: Answer) -> list[str]:
        """What makes `answer` unusable: a label outside the set, a severity off the scale, a confidence not in 0..1."""
        faults: list[str] = []
        if answer.label is not None and answer.label not in self.labels:
            faults.append(f"label {answer.label!r} is not in the label set of task {self.name}")
        if answer.severity is not None:
            if self.severity is None:
                faults.append(f"task {self.name} has no severity")
            elif not 0 <= answer.severity < len(self.severity.levels):
                faults.append(f"severity {answer.severity} is not in 0..{len(self.severity.levels) - 1}")
        if answer.escalate is not None and self.escalation is None:
            faults.append(f"task {self.name} has no escalation")
        if answer.confidence is not None and not 0.0 <= answer.confidence <= 1.0:
            faults.append(f"confidence {answer.confidence!r} is not in 0..1")
        return faults

    def contradictions(self, answer: Answer) -> list[str]:
        """Where the parts of one answer disagree; needs no gold. The answer must have passed `check`."""
        found: list[str] = []
        if self.severity is None or answer.severity is None:
            return found
        low, high = self.severity.ranges.get(answer.label or "", (0, len(self.severity.levels) - 1))
        if not low <= answer.severity <= high:
            found.append(f"label {answer.label} cannot have severity {answer.severity} (only {low}..{high})")
        if self.escalation is not None and answer.escalate is not None:
            if answer.escalate and answer.severity < self.escalation.allowed_from:
                found.append(f"escalated at severity {answer.severity}")
            if not answer.escalate and answer.severity >= self.escalation.required_from:
                found.append(f"not escalated at severity {answer.severity}")
        return found


def linear_cost(levels: int, *, under: float, over: float) -> tuple[tuple[float, ...], ...]:
    """Asymmetric linear costs: `under` per level that a prediction is too low, `over` per level that it is too high."""
    return tuple(
        tuple(float(under * max(gold - said, 0) + over * max(said - gold, 0)) for said in range(levels))
        for gold in range(levels)
    )


def _labels(root: TableReader) -> Mapping[str, str]:
    table = root.child("labels")
    labels = {name: table.text(name) for name in table.names()}
    if not labels:
        raise root.fault("labels", "is empty", "name at least one label with its definition")
    return labels


def _severity(table: TableReader, labels: Mapping[str, str]) -> Severity:
    levels = table.texts("levels", at_least=2)
    top = len(levels) - 1
    if "cost" in table:
        cost = table.matrix("cost", size=len(levels))
        for name in ("under_cost", "over_cost"):
            if name in table:
                raise table.fault(name, "stands beside severity.cost", "give one of the two")
    else:
        under = table.number("under_cost", default=1.0, low=0.0)
        over = table.number("over_cost", default=1.0, low=0.0)
        cost = linear_cost(len(levels), under=under, over=over)
    ranges: dict[str, tuple[int, int]] = {}
    if "ranges" in table:
        inner = table.child("ranges")
        for label in inner.names():
            inner.known(label, labels)
            ranges[label] = inner.interval(label, low=0, high=top)
        inner.finish()
    severity = Severity(
        levels=levels,
        critical=table.integer("critical", default=top, low=0, high=top),
        cost=cost,
        ranges=ranges,
    )
    table.finish()
    return severity


def _escalation(table: TableReader, severity: Severity | None) -> Escalation:
    if severity is None:
        raise table.fault(None, "needs a severity scale", "add [severity], its levels are what escalation refers to")
    top = len(severity.levels) - 1
    required = table.integer("required_from", default=severity.critical, low=0, high=top)
    escalation = Escalation(
        required_from=required,
        allowed_from=table.integer("allowed_from", default=0, low=0, high=required),
        beta=table.number("beta", default=2.0, low=0.01, high=100.0),
    )
    table.finish()
    return escalation


def _handoffs(root: TableReader, labels: Mapping[str, str], outside: str | None) -> Handoffs:
    kept: tuple[str, ...] = () if outside is None else (outside,)
    if "handoffs" not in root:
        return Handoffs(nobody=kept)
    table = root.child("handoffs")
    names: dict[str, str] = {}
    if "names" in table:
        inner = table.child("names")
        for label in inner.names():
            inner.known(label, labels)
            names[label] = inner.text(label)
    if "nobody" in table:
        kept = table.texts("nobody")
        for label in kept:
            if label not in labels:
                raise table.fault("nobody", f"{label!r} is not a label", ", ".join(labels))
    table.finish()
    return Handoffs(nobody=kept, names=names)


def _files(table: TableReader) -> Mapping[str, str]:
    files: dict[str, str] = {}
    for role in table.names():
        table.known(role, ROLES)
        name = table.text(role)
        if PurePosixPath(name).name != name or "\\" in name:
            raise table.fault(role, f"{name!r} is not a plain file name", "data stands beside the task file")
        files[role] = name
    return files


def _training(table: TableReader) -> Training:
    unit = {"low": 0.0, "high": 1.0}
    training = Training(
        in_scope_accuracy=table.number("in_scope_accuracy", **unit) if "in_scope_accuracy" in table else None,
        out_of_scope_share=table.number("out_of_scope_share", **unit) if "out_of_scope_share" in table else None,
        out_of_scope_weight=table.number("out_of_scope_weight", default=3.0, low=0.01, high=1000.0),
        min_documents=table.integer("min_documents", default=2, low=1, high=1000),
        unseen_weight=table.number("unseen_weight", default=0.5, **unit),
        penalty=table.number("penalty", default=1.0, low=1e-4, high=1e4),
        seed=table.integer("seed", default=0, low=0, high=2**31 - 1),
        word_lists=table.flag("word_lists"),
    )
    table.finish()
    return training
