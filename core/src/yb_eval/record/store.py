"""The store: `.yb-eval/objects/sha256/ab/cdef...` for manifests and outcome logs, `.yb-eval/refs/` for names.

Objects are immutable, named by the sha256 of their bytes and verified when read. A ref is a file that holds an
object's name: `refs/latest`, and `refs/runs/RUN_ID/...`, one for each time that run was made. Names hold no colon,
and nothing is a symlink, so that a store can be copied anywhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import orjson
from attrs import frozen

from yb_eval.digest import HEX_ID, sha256_hex
from yb_eval.errors import StoreError, UsageError, shorten
from yb_eval.gates.verdicts import worst
from yb_eval.record.files import atomic, cannot_write, sync_folder
from yb_eval.record.manifest import COMPOSED_SCHEMA, SUITE_SCHEMA, composed_ids, verify_manifest

_CHUNK = 1 << 20
#: What `refs/latest` holds after a run without a whole record.
_NO_RECORD = "none"


@frozen(slots=True)
class StoredRun:
    """A run as the store has it: the name of its manifest object, and the manifest."""

    sha256: str
    manifest: Mapping[str, Any]

    @property
    def composed(self) -> bool:
        return bool(self.manifest.get("schema") == COMPOSED_SCHEMA)

    @property
    def run_id(self) -> str:
        return str(self.manifest["run_id"])


def _refs(folder: Path) -> list[Path]:
    """The refs of one run, one for each time it was made. What is no ref (a hidden file, half-written or not) is left
    out."""
    return [path for path in folder.iterdir() if not path.name.startswith(".")] if folder.is_dir() else []


@frozen(slots=True)
class Store:
    """The store in the folder `root`, which is made when something is first written."""

    root: Path

    def object_path(self, sha256: str) -> Path:
        # What a manifest names as an object must not become a path to somewhere else.
        if not HEX_ID.match(str(sha256)):
            raise StoreError(f"{shorten(sha256)} is no object's name", where=str(self.root))
        return self.root / "objects" / "sha256" / sha256[:2] / sha256[2:]

    def put(self, data: bytes) -> str:
        """Keeps `data` and returns its name."""
        name = sha256_hex(data)
        path = self.object_path(name)
        if not path.exists():
            with atomic(path) as file:
                file.write(data)
        return name

    def adopt(self, path: Path, sha256: str) -> None:
        """Moves a finished file, whose digest is known, into the objects."""
        target = self.object_path(sha256)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
        except OSError as error:
            raise cannot_write(target, error) from error
        sync_folder(target.parent)

    def get(self, sha256: str) -> bytes:
        """The bytes of an object. Raises `StoreError` if it is missing or not what its name says."""
        with self.open(sha256) as file:
            data = file.read()
        if sha256_hex(data) != sha256:
            raise StoreError("the object's bytes do not match its name", where=str(self.object_path(sha256)))
        return data

    @contextmanager
    def open(self, sha256: str) -> Iterator[IO[bytes]]:
        """An object as a file, unverified: `check` it first where it must be believed."""
        path = self.object_path(sha256)
        try:
            file = path.open("rb")
        except OSError as error:
            raise StoreError(f"an object cannot be read: {error.strerror}", where=str(path)) from error
        with file:
            yield file

    def check(self, sha256: str) -> int:
        """Recomputes an object's digest and returns its size in bytes. Raises `StoreError` if it does not match."""
        digest, size = hashlib.sha256(), 0
        with self.open(sha256) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
        if digest.hexdigest() != sha256:
            raise StoreError("the object's bytes do not match its name", where=str(self.object_path(sha256)))
        return size

    def record(self, manifest: Mapping[str, Any]) -> str:
        """Keeps a manifest and the ref of its run; returns the object's name."""
        name = self.put(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        started = "".join(c for c in str(manifest["envelope"].get("started", "")) if c.isalnum())
        self._point(self.root / "refs" / "runs" / str(manifest["run_id"]) / f"{started}-{name[:12]}", name)
        return name

    def other_outcomes(self, plan_id: str, sha256: str) -> str | None:
        """The outcome log that this plan gave before, if it was another one. The first is remembered."""
        path = self.root / "refs" / "plans" / plan_id
        with suppress(OSError):
            earlier = path.read_text(encoding="ascii").strip()
            return None if earlier == sha256 else earlier
        self._point(path, sha256)
        return None

    def latest(self, name: str | None) -> None:
        """Makes `latest` mean the manifest object called `name`; `None`: the last run left no whole record."""
        self._point(self.root / "refs" / "latest", name or _NO_RECORD)

    def probe(self) -> None:
        """Raises `StoreError` if nothing can be written here: better before a run than after it."""
        try:
            with atomic(self.root / "refs" / ".probe") as file:
                file.write(b"")
        except StoreError as error:
            raise StoreError(error.what, where=str(self.root), hint="--store PATH names another folder") from error
        with suppress(OSError):
            (self.root / "refs" / ".probe").unlink()

    def _point(self, path: Path, name: str) -> None:
        with atomic(path) as file:
            file.write(name.encode("ascii") + b"\n")

    def find(self, text: str) -> StoredRun:
        """The run that `text` names: `latest`, or at least four characters of a run id.

        Raises `UsageError` if there is none or more than one, `StoreError` if what is found does not verify.
        """
        if text == "latest":
            path = self.root / "refs" / "latest"
            if not path.is_file():
                raise UsageError("nothing has been run yet", where=str(self.root), hint="yb-eval run SUITE")
            if path.read_bytes().strip() == _NO_RECORD.encode():
                raise UsageError("the last run did not come to its end, and left no record", where=str(self.root))
            return self._read(path)
        if len(text) < 4 or not HEX_ID.match(text.ljust(64, "0")):
            raise UsageError(f"{shorten(text)} is not a run", hint="'latest', or at least 4 characters of a run id")
        folder = self.root / "refs" / "runs"
        if len(text) == 64:
            known = [text] if (folder / text).is_dir() else []
        else:
            known = sorted(path.name for path in folder.glob(f"{text}*")) if folder.is_dir() else []
        # A run whose refs were removed by hand is forgotten, though its folder be there.
        made = {name: refs for name in known if (refs := _refs(folder / name))}
        if not made:
            raise UsageError(f"no run {text} in {self.root}", hint="see: yb-eval history SUITE")
        if len(made) > 1:
            raise UsageError(f"{text} names {len(made)} runs", hint=", ".join(name[:12] for name in list(made)[:4]))
        (refs,) = made.values()
        return self._read(max(refs, key=lambda path: path.name))

    def _read(self, ref: Path) -> StoredRun:
        try:
            name = ref.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError("a ref cannot be read", where=str(ref)) from error
        if not HEX_ID.match(name):
            raise StoreError("a ref does not hold an object's name", where=str(ref))
        try:
            manifest = orjson.loads(self.get(name))
        except orjson.JSONDecodeError as error:
            raise StoreError("a manifest is not JSON", where=str(self.object_path(name))) from error
        if not isinstance(manifest, dict) or manifest.get("schema") not in (SUITE_SCHEMA, COMPOSED_SCHEMA):
            raise StoreError("not a manifest that this version reads", where=str(self.object_path(name)))
        return StoredRun(name, manifest)

    def runs(self, unreadable: Callable[[StoreError], object] | None = None) -> Iterator[StoredRun]:
        """Every stored run, oldest first; a run made several times is there several times.

        A run that cannot be read, or does not verify, is told to `unreadable` and left out; without it, it is raised.
        """
        folder = self.root / "refs" / "runs"
        refs = [ref for run in folder.iterdir() for ref in _refs(run)] if folder.is_dir() else []
        for ref in sorted(refs, key=lambda path: (path.name, path.parent.name)):
            try:
                run = self._read(ref)
            except StoreError as error:
                both = str(ref) if error.where == str(ref) else f"it and {ref}"
                hint = f"restore it from a copy, or delete {both} to forget that run"
                told = StoreError(error.what, where=error.where, hint=hint)
                if unreadable is None:
                    raise told from error
                unreadable(told)
            else:
                yield run

    def children(self, run: StoredRun) -> list[StoredRun]:
        """The suites' runs of a composed run, in its order; of any other run, the run itself."""
        if not run.composed:
            return [run]
        return [StoredRun(c["manifest"], orjson.loads(self.get(c["manifest"]))) for c in run.manifest["children"]]

    def verify(self, run: StoredRun) -> list[str]:
        """Recomputes every digest of a run, offline, and returns what was checked, a line each.

        Raises `StoreError` for the first that does not hold.
        """
        checked = [f"manifest {run.sha256}"]
        self.get(run.sha256)
        if run.composed:
            children = self.children(run)
            for child in children:
                checked += self.verify(child)
            claimed = run.manifest["plan_id"], run.manifest["run_id"]
            if composed_ids(run.manifest["children"]) != claimed:
                raise StoreError(f"the ids of the composed run {run.run_id} do not follow from its children's")
            if run.manifest["verdict"] != worst(child.manifest["report"]["verdict"] for child in children):
                raise StoreError(f"the verdict of the composed run {run.run_id} does not follow from its children's")
            for entry, child in zip(run.manifest["children"], children, strict=True):
                if entry["run_id"] != child.run_id:
                    raise StoreError(f"the composed run {run.run_id} lists another run than the one it holds")
        else:
            verify_manifest(run.manifest)
            if run.manifest["report"]["run_id"] != run.run_id:
                raise StoreError(f"the manifest of {run.run_id} reports another run")
            outcomes = run.manifest["report"]["outcomes"]
            if self.check(outcomes["sha256"]) != outcomes["size"]:
                raise StoreError(f"the outcome log of {run.run_id} has another size than the manifest says")
            checked += [f"outcomes {outcomes['sha256']}", f"plan_id {run.manifest['plan_id']}"]
        return [*checked, f"run_id {run.run_id}"]

    def verify_all(self) -> list[str]:
        """Verifies every object and every run of the store."""
        checked = []
        objects = self.root / "objects" / "sha256"
        for path in sorted(objects.glob("??/*")) if objects.is_dir() else []:
            name = path.parent.name + path.name
            if HEX_ID.match(name):  # what a killed run left under a temporary name is no object
                self.check(name)
                checked.append(f"object {name}")
        for run in self.runs():
            checked += self.verify(run)
        return checked
