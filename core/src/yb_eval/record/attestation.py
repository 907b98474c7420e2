"""A run as an in-toto attestation: Statement v1 with the predicate type test-result v0.1.

Written after in-toto/attestation, spec/v1/statement.md, resource_descriptor.md and spec/predicates/test-result.md. The
tests are the gates. `PASSED` is a run all of whose gates passed, `WARNED` one that passed with warnings, `FAILED` any
other: what was not measured has not passed. `configuration` names the manifest of the run, which holds the plan; then
those of its suites and the dataset files. All of it follows from the store, so `verify_statement` can make it again.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from attrs import frozen

from yb_eval.digest import HEX_ID
from yb_eval.errors import StoreError, UsageError, shorten
from yb_eval.record.manifest import COMPOSED_SCHEMA, SUITE_SCHEMA
from yb_eval.record.store import Store, StoredRun

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
MEDIA_TYPE = "application/vnd.yb-eval.manifest+json"

#: The payload type of a statement in a DSSE envelope (in-toto/attestation, spec/v1/envelope.md).
PAYLOAD_TYPE = "application/vnd.in-toto+json"

_SIZE_LIMIT = 16 * 2**20
_SUBJECT = re.compile(r"(?P<name>[^\x00-\x1f\x7f]{1,1000})@sha256:(?P<digest>[0-9a-f]{64})\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?\Z")


@frozen(slots=True)
class ReadStatement:
    """A statement from a file. `signed`: it came in an envelope with signatures, which nobody has checked here."""

    statement: Mapping[str, Any]
    signed: bool


def statement(store: Store, run: StoredRun, subjects: Sequence[str] = ()) -> dict[str, Any]:
    """The statement on `subjects` (each `NAME@sha256:HEX`), by default on the commit that was checked out.

    Raises `UsageError` if there is nothing that could be named as tested."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [_subject(text) for text in subjects] or [_commit(run)],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate(store, run),
    }


def predicate(store: Store, run: StoredRun) -> dict[str, Any]:
    """The test result of a run. Tests are called `SUITE: GATE`."""
    children = store.children(run)
    passed: list[str] = []
    warned: list[str] = []
    failed: list[str] = []
    for child in children:
        report = child.manifest["report"]
        for gate in report["gates"]:
            blocking = gate["severity"] == "block"
            kept = passed if gate["verdict"] == "pass" else failed if blocking else warned
            kept.append(f"{report['name']}: {gate['gate']}")
        if report["verdict"] != "pass" and not failed:
            failed.append(f"{report['name']}: verdict")
    result: dict[str, Any] = {
        "result": "FAILED" if failed else "WARNED" if warned else "PASSED",
        "configuration": _configuration(run, children),
        "passedTests": passed,
        "warnedTests": warned,
        "failedTests": failed,
    }
    url = _url(run.manifest["envelope"].get("ci") or {})
    return {**result, "url": url} if url else result


def _configuration(run: StoredRun, children: Sequence[StoredRun]) -> list[dict[str, Any]]:
    described = [_manifest("run", run)]
    described += [_manifest(f"suite {child.manifest['report']['name']}", child) for child in children if run.composed]
    for child in children:
        report = child.manifest["report"]
        for dataset in report["datasets"]:
            described += [
                {
                    "name": f"dataset {report['name']}/{dataset['id']}/{file['role']}",
                    "digest": {"sha256": file["sha256"]},
                    "annotations": {"revision_id": dataset["revision_id"], "count": dataset["count"]},
                }
                for file in dataset["files"]
            ]
    return described


def _manifest(name: str, run: StoredRun) -> dict[str, Any]:
    ids = {"plan_id": run.manifest["plan_id"], "run_id": run.run_id}
    return {"name": name, "digest": {"sha256": run.sha256}, "mediaType": MEDIA_TYPE, "annotations": ids}


def _subject(text: str) -> dict[str, Any]:
    found = _SUBJECT.match(text)
    if found is None:
        raise UsageError(f"{shorten(text)} names no subject", where="--subject", hint="NAME@sha256:64 hex digits")
    return {"name": found["name"], "digest": {"sha256": found["digest"]}}


def _commit(run: StoredRun) -> dict[str, Any]:
    git = run.manifest["envelope"].get("git")
    hint = "say what was tested: --subject NAME@sha256:HEX"
    if not git:
        raise UsageError("the run was made outside a git checkout, so it names nothing that was tested", hint=hint)
    if git["dirty"]:
        raise UsageError("the checkout had changes: its commit is not what was tested", hint=hint)
    return {"digest": {"gitCommit": git["commit"]}}


def _url(ci: Mapping[str, str]) -> str | None:
    """Where the CI shows the job that made the run."""
    if {"GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"} <= ci.keys():
        return f"{ci['GITHUB_SERVER_URL']}/{ci['GITHUB_REPOSITORY']}/actions/runs/{ci['GITHUB_RUN_ID']}"
    if {"CI_PROJECT_URL", "CI_JOB_ID"} <= ci.keys():
        return f"{ci['CI_PROJECT_URL']}/-/jobs/{ci['CI_JOB_ID']}"
    return None


