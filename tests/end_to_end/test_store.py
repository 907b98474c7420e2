"""What a run leaves behind can be shown, listed, compared and verified; damage is noticed."""

import json

import pytest


@pytest.fixture
def run(project, parity_rows):
    project.rows(parity_rows(12, wrong=1))
    return project.report("toy")


def test_show_prints_the_report_as_it_was(project, run):
    shown = json.loads(project("show", "latest", "--format", "json").stdout)
    assert shown["run_id"] == run["run_id"] and shown["suites"] == run["suites"]
    assert run["run_id"] in project("show", run["run_id"][:8]).stdout
    manifest = json.loads(project("show", "--manifest").stdout)
    assert manifest["plan"]["suite"] == "toy"


def test_history_lists_runs_newest_first(project, run):
    project.report("toy", "--note", "b")
    lines = project("history", "toy", "--measure", "accuracy").stdout.splitlines()
    assert len(lines) == 2 and lines[1].startswith(run["run_id"][:12]) and "accuracy=0.9167" in lines[0]


@pytest.fixture
def damaged(project, run):
    """Two runs of which the older one's manifest is damaged: its object, and its ref."""
    newer = project.report("toy", "--note", "b")
    (ref,) = (project.folder / ".yb-eval" / "refs" / "runs" / run["run_id"]).iterdir()
    name = ref.read_text().strip()
    path = project.folder / ".yb-eval" / "objects" / "sha256" / name[:2] / name[2:]
    path.write_bytes(path.read_bytes().replace(b"pass", b"PASS"))
    return newer, path, ref


def test_history_lists_what_can_be_read_and_tells_of_the_rest(project, run, damaged):
    newer, path, ref = damaged
    done = project("history", "toy", code=3)
    (line,) = done.stdout.splitlines()
    assert line.startswith(newer["run_id"][:12])
    (said,) = done.stderr.splitlines()
    place, mend = path.relative_to(project.folder), ref.relative_to(project.folder)
    assert said.startswith(f"yb-eval: {place}: the object's bytes do not match its name (") and str(mend) in said
    assert [r["run_id"] for r in json.loads(project("history", "toy", "--json", code=3).stdout)] == [newer["run_id"]]
    assert not project("history", "guards", code=3).stdout
    # What the line says mends it.
    path.unlink()
    assert "No such file" in project("history", "toy", code=3).stderr
    ref.unlink()
    assert not project("history", "toy").stderr
    assert "no run" in project("show", run["run_id"], code=2).stderr


@pytest.mark.parametrize("content", [b"\xff", b"nothing\n", b""])
def test_a_ref_that_holds_no_name_takes_no_other_run_with_it(project, damaged, content):
    newer, _, ref = damaged
    ref.write_bytes(content)
    (ref.parent / ".DS_Store").write_bytes(b"")
    (ref.parent.parent / "notes.txt").write_bytes(b"")
    done = project("history", "toy", code=3)
    assert done.stdout.startswith(newer["run_id"][:12]) and str(ref.relative_to(project.folder)) in done.stderr


def test_a_run_that_is_well_is_reported_whatever_became_of_an_older_one(project, damaged):
    newer, _, _ = damaged
    shown = project("show", "latest", "--format", "html")
    assert newer["run_id"] in shown.stdout
    assert shown.stderr.startswith("warning: not in the history: .yb-eval") and shown.stderr.count("\n") == 1
    done = project("run", "toy", "--note", "c", "--report", "html=report.html", "--report", "json=report.json")
    assert done.stderr.count("warning: ") == 1
    assert json.loads((project.folder / "report.json").read_text())["failures"] == []
    assert (project.folder / "report.html").is_file()
    assert "do not match its name" in project("verify", "--all", code=3).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "0000"], "no run 0000"),
        (["show", "ab"], "at least 4 characters"),
        (["show", "../../etc/passwd"], "is not a run"),
        (["verify", "zzzz"], "is not a run"),
        (["history", "guards"], "no run of 'guards'"),
        (["history", "toy", "-n", "0"], "not in the range"),
        (["history", "tooy"], "no run of 'tooy' is stored (did you mean 'toy'?)"),
        (["history", "guards"], "(yb-eval run guards)"),
        (["history", "toy", "--measure", "acuracy"], "no run has the measurement 'acuracy' (did you mean 'accuracy'?)"),
        (["verify", "--all", "latest"], "--all names every run"),
        (["verify", "--all", "--store", "elsewhere"], "elsewhere: nothing has been run yet"),
        (["report", "html"], "yb-eval show RUN --format FORMAT"),
        (["compare", "latest", "0000"], "no run 0000"),
        (["show", "--format", "pdf"], "unknown report format"),
    ],
)
def test_a_run_that_does_not_exist_is_refused(project, run, arguments, said):
    assert said in project(*arguments, code=2).stderr


