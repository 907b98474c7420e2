"""`yb-eval attest` and `verify --attestation`: what is stated follows from the store, and nothing else passes."""

import base64
import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SUBJECT = "router.tar@sha256:" + "ab" * 32
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"


def attest(project, *arguments, **env):
    return json.loads(project("attest", *arguments, **env).stdout)


def verify(project, statement, code=0):
    project.write("statement.json", json.dumps(statement))
    return project("verify", "--attestation", "statement.json", code=code)


def test_a_run_becomes_a_statement_of_the_published_form(ran):
    made = attest(ran, "--subject", SUBJECT)
    assert made["_type"] == "https://in-toto.io/Statement/v1" and made["predicateType"] == PREDICATE
    assert made["subject"] == [{"name": "router.tar", "digest": {"sha256": "ab" * 32}}]
    result = made["predicate"]
    assert result["result"] == "PASSED" and result["warnedTests"] == result["failedTests"] == []
    assert result["passedTests"] == ["toy: errors <= 0", "toy: accuracy >= 0.9"]
    for described in result["configuration"]:
        assert described["name"] and set(described["digest"]) == {"sha256"}


def test_the_configuration_names_the_manifest_and_the_dataset_by_their_bytes(ran):
    import hashlib

    run, dataset = attest(ran, "--subject", SUBJECT)["predicate"]["configuration"]
    report = json.loads(ran("show", "--format", "json").stdout)
    manifest = ran("show", "--manifest").stdout.encode()
    assert run["digest"]["sha256"] == hashlib.sha256(manifest).hexdigest()
    assert run["annotations"] == {"plan_id": report["plan_id"], "run_id": report["run_id"]}
    rows = (ran.folder / "rows.jsonl").read_bytes()
    assert dataset["digest"]["sha256"] == hashlib.sha256(rows).hexdigest()


def test_a_failed_gate_is_a_failed_test_and_a_warning_a_warned_one(project, rows):
    project.rows(rows(20, wrong=1))
    project("run", "toy", "--gate", "warn: accuracy >= 1")
    result = attest(project, "--subject", SUBJECT)["predicate"]
    assert result["result"] == "WARNED" and len(result["warnedTests"]) == 1 and result["failedTests"] == []
    project.rows(rows(20, wrong=9))
    project("run", "toy", "--gate", "warn: accuracy >= 1", code=1)
    result = attest(project, "--subject", SUBJECT)["predicate"]
    assert result["result"] == "FAILED" and result["failedTests"] == ["toy: accuracy >= 0.9"]


def test_what_was_not_measured_has_failed(project):
    project.rows([{"text": "boom", "parity": "even"}])
    project("run", "toy", code=3)
    assert attest(project, "--subject", SUBJECT)["predicate"]["result"] == "FAILED"


def test_a_composed_run_names_each_suite(project):
    project.write("yb-eval.toml", '[suites.one]\nsuite = "toy"\n[suites.two]\nsuite = "toy"\nmin-accuracy = 0.5\n')
    project("run")
    made = attest(project, "--subject", SUBJECT)
    names = [described["name"] for described in made["predicate"]["configuration"]]
    assert names == ["run", "suite one", "suite two", "dataset one/rows/rows", "dataset two/rows/rows"]
    assert "two: accuracy >= 0.5" in made["predicate"]["passedTests"]
    assert "ok  result PASSED" in verify(project, made).stdout


