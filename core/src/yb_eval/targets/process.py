"""`exec:COMMAND ...`: a long-lived process that answers one JSON request a line with one JSON answer a line."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from yb_eval.digest import identify
from yb_eval.errors import UsageError
from yb_eval.interfaces import Answer, Concurrency
from yb_eval.targets.child import Child, ChildFailed
from yb_eval.targets.failures import clip, failed, quoted
from yb_eval.targets.fingerprints import file_digest
from yb_eval.targets.secrets import Masker, mask_command
from yb_eval.targets.settings import Settings
from yb_eval.targets.wire import NotJson, decode, encode, mismatch

Request = Mapping[str, Any]


class ExecTarget:
    """Up to `settings.jobs` processes of one command, each asked one request at a time.

    A process that ends, hangs or says anything but one JSON answer per request is ended and replaced: the request it
    had gets a failure that says what happened and how its stderr ends. After `settings.restarts` such ends in a row
    without one good answer between them, the command is given up and every further request fails at once. A process
    that leaves with exit code 0 between two requests has done nothing wrong: the request goes to its successor.
    """

    batch_size = 1
    concurrency: Concurrency = "threads"

    def __init__(self, command: Sequence[str], settings: Settings) -> None:
        """`command` is run in the folder `settings.base`, without a shell. Raises `UsageError` if there is no such
        command.
        """
        if os.name != "posix":
            raise UsageError("exec: needs a POSIX system", hint="serve the system over http and use http://...")
        program = _program(command[0], settings.base)
        shown = mask_command(command)
        self.spec = "exec:" + shlex.join(shown)
        portable = [_relative(argument, settings.base) for argument in shown]
        self.fingerprint = identify("target", {"exec": portable, "files": _files(command, program, settings.base)})
        self._command = [program, *command[1:]]
        self._settings = settings
        self._masker = Masker.from_environment()
        self._changed = threading.Condition()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._starting = 0
        self._failures = 0
        self._last_words = ""
        self._closed = False

    def ask(self, requests: Sequence[Request], *, repeat: int = 0) -> Sequence[Answer]:
        return [self._ask(request) for request in requests]

    def stderr(self) -> str:
        """The end of what the processes that still run wrote to stderr, without secrets."""
        with self._changed:
            return "".join(child.stderr() for child in [*self._idle, *self._busy])

    def close(self) -> None:
        """Ends all processes with their groups: idle ones may end by themselves first, busy ones are killed."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.kill()
            self._changed.notify_all()
        for child in idle:
            child.finish(self._settings.grace)
        with self._changed:
            # Whoever asks a killed child finds it ended, and frees it.
            self._changed.wait_for(lambda: not self._busy, self._settings.grace)

    def _ask(self, request: Request) -> Answer:
        started = perf_counter()
        try:
            answer, failure = self._exchange(encode(request) + b"\n", request), None
        except (ChildFailed, NotJson) as error:
            answer, failure = None, clip(str(error))
        return Answer(answer, failure, perf_counter() - started)

    def _exchange(self, line: bytes, request: Request) -> Any:
        while True:
            child = self._borrow()
            used = child.answered > 0
            in_step = False
            try:
                answer = self._read(child.ask(line, self._settings.timeout), request)
                in_step = True
                return answer
            except NotJson:
                in_step = True
                raise
            except OSError as error:
                self._count(failed(error))
                raise ChildFailed(f"the process cannot be asked: {failed(error)}") from error
            except ChildFailed as error:
                if not (error.left and used):
                    self._count(str(error))
                    raise
            finally:
                self._give_back(child, in_step)

    def _read(self, raw: bytes, request: Request) -> Any:
        """The answer in a line. Raises `NotJson` if it is a bad one, `ChildFailed` if the line is hardly an answer:
        then a print got in between, and the next line would be taken for the answer to the next request.
        """
        try:
            answer = decode(raw)
        except NotJson as error:
            told = f"the answer is {error}: {quoted(raw, self._masker)}"
            try:
                json.loads(raw)
            except (ValueError, RecursionError):
                raise ChildFailed(told) from None
            raise NotJson(told) from None
        if wrong := mismatch(request, answer):
            raise ChildFailed(wrong)
        return self._masker.mask_value(answer)

    def _borrow(self) -> Child:
        """An idle process or a new one, for as long as the caller asks it."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._idle or self._running() < self._settings.jobs)
            self._refuse()
            if self._idle:
                child = self._idle.pop()
                self._busy.add(child)
                return child
            self._starting += 1
        started: Child | None = None
        try:
            started = Child(
                self._command,
                folder=self._settings.base,
                answer_limit=self._settings.answer_limit,
                masker=self._masker,
            )
            return started
        except OSError as error:
            self._count(failed(error))
            raise ChildFailed(f"the process cannot be started: {failed(error)}") from error
        finally:
            with self._changed:
                self._starting -= 1
                if started is not None:
                    self._busy.add(started)
                    if self._closed:
                        started.kill()
                self._changed.notify_all()

    def _running(self) -> int:
        return len(self._idle) + len(self._busy) + self._starting

    def _refuse(self) -> None:
        if self._closed:
            raise ChildFailed("the target was closed")
        if self._failures > self._settings.restarts:
            raise ChildFailed(
                f"given up: {self._failures} processes in a row ended without a good answer, the last one: "
                f"{self._last_words}"
            )

    def _count(self, last_words: str) -> None:
        with self._changed:
            self._failures += 1
            self._last_words = last_words

    def _give_back(self, child: Child, in_step: bool) -> None:
        if not in_step:
            child.finish()
        with self._changed:
            self._busy.discard(child)
            if in_step:
                self._failures = 0
                self._idle.append(child)
            self._changed.notify_all()
            orphans, self._idle = (self._idle, []) if self._closed else ([], self._idle)
        for orphan in orphans:
            orphan.finish()


def open_exec(spec: str, settings: Settings) -> ExecTarget:
    """The target that `spec` (`exec:COMMAND ...`, split as a shell would, run without one) names."""
    try:
        command = shlex.split(spec.removeprefix("exec:"))
    except ValueError as error:
        raise UsageError(f"the command cannot be split: {error}", where="exec", hint="check its quotes") from None
    if not command:
        raise UsageError("exec: names no command", hint="exec:python my_bot.py")
    return ExecTarget(command, settings)


def _program(name: str, base: Path) -> str:
    """The path of the command. One with a slash is taken from `base`, another is looked up in PATH."""
    # Absolute, for `./bot` in the folder `.` would lose its slash and be looked up in PATH.
    found = shutil.which(str(base.absolute() / name) if "/" in name else name)
    if found is None:
        local = base / name
        if local.is_file() and "/" in name:
            raise UsageError(f"{name!r} is not executable", where="exec", hint=f"chmod +x {name}")
        looked = "looked in the working folder" if "/" in name else "looked in PATH"
        hint = f"./{name}, for the file in the working folder" if local.is_file() else looked
        raise UsageError(f"there is no command {name!r}", where="exec", hint=hint)
    return found


def _files(command: Sequence[str], program: str, base: Path) -> list[list[str]]:
    """The arguments that are files, by their place in the command, with the sha256 of what they hold. The program is
    among them if it lies in the working folder: what is installed on a machine is not part of the system under test's
    name.
    """
    found = []
    if Path(program).resolve().is_relative_to(base.resolve()):
        found.append(["0", file_digest(Path(program))])
    for place, argument in enumerate(command[1:], 1):
        for name in (argument, argument.partition("=")[2]):
            if name and _is_file(base / name):
                found.append([str(place), file_digest(base / name)])
                break
    return found


def _relative(argument: str, base: Path) -> str:
    """An absolute path into the working folder as seen from there: the folder's own place is the machine's business."""
    path = Path(argument)
    inside = path.is_absolute() and path.is_relative_to(base.absolute())
    return path.relative_to(base.absolute()).as_posix() if inside else argument


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL: an argument, not a file
        return False
