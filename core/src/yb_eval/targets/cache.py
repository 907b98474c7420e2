"""`--cache`: answers that were given once are not asked for again."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
from attrs import evolve

from yb_eval.digest import content_key, sha256_hex
from yb_eval.interfaces import Answer, Concurrency, Target
from yb_eval.targets.secrets import Masker
from yb_eval.targets.wire import NotJson, decode, encode


class CachedTarget:
    """A target whose answers are kept in a folder.

    An answer's key is the target's fingerprint, the request and the repeat, so that neither another target nor
    another repeat ever sees it. An entry's file is named by the xxh3-128 of the key and holds the sha256 of the key
    and of the answer, both compared when it is read: what does not match is a miss and is written anew. Failures are
    never kept. Secrets of the environment are masked in what is kept, and the masked answer is the one that is
    judged, the first time as later.

    `hits` and `misses` count requests. An entry that cannot be written costs a later run its hit and nothing else;
    `unwritten` counts these.
    """

    def __init__(self, target: Target, folder: Path) -> None:
        self.spec = target.spec
        self.fingerprint = target.fingerprint
        self.batch_size = target.batch_size
        # The counts are this process's.
        self.concurrency: Concurrency = "threads" if target.concurrency == "processes" else target.concurrency
        self.hits = self.misses = self.unwritten = 0
        self._target = target
        self._folder = folder
        self._masker = Masker.from_environment()
        self._lock = threading.Lock()

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        keys = [self._key(request, repeat) for request in requests]
        answers = [None if key is None else self._read(key) for key in keys]
        missing = [index for index, answer in enumerate(answers) if answer is None]
        with self._lock:
            self.hits += len(requests) - len(missing)
            self.misses += len(missing)
        if missing:
            asked = self._target.ask([requests[index] for index in missing], repeat=repeat)
            for index, answer in zip(missing, asked, strict=True):
                answers[index] = self._keep(keys[index], answer)
        return [answer for answer in answers if answer is not None]

    def close(self) -> None:
        self._target.close()

    def _key(self, request: Mapping[str, Any], repeat: int) -> bytes | None:
        try:
            return b"%s\0%d\0%s" % (self.fingerprint.encode("ascii"), repeat, encode(request))
        except NotJson:  # whoever is asked says so
            return None

    def _path(self, key: bytes) -> Path:
        name = content_key(key)
        return self._folder / name[:2] / f"{name[2:]}.json"

    def _read(self, key: bytes) -> Answer | None:
        try:
            entry = decode(self._path(key).read_bytes())
            answer = entry["answer"]
            kept = entry["key_sha256"] == sha256_hex(key) and entry["answer_sha256"] == _digest(answer)
        except (OSError, NotJson, KeyError, TypeError):
            return None
        return Answer(answer, cached=True) if kept else None

    def _keep(self, key: bytes | None, answer: Answer) -> Answer:
        if key is None or answer.failure is not None:
            return answer
        value = self._masker.mask_value(answer.value)
        entry = {"answer": value, "answer_sha256": _digest(value), "key_sha256": sha256_hex(key)}
        try:
            _write(self._path(key), orjson.dumps(entry))
        except OSError:
            with self._lock:
                self.unwritten += 1
        return answer if value is answer.value else evolve(answer, value=value)


def _digest(answer: Any) -> str:
    return sha256_hex(orjson.dumps(answer))


def _write(path: Path, data: bytes) -> None:
    """Puts a whole file in place or none. Not fsynced: an entry that a power cut spoils does not match its digest,
    and is a miss.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