def git(project, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=project.folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_without_a_subject_it_is_the_commit_if_that_is_what_was_tested(project, rows):
    project("run", "toy")
    assert "outside a git checkout" in project("attest", code=2).stderr
    git(project, "init", "-q")
    project.write(".gitignore", ".yb-eval\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "x")
    project("run", "toy")
    made = attest(project)
    assert made["subject"] == [{"digest": {"gitCommit": git(project, "rev-parse", "HEAD")}}]
    assert "subject gitCommit:" in verify(project, made).stdout
    project.rows(rows(21))
    project("run", "toy")
    assert "had changes" in project("attest", code=2).stderr


def test_in_a_ci_the_statement_says_where_the_job_is(project):
    ci = {"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://forge.invalid", "GITHUB_REPOSITORY": "acme/router"}
    project("run", "toy", **ci, GITHUB_RUN_ID="12")
    made = attest(project, "--subject", SUBJECT)
    assert made["predicate"]["url"] == "https://forge.invalid/acme/router/actions/runs/12"
    verify(project, made)
    made["predicate"]["url"] += "3"
    assert "url does not follow" in verify(project, made, code=3).stderr


def test_the_predicate_alone_is_for_signers_that_name_the_subject(ran):
    assert attest(ran, "--predicate") == attest(ran, "--subject", SUBJECT)["predicate"]


@pytest.mark.parametrize(
    "subject", ["x", "x@sha256:12", "@sha256:" + "a" * 64, "x@sha256:" + "A" * 64, "x@sha1:" + "a" * 40]
)
def test_a_subject_that_names_nothing_is_refused(ran, subject):
    assert "names no subject" in ran("attest", "--subject", subject, code=2).stderr


def test_a_statement_verifies_bare_in_an_envelope_and_in_a_bundle(ran):
    made = attest(ran, "--subject", SUBJECT)
    done = verify(ran, made)
    assert "ok  result PASSED" in done.stdout and f"subject router.tar sha256:{'ab' * 32}" in done.stdout
    assert "signed" not in done.stderr
    payload = base64.b64encode(json.dumps(made).encode()).decode()
    envelope = {"payloadType": "application/vnd.in-toto+json", "payload": payload, "signatures": [{"sig": "AA=="}]}
    assert "cosign" in verify(ran, envelope).stderr
    verify(ran, {"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": envelope})


def changed(statement, *path, value):
    copy = json.loads(json.dumps(statement))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copy


def test_whatever_does_not_follow_from_the_store_is_an_error(project, rows):
    project.rows(rows(20, wrong=9))
    project("run", "toy", code=1)
    made = attest(project, "--subject", SUBJECT)
    predicate = ("predicate",)
    for path, value in (
        ((*predicate, "result"), "PASSED"),
        ((*predicate, "failedTests"), []),
        ((*predicate, "passedTests"), ["toy: accuracy >= 0.9"]),
        ((*predicate, "warnedTests"), ["x"]),
        ((*predicate, "configuration", 0, "annotations", "run_id"), "0" * 64),
        ((*predicate, "configuration", 1, "digest", "sha256"), "0" * 64),
        ((*predicate, "configuration", 0, "digest", "sha256"), "0" * 64),
        ((*predicate, "configuration"), []),
        (("subject",), []),
        (("subject",), [{"name": "x"}]),
        (("subject",), [{"name": "x", "digest": {"sha256": "short"}}]),
        (("predicate",), None),
    ):
        done = verify(project, changed(made, *path, value=value), code=3)
        assert len(done.stderr.splitlines()) == 1, path
    verify(project, changed(made, "predicateType", value="https://slsa.dev/provenance/v1"), code=2)
    verify(project, changed(made, "_type", value="https://in-toto.io/Statement/v0.1"), code=2)
    verify(project, made)


def test_a_store_that_was_tampered_with_does_not_verify(ran):
    made = attest(ran, "--subject", SUBJECT)
    outcomes = json.loads(ran("show", "--format", "json").stdout)["suites"][0]["outcomes"]["sha256"]
    path = ran.folder / ".yb-eval" / "objects" / "sha256" / outcomes[:2] / outcomes[2:]
    path.write_bytes(path.read_bytes().replace(b"even", b"odd", 1))
    assert "do not match its name" in verify(ran, made, code=3).stderr
    assert "do not match its name" in ran("attest", "--subject", SUBJECT, code=3).stderr


def test_a_run_and_an_attestation_are_not_given_together(ran):
    assert "names the run itself" in ran("verify", "latest", "--attestation", "x.json", code=2).stderr
    assert "cannot be read" in ran("verify", "--attestation", "missing.json", code=2).stderr


KEYS = [
    "_type",
    "subject",
    "predicateType",
    "predicate",
    "configuration",
    "digest",
    "sha256",
    "payload",
    "dsseEnvelope",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(document=JSON, known=st.booleans())
def test_any_json_is_refused_in_words(document, known, tmp_path_factory):
    from yb_eval.errors import YbEvalError
    from yb_eval.record import Store
    from yb_eval.record.attestation import read_statement, verify_statement

    folder = tmp_path_factory.getbasetemp() / "any-json"
    folder.mkdir(exist_ok=True)
    if known and isinstance(document, dict):
        document |= {"_type": "https://in-toto.io/Statement/v1", "predicateType": PREDICATE}
    path = folder / "statement.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(YbEvalError):
        verify_statement(Store(folder / "store"), read_statement(path).statement)