def test_history_of_a_second_name_leads_to_its_suite(project, run):
    project.write("yb-eval.toml", '[suites.candidate]\nsuite = "guards"\n')
    assert "yb-eval history guards" in project("history", "candidate", code=2).stderr


def test_without_a_store_there_is_nothing_to_show(project):
    assert "nothing has been run yet" in project("show", code=2).stderr


def test_every_flipped_byte_of_every_object_is_noticed(project, run):
    """In process, for speed: each byte of the manifest and of the outcome log, and of the ref, in turn."""
    from yb_eval.errors import UsageError, YbEvalError
    from yb_eval.record import Store

    store = Store(project.folder / ".yb-eval")
    assert store.verify(store.find("latest"))[-1] == f"run_id {run['run_id']}"
    objects = sorted((store.root / "objects").rglob("*/*/*"))
    refs = [store.root / "refs" / "latest"]
    assert len(objects) == 2
    for path in [*objects, *refs]:
        data = path.read_bytes()
        for place in range(len(data)):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            if path in refs and path.read_text(errors="replace").strip() == data.decode().strip():
                continue
            with pytest.raises((YbEvalError, UsageError)):
                store.verify(store.find("latest"))
        path.write_bytes(data)
    store.verify_all()


def test_a_manifest_that_was_forged_with_matching_digests_is_noticed(project, run):
    from yb_eval.digest import sha256_hex
    from yb_eval.errors import StoreError
    from yb_eval.record import Store

    store = Store(project.folder / ".yb-eval")
    found = store.find("latest")
    forgeries = [
        ("report", "measurements", "accuracy", "value"),
        ("report", "gates", 1, "verdict"),
        ("report", "verdict"),
        ("report", "outcomes", "sha256"),
        ("plan", "seed"),
        ("plan", "options", "note"),
        ("report", "run_id"),
    ]
    for keys in forgeries:
        forged = json.loads(store.get(found.sha256))
        place = forged
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = (
            "fail"
            if keys == ("report", "verdict")
            else {"value": 1.0, "verdict": "unmeasured", "seed": 7}.get(keys[-1], "0" * 64)
        )
        data = json.dumps(forged).encode()
        name = sha256_hex(data)
        store.put(data)
        (store.root / "refs" / "latest").write_text(name + "\n")
        with pytest.raises(StoreError):
            store.verify(store.find("latest"))


def test_verify_says_what_it_checked_and_ends_with_3_on_damage(project, run):
    assert f"run_id {run['run_id']}" in project("verify").stdout
    log = project.folder / ".yb-eval/objects/sha256" / run["suites"][0]["outcomes"]["sha256"][:2]
    (path,) = log.iterdir()
    path.write_bytes(path.read_bytes().replace(b"even", b"odd ", 1))
    assert "do not match its name" in project("verify", code=3).stderr
    assert "do not match its name" in project("verify", "--all", code=3).stderr


def test_a_store_that_cannot_be_written_is_one_line_and_exit_3(project, parity_rows):
    project.rows(parity_rows(5))
    project.write("store", "a file where the folder belongs")
    done = project("run", "toy", "--store", "store", code=3)
    assert "yb-eval: store: cannot write: Not a directory (--store PATH names another folder)" in done.stderr
    assert (project.folder / "store").read_text() == "a file where the folder belongs"