def read_statement(path: Path) -> ReadStatement:
    """A statement from a file: bare, in a DSSE envelope, or in a Sigstore bundle. Raises `UsageError` for what is
    none of these."""
    try:
        data = path.read_bytes() if path.stat().st_size <= _SIZE_LIMIT else b""
        document = orjson.loads(data)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except orjson.JSONDecodeError as error:
        raise UsageError(f"not JSON: {error}", where=str(path)) from error
    signed = False
    if isinstance(document, dict) and isinstance(document.get("dsseEnvelope"), dict):
        document = document["dsseEnvelope"]
    if isinstance(document, dict) and "payload" in document:
        signed = bool(document.get("signatures"))
        document = _payload(document, str(path))
    if not isinstance(document, dict) or document.get("_type") != STATEMENT_TYPE:
        raise UsageError(f"not a statement: its _type is not {STATEMENT_TYPE}", where=str(path))
    return ReadStatement(document, signed)


def _payload(envelope: Mapping[str, Any], where: str) -> Any:
    if envelope.get("payloadType") != PAYLOAD_TYPE:
        raise UsageError(
            f"the envelope holds no in-toto statement: {shorten(envelope.get('payloadType'))}", where=where
        )
    try:
        # DSSE lets the payload be either kind of base64.
        text = str(envelope["payload"]).replace("-", "+").replace("_", "/")
        return orjson.loads(base64.b64decode(text, validate=True))
    except (binascii.Error, orjson.JSONDecodeError, ValueError) as error:
        raise UsageError(f"the envelope's payload cannot be read: {error}", where=where) from error


def verify_statement(store: Store, stated: Mapping[str, Any]) -> list[str]:
    """Checks a statement against the run it is of, and that run itself; returns what was checked, a line each.

    Raises `StoreError` for the first thing that does not hold, `UsageError` for a statement of another kind."""
    if stated.get("predicateType") != PREDICATE_TYPE:
        raise UsageError(f"the predicate is not a test result: {shorten(stated.get('predicateType'))}")
    subjects = [_named(entry) for entry in _list(stated.get("subject"), "subject")]
    if not subjects:
        raise StoreError("the statement has no subject")
    claimed = stated.get("predicate")
    if not isinstance(claimed, dict):
        raise StoreError("the statement has no predicate")
    run = _stored(store, _manifest_of(claimed))
    checked = store.verify(run)
    for key, value in predicate(store, run).items():
        if claimed.get(key) != value:
            said = shorten(claimed.get(key))
            raise StoreError(
                f"the statement's {key} does not follow from the run: it says {said}, the run {shorten(value)}"
            )
    if "url" in claimed and claimed["url"] != _url(run.manifest["envelope"].get("ci") or {}):
        raise StoreError("the statement's url does not follow from the run")
    return [*checked, f"result {claimed['result']}", *(f"subject {subject}" for subject in subjects)]


def _manifest_of(claimed: Mapping[str, Any]) -> str:
    """The sha256 of the run's manifest: the first descriptor of the configuration."""
    configuration = _list(claimed.get("configuration"), "configuration")
    first = configuration[0] if configuration else None
    digest = first.get("digest") if isinstance(first, dict) and first.get("mediaType") == MEDIA_TYPE else None
    sha256 = digest.get("sha256") if isinstance(digest, dict) else None
    if not isinstance(sha256, str) or not HEX_ID.match(sha256):
        raise StoreError("the statement's configuration does not begin with a run's manifest")
    return sha256


def _stored(store: Store, sha256: str) -> StoredRun:
    try:
        manifest = orjson.loads(store.get(sha256))
    except orjson.JSONDecodeError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("schema") not in (SUITE_SCHEMA, COMPOSED_SCHEMA):
        raise StoreError("what the statement is of is no manifest", where=sha256)
    return StoredRun(sha256, manifest)


def _named(entry: Any) -> str:
    digest = entry.get("digest") if isinstance(entry, dict) else None
    if not isinstance(digest, dict) or not digest:
        raise StoreError("a subject of the statement has no digest")
    for algorithm, value in digest.items():
        expected = {"sha256": HEX_ID, "gitCommit": _COMMIT}.get(algorithm)
        if not isinstance(value, str) or (expected is not None and not expected.match(value)):
            raise StoreError(f"a subject's {shorten(algorithm)} is no digest: {shorten(value)}")
    name = entry.get("name")
    listed = ", ".join(f"{algorithm}:{value}" for algorithm, value in sorted(digest.items()))
    return f"{name} {listed}" if isinstance(name, str) else listed


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise StoreError(f"the statement's {what} is no list")
    return value
