"""The reference triagers as targets: `builtin`, which learns from the task's rows, and `rules`, which reads a file."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from yb_eval import UsageError
from yb_eval.digest import identify
from yb_eval.targets import CallableTarget
from yb_eval_triage.task import Answer, Task, TaskError
from yb_eval_triage.triagers.builtin import BuiltinTriager, builtin_key
from yb_eval_triage.triagers.code import BUILTIN, RULES, source_digest
from yb_eval_triage.triagers.rules import RulesTriager, shipped_rules

_BATCH = 2_000


class Triager(Protocol):
    def answer(self, texts: Sequence[str], metas: Sequence[Mapping[str, object]] | None = None) -> list[Answer]: ...


class References:
    """Answers requests of several tasks, each by the triager of its task, which is made when first asked."""

    def __init__(self, make: Mapping[str, Callable[[], Triager]]) -> None:
        self._make = make
        self._made: dict[str, Triager] = {}
        self._lock = threading.Lock()

    def __call__(self, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = [{}] * len(requests)
        for task in dict.fromkeys(request["task"] for request in requests):
            places = [place for place, request in enumerate(requests) if request["task"] == task]
            texts = [requests[place]["text"] for place in places]
            metas = [requests[place]["meta"] for place in places]
            for place, answer in zip(places, self.triager(task).answer(texts, metas), strict=True):
                answers[place] = answer.as_dict()
        return answers

    def facts(self, task: str) -> Mapping[str, Any] | None:
        """What the training of the task's model measured and how it chose its operating point, if it was asked."""
        made = self._made.get(task)
        return made.model.facts if isinstance(made, BuiltinTriager) else None

    def unkept(self, task: str) -> str | None:
        """Why the model that was trained for the task could not be kept for the next run, if so."""
        made = self._made.get(task)
        return made.unkept if isinstance(made, BuiltinTriager) else None

    def triager(self, task: str) -> Triager:
        # Held while it is made: two threads must not train the same model twice.
        with self._lock:
            if task not in self._made:
                self._made[task] = self._make[task]()
            return self._made[task]


def builtin_target(tasks: Sequence[Task], cache: Path | None) -> tuple[CallableTarget, References]:
    """The built-in triager of each task, identified by what its model is made of: that is known before it is trained.

    A fitted model is kept in the folder `cache`, so that the next run does not train. Beside the target, what it asks:
    for the facts of the models. Raises `UsageError` for a task that has no rows to train on.
    """
    try:
        keys = {task.name: builtin_key(task) for task in tasks}
    except TaskError as error:
        raise UsageError(error.message, hint="the built-in triager needs training rows; or name a --target") from error

    def make(task: Task) -> Callable[[], Triager]:
        return lambda: BuiltinTriager.prepare(task, cache=cache)

    call = References({task.name: make(task) for task in tasks})
    fingerprint = identify("triager", {"builtin": keys, "code": source_digest(BUILTIN)})
    return CallableTarget(call, fingerprint=fingerprint, batch=True, batch_size=_BATCH), call


def rules_target(tasks: Sequence[Task], file: str | None) -> CallableTarget:
    """The rule triager of each task: its shipped rules, or those in `file` (then there is one task)."""
    if file is not None and len(tasks) > 1:
        raise UsageError("a rule file is for one task", hint="--task NAME")
    try:
        made = {task.name: _rules(task, file) for task in tasks}
    except TaskError as error:
        raise UsageError(error.message, hint="--task ops, or --target rules:FILE") from error
    identity = {task: digest for task, (_, digest) in made.items()}
    fingerprint = identify("triager", {"rules": identity, "code": source_digest(RULES)})

    def give(triager: RulesTriager) -> Callable[[], Triager]:
        return lambda: triager

    call = References({task: give(triager) for task, (triager, _) in made.items()})
    spec = "rules" if file is None else f"rules:{file}"
    return CallableTarget(call, fingerprint=fingerprint, spec=spec, batch=True, batch_size=_BATCH)


def _rules(task: Task, file: str | None) -> tuple[RulesTriager, str]:
    if file is None:
        data, where = shipped_rules(task), f"rules/{task.rules}.toml"
    else:
        try:
            data, where = Path(file).read_bytes(), file
        except OSError as fault:
            raise TaskError(f"{file}: cannot be read ({fault.strerror})") from fault
    return RulesTriager.parse(data, task=task, where=where), hashlib.sha256(data).hexdigest()
