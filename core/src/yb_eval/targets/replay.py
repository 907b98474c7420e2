"""`replay:FILE`: answers recorded earlier with `--record FILE`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from yb_eval.digest import identify, sha256_hex
from yb_eval.errors import UsageError
from yb_eval.interfaces import Answer, Concurrency
from yb_eval.targets import cassette
from yb_eval.targets.cassette import Key
from yb_eval.targets.failures import clip, quoted
from yb_eval.targets.secrets import Masker
from yb_eval.targets.settings import MEBIBYTE, Settings
from yb_eval.targets.wire import NotJson, encode

LARGEST = 1024 * MEBIBYTE


class ReplayTarget:
    """Answers from a cassette; a request that is not in it is a failure.

    The file is read once and whole (at most 1 GiB), so that the bytes that answer are the bytes of the fingerprint:
    the id of the file's sha256, whatever its name. A replay is therefore another target than the one that was
    recorded.
    """

    batch_size = 256
    concurrency: Concurrency = "serial"

    def __init__(self, path: Path, *, spec: str, private: frozenset[str] = frozenset()) -> None:
        """Raises `UsageError`, with file and line, for a line that is no entry and for two entries that contradict
        each other.
        """
        self.spec = spec
        self._name = path.name
        self._private = private
        self._masker = Masker.from_environment()
        self._data = _read(path)
        self.fingerprint = identify("target", {"replay": sha256_hex(self._data)})
        self._places: dict[bytes, tuple[int, int]] = {}
        numbers: dict[bytes, int] = {}
        for number, start, end in cassette.spans(self._data):
            key, answer = cassette.read_line(self._data[start:end], f"{path}:{number}")
            earlier = self._places.setdefault(key.digest, (start, end))
            first = numbers.setdefault(key.digest, number)
            if first != number and self._answer(earlier) != answer:
                told = f"it answers the request of line {first} otherwise"
                raise UsageError(told, where=f"{path}:{number}", hint="keep one of the two")
        if not self._places:
            raise UsageError("nothing is recorded in it", where=str(path), hint="--record FILE writes one")

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        return [self._find(request, repeat) for request in requests]

    def close(self) -> None:
        """Nothing is held but memory."""

    def _find(self, request: Mapping[str, Any], repeat: int) -> Answer:
        try:
            encode(request)
        except NotJson as error:
            return Answer(failure=str(error))
        asked = cassette.shown(self._masker.mask_value(request), self._private)
        place = self._places.get(Key.of(asked, repeat).digest)
        if place is not None:
            return self._answer(place)
        nth = f" (repeat {repeat})" if repeat else ""
        return Answer(failure=clip(f"not recorded in {self._name}{nth}: {quoted(encode(asked), self._masker)}"))

    def _answer(self, place: tuple[int, int]) -> Answer:
        return cassette.read_line(self._data[slice(*place)], self._name)[1]


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"the recording is larger than {LARGEST // MEBIBYTE} MiB", where=str(path))
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"the recording cannot be read: {error.strerror}", where=str(path)) from error


def open_replay(spec: str, settings: Settings) -> ReplayTarget:
    """The cassette that `spec` (`replay:FILE`) names, from the folder `settings.base`."""
    name = spec.removeprefix("replay:")
    if not name:
        raise UsageError("replay: names no file", hint="replay:FILE, written with --record FILE")
    return ReplayTarget(settings.base / name, spec=spec, private=settings.private)
