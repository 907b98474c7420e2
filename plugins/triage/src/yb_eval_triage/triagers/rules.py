"""The rule triager: word lists and rules in a file that people read, matched by a linear-time engine.

```toml
[default]
label = "out_of_scope"                  # when no rule votes

[severity]                              # where each label starts; needs a task with severity
availability = 3

[lists]                                 # entries are whole words or phrases; a final * stands for any ending
outage = ["down", "unreachable", "недоступ*", "не отвеча*"]
test_system = ["staging", "стенд*"]

[[rule]]
when = ["outage"]                       # all of these lists must be found ...
unless = ["test_system"]                # ... and none of these
meta = { channel = "alert" }            # ... and the metadata must say this
label = "availability"                  # votes with `weight`; the label with most votes wins, the first of a tie
weight = 2
at_least = 3                            # severity bounds; the upper bound wins over the lower one
at_most = 4
escalate = true
```

A list never matches inside a word: `down` is found in "is down!" and not in "download". Case does not matter, and
neither does the difference between the Russian letters ye and yo. All lists are searched in one pass of RE2, whose
time is linear in the text whatever the lists hold.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from attrs import field, frozen

from yb_eval_triage.reader import TableReader
from yb_eval_triage.task import Answer, Task, TaskError
from yb_eval_triage.triagers.features import HEAD_CHARS, TAIL_CHARS

_ENGINE_MEMORY = 64 << 20
_MAX_WEIGHT = 1_000.0


@frozen(kw_only=True)
class Rule:
    """If every list of `when` and none of `unless` is found and the metadata fits: a vote, bounds, an escalation."""

    when: tuple[str, ...]
    unless: tuple[str, ...]
    meta: Mapping[str, str]
    label: str | None
    weight: float
    at_least: int | None
    at_most: int | None
    escalate: bool

    def fits(self, found: set[str], meta: Mapping[str, object]) -> bool:
        """Whether the rule speaks about an item in which the lists `found` were found."""
        return (
            found.issuperset(self.when)
            and found.isdisjoint(self.unless)
            and all(meta.get(key) == value for key, value in self.meta.items())
        )


class WordLists:
    """Named lists of words, all searched for at once."""

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        import re2

        options = re2.Options()
        options.max_mem = _ENGINE_MEMORY
        options.log_errors = False
        self.names = tuple(lists)
        self._set = re2.Set.SearchSet(options)
        try:
            for words in lists.values():
                self._set.Add(_pattern(words))
            if self.names:
                self._set.Compile()
        except re2.error as fault:
            raise TaskError(f"the word lists are too large for the search engine ({fault})") from fault

    def find(self, text: str) -> set[str]:
        """The names of the lists that `text` holds a word of."""
        if not self.names or not text:
            return set()
        if len(text) > HEAD_CHARS + TAIL_CHARS:
            text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
        hits = self._set.Match(_fold(text).encode("utf-8", "replace").decode("utf-8"))
        return {self.names[index] for index in hits or ()}


@frozen(kw_only=True, eq=False)
class RulesTriager:
    """Rules for one task. `answer` is a pure function of its input: threads may share it."""

    task: Task
    lists: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]
    default: str | None
    base: Mapping[str, int]
    _engine: WordLists = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_engine", WordLists(self.lists))

    @classmethod
    def load(cls, path: Path, *, task: Task) -> Self:
        """Read a rule file.

        Raises:
            TaskError: the file cannot be read or something in it is wrong; names the key.
        """
        try:
            return cls.parse(path.read_bytes(), task=task, where=str(path))
        except OSError as fault:
            raise TaskError(f"{path}: cannot be read ({fault.strerror})") from fault

    @classmethod
    def shipped(cls, task: Task) -> Self:
        """The rules that come with the plugin for this task.

        Raises:
            TaskError: the task names no shipped rules.
        """
        return cls.parse(shipped_rules(task), task=task, where=f"rules/{task.rules}.toml")

    @classmethod
    def parse(cls, data: bytes, *, task: Task, where: str) -> Self:
        """The rules in the bytes of a TOML file; `where` is what errors call it."""
        try:
            table = tomllib.loads(data.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
            raise TaskError(f"{where}: not a TOML file ({fault})") from fault
        root = TableReader(where, table)
        inner = root.child("lists")
        lists = {name: _words(inner, name) for name in inner.names()}
        default = None
        if "default" in root:
            section = root.child("default")
            default = section.choice("label", task.labels)
            section.finish()
        base: dict[str, int] = {}
        if "severity" in root:
            section = root.child("severity")
            for label in section.names():
                section.known(label, task.labels)
                base[label] = section.integer(label, low=0, high=_top(task, section, label))
        rules = tuple(_rule(item, task, lists) for item in root.children("rule"))
        if not rules:
            raise root.fault("rule", "there is no rule", "add at least one [[rule]]")
        root.finish()
        return cls(task=task, lists=lists, rules=rules, default=default, base=base)

    def find(self, text: str) -> set[str]:
        """The names of the word lists found in `text`."""
        return self._engine.find(text)

    def answer(self, texts: Sequence[str], metas: Sequence[Mapping[str, object]] | None = None) -> list[Answer]:
        """One answer a text, in order."""
        return [
            self._answer(self._engine.find(text), meta)
            for text, meta in zip(texts, metas or [{}] * len(texts), strict=True)
        ]

    def _answer(self, found: set[str], meta: Mapping[str, object]) -> Answer:
        fitting = [rule for rule in self.rules if rule.fits(found, meta)]
        votes: dict[str, float] = {}
        for rule in fitting:
            if rule.label is not None:
                votes[rule.label] = votes.get(rule.label, 0.0) + rule.weight
        if not votes:
            label, confidence = self.default, 0.5
        else:
            label = max(votes, key=lambda name: votes[name])
            # Not a calibrated probability: the winner's share of the votes, one more vote standing for doubt.
            confidence = votes[label] / (sum(votes.values()) + 1)
        severity = self._severity(label, fitting)
        return Answer(
            label=label,
            severity=severity,
            escalate=self._escalate(severity, fitting),
            confidence=round(confidence, 4) if label is not None else None,
            abstain=label is None,
        )

    def _severity(self, label: str | None, fitting: Sequence[Rule]) -> int | None:
        scale = self.task.severity
        if scale is None:
            return None
        low, high = scale.ranges.get(label or "", (0, len(scale.levels) - 1))
        lower = max((rule.at_least for rule in fitting if rule.at_least is not None), default=low)
        upper = min((rule.at_most for rule in fitting if rule.at_most is not None), default=high)
        graded = min(max(self.base.get(label or "", 0), lower), upper)
        return min(max(graded, low), high)

    def _escalate(self, severity: int | None, fitting: Sequence[Rule]) -> bool | None:
        rule = self.task.escalation
        if rule is None or severity is None:
            return None
        asked = any(item.escalate for item in fitting)
        return severity >= rule.required_from or (asked and severity >= rule.allowed_from)


def shipped_rules(task: Task) -> bytes:
    """The bytes of the rule file that the plugin ships for `task`.

    Raises:
        TaskError: it ships none.
    """
    folder = files("yb_eval_triage.triagers") / "rules"
    if task.rules is None or not (folder / f"{task.rules}.toml").is_file():
        raise TaskError(
            f"task {task.name}: no rules ship for it; give a rule file (its format: docs of the rule triager)"
        )
    return (folder / f"{task.rules}.toml").read_bytes()


def _rule(table: TableReader, task: Task, lists: Mapping[str, Any]) -> Rule:
    names = {key: table.texts(key) for key in ("when", "unless")}
    for key, used in names.items():
        for name in used:
            if name not in lists:
                raise table.fault(key, f"no list is called {name!r}", "it must stand in [lists]")
    meta: dict[str, str] = {}
    if "meta" in table:
        inner = table.child("meta")
        meta = {key: inner.text(key) for key in inner.names()}
    if not names["when"] and not meta:
        raise table.fault("when", "a rule without conditions speaks about every item", "use [default] and [severity]")
    bounds: dict[str, int | None] = {
        key: table.integer(key, low=0, high=_top(task, table, key)) if key in table else None
        for key in ("at_least", "at_most")
    }
    rule = Rule(
        when=names["when"],
        unless=names["unless"],
        meta=meta,
        label=table.choice("label", task.labels) if "label" in table else None,
        weight=table.number("weight", default=1.0, low=0.0, high=_MAX_WEIGHT),
        at_least=bounds["at_least"],
        at_most=bounds["at_most"],
        escalate=table.flag("escalate"),
    )
    if rule.label is None and rule.at_least is None and rule.at_most is None and not rule.escalate:
        raise table.fault(None, "says nothing", "give a label, at_least, at_most or escalate")
    table.finish()
    return rule


def _top(task: Task, table: TableReader, key: str) -> int:
    if task.severity is None:
        raise table.fault(key, f"task {task.name} has no severity")
    return len(task.severity.levels) - 1


def _words(table: TableReader, name: str) -> tuple[str, ...]:
    words = table.texts(name, at_least=1)
    for word in words:
        if "*" in word[:-1] or word == "*":
            raise table.fault(name, f"{word!r}: * may only end an entry")
    return words


def _pattern(words: Sequence[str]) -> str:
    import re2

    # RE2's \b knows ASCII letters only, so the boundaries are spelled out; an open end needs none.
    escaped = [(r"\s+".join(map(re2.escape, _fold(word.removesuffix("*")).split())), word) for word in sorted(words)]
    whole = "|".join(body for body, word in escaped if not word.endswith("*"))
    begun = "|".join(body for body, word in escaped if word.endswith("*"))
    parts = [rf"(?:{whole})(?:[^\pL\pN_]|$)"] if whole else []
    parts += [f"(?:{begun})"] if begun else []
    return rf"(?i)(?:^|[^\pL\pN_])(?:{'|'.join(parts)})"


def _fold(text: str) -> str:
    return text.replace("\u0451", "\u0435").replace("\u0401", "\u0415")
