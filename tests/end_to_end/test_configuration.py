"""yb-eval.toml: composed runs, profiles, precedence, and what is said when it is wrong."""

import json

import pytest


@pytest.fixture
def composed(project, parity_rows):
    project.rows(parity_rows(20))
    project.rows(parity_rows(10, wrong=1), "other.jsonl")
    project.write(
        "yb-eval.toml",
        """
[suites.toy]
rows = "rows.jsonl"

[suites.second]
suite = "toy"
rows = "other.jsonl"
min-accuracy = 0.8
gate = ["warn: accuracy >= 0.99"]

[profiles.strict.suites.second]
min-accuracy = 0.95
""",
    )
    return project


def test_a_composed_run_has_one_verdict_and_ids_built_from_its_children(composed):
    report = composed.report()
    assert [suite["name"] for suite in report["suites"]] == ["toy", "second"]
    assert report["verdict"] == "pass"
    ids = {report["run_id"], *(suite["run_id"] for suite in report["suites"])}
    assert len(ids) == 3
    for run_id in ids:
        composed("verify", run_id)
        composed("show", run_id)
    assert json.loads(composed("show", "latest", "--format", "json").stdout)["run_id"] == report["run_id"]


def test_the_order_of_suites_and_how_many_run_at_once_change_no_id(composed):
    report = composed.report()
    assert composed.report("--suite-jobs", 2)["run_id"] == report["run_id"]
    assert composed.report("second", "toy")["run_id"] == report["run_id"]


def test_one_failing_suite_fails_the_run_and_the_others_still_run(composed):
    report = composed.report("--profile", "strict", code=1)
    assert [suite["verdict"] for suite in report["suites"]] == ["pass", "fail"]


def test_fail_fast_begins_no_further_suite(composed):
    done = composed("run", "second", "--min-accuracy", 1, "toy", "--fail-fast", "--json", code=1)
    report = json.loads(done.stdout)
    assert [suite["name"] for suite in report["suites"]] == ["second"]
    assert report["left_out"] == ["toy"] and report["run_id"] is None
    assert "not run, because of --fail-fast: toy" in done.stderr


def test_only_chooses_among_the_listed_suites(composed):
    assert [s["name"] for s in composed.report("--only", "second")["suites"]] == ["second"]
    assert "did you mean 'second'" in composed("run", "--only", "secnd", code=2).stderr


def test_only_beside_named_suites_is_refused_and_nothing_is_run(composed):
    for arguments in (["--only", "second", "toy"], ["toy", "--only", "second"], ["--only", "toy", "toy"]):
        said = composed("run", *arguments, code=2).stderr
        assert said.startswith("yb-eval: --only: ") and said.count("\n") == 1 and "leave out --only" in said
    assert not (composed.folder / ".yb-eval").exists()


def test_named_suites_come_before_an_only_of_the_file_or_of_the_environment(composed):
    text = (composed.folder / "yb-eval.toml").read_text()
    composed.write("yb-eval.toml", '[run]\nonly = ["second"]\n' + text)
    assert [s["name"] for s in composed.report()["suites"]] == ["second"]
    assert [s["name"] for s in composed.report("toy")["suites"]] == ["toy"]
    assert [s["name"] for s in composed.report(YB_EVAL_ONLY="toy")["suites"]] == ["toy"]
    assert [s["name"] for s in composed.report("second", YB_EVAL_ONLY="toy")["suites"]] == ["second"]


def test_a_profile_behind_a_suite_is_refused_rather_than_left_out(composed):
    said = composed("run", "second", "--profile", "strict", code=2).stderr
    assert "--profile: " in said and "(yb-eval run --profile strict second)" in said
    composed("run", "--profile", "strict", "second", code=1)


def test_one_invalid_dataset_refuses_the_whole_run_before_anything_is_evaluated(composed):
    composed.write("other.jsonl", "{}\n")
    assert "other.jsonl:1" in composed("run", code=2).stderr
    assert not list(composed.folder.glob(".yb-eval/objects/**/*"))


def test_command_line_before_environment_before_file_before_default(composed):
    def floor(*arguments, **env):
        report = composed.report("second", *arguments, code=None, **env)
        return report["suites"][0]["gates"][1]["gate"]

    assert floor() == "accuracy >= 0.8"
    assert floor(YB_EVAL_TOY_MIN_ACCURACY="0.7") == "accuracy >= 0.7"
    assert floor("--min-accuracy", 0.6, YB_EVAL_TOY_MIN_ACCURACY="0.7") == "accuracy >= 0.6"
    assert composed.report("toy")["suites"][0]["gates"][1]["gate"] == "accuracy >= 0.9"
    assert composed.report("--limit", 5, "toy", YB_EVAL_LIMIT=3)["suites"][0]["counts"]["samples"] == 5
    assert composed.report("toy", YB_EVAL_LIMIT=3)["suites"][0]["counts"]["samples"] == 3


def test_gates_of_the_file_and_of_the_command_line_add_up(composed):
    gates = composed.report("second", "--gate", "coverage == 1")["suites"][0]["gates"]
    assert [gate["gate"] for gate in gates][-2:] == ["accuracy >= 0.99", "coverage == 1"]


def test_paths_of_the_file_start_in_its_folder(composed):
    composed.write("sub/keep", "")
    done = composed("run", "--config", composed.folder / "yb-eval.toml", "--json")
    assert json.loads(done.stdout)["verdict"] == "pass"


def test_pyproject_can_hold_the_configuration(project, parity_rows):
    project.rows(parity_rows(4))
    project.write("pyproject.toml", "[tool.other]\nx = 1\n[tool.yb-eval.suites.toy]\nlimit = 2\n")
    assert project.report()["suites"][0]["counts"]["samples"] == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[suites.toy\n", "yb-eval.toml:1"),
        ("[suite.toy]\n", "yb-eval.toml:1: unknown key 'suite' (did you mean 'suites'?)"),
        ("[suites.toy]\n\nmin-acuracy = 1\n", "yb-eval.toml:3: unknown option 'min-acuracy' (did you mean 'min-accuracy'?)"),
        ("[suites.toy]\nmin-accuracy = 'high'\n", "yb-eval.toml:2: a number is expected"),
        ("[suites.toy]\nmin-accuracy = 1.5\n", "yb-eval.toml:2: 1.5 is out of range"),
        ("[suites.toy]\nmin-accuracy = nan\n", "yb-eval.toml:2: nan is not a finite number"),
        ("[suites.toy]\njobs = true\n", "yb-eval.toml:2: an integer is expected"),
        ("[suites.toy]\ngate = 'accuracy >= 1'\n", "yb-eval.toml:2: a list is expected"),
        ("[suites.tooy]\n", "unknown suite 'tooy' (did you mean 'toy'?)"),
        ("[suites.a]\n\nsuite = 'tooy'\n", "yb-eval.toml:3: unknown suite 'tooy' (did you mean 'toy'?)"),
        ("[suites.toy]\nforce = ' '\n", "--force needs a reason"),
        ("[suites.toy]\nsave = 'x.json'\nlimit = 2\n", "a baseline is not saved from a part of the dataset"),
        ("\n[suites.toy]\njobs", "yb-eval.toml:3: not TOML"),
        ("[suites.a]\nsuite = 3\n", "yb-eval.toml:2: 'suite' is a suite's name"),
        ("[run]\nonly = ['tooy']\n[suites.toy]\n", "yb-eval.toml:2: no suite 'tooy' (did you mean 'toy'?)"),
        ("[run]\nonly = 'toy'\n[suites.toy]\n", "yb-eval.toml:2: a list is expected"),
        ("[run]\nprofile = 'x'\n[profiles.y]\n[suites.toy]\n", "yb-eval.toml:2: no profile 'x' (known: y)"),
        ("[run]\nprofile = 3\n[suites.toy]\n", "yb-eval.toml:2: a string is expected"),
        ("[run]\nreprot = []\n[suites.toy]\n", "yb-eval.toml:2: unknown option 'reprot' (did you mean 'report'?)"),
        ("suites = 3\n", "yb-eval.toml:1: 'suites' is a table"),
        ("[suites]\ntoy = 3\n", "yb-eval.toml:2: 'toy' is a table"),
        ("[profiles.x]\nsuits = {}\n[suites.toy]\n", "yb-eval.toml:2: unknown key 'suits'"),
        ("\xff", "yb-eval.toml"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(project, parity_rows, text, said):
    project.rows(parity_rows(4))
    project.write("yb-eval.toml", text.encode("latin-1") if "\xff" in text else text)
    assert said in project("run", code=2).stderr
    assert said in project("config", "check", code=2).stderr


def test_config_check_explains_every_fault_profiles_and_gates_too(composed):
    assert "all well" in composed("config", "check").stdout
    text = (composed.folder / "yb-eval.toml").read_text()
    text = text.replace('"warn: accuracy >= 0.99"', '"acuracy >= 0.99"').replace("min-accuracy = 0.95", "min-acc = 1")
    composed.write("yb-eval.toml", text)
    said = composed("config", "check", code=2).stderr
    assert "did you mean 'accuracy'" in said and "unknown option 'min-acc'" in said


def test_config_show_says_where_each_value_came_from(composed):
    shown = composed("config", "show", YB_EVAL_JOBS=2).stdout
    assert "min-accuracy = 0.8  # yb-eval.toml" in shown and "jobs = 2  # environment" in shown
    assert "seed" not in shown and "seed = 0  # default" in composed("config", "show", "--all").stdout
    assert "min-accuracy = 0.95" in composed("config", "show", "--profile", "strict").stdout
    assert "did you mean 'strict'" in composed("config", "show", "--profile", "strct", code=2).stderr


def test_the_schema_accepts_good_files_and_refuses_bad_ones(composed):
    jsonschema = pytest.importorskip("jsonschema")
    import tomllib

    schema = json.loads(composed("config", "schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    good = tomllib.loads((composed.folder / "yb-eval.toml").read_text())
    assert list(validator.iter_errors(good)) == []
    for bad in (
        {"suites": {"toy": {"min-acuracy": 1}}},
        {"suites": {"x": {}}},
        {"suites": {"toy": {"jobs": 0}}},
        {"x": 1},
    ):
        assert list(validator.iter_errors(bad)), bad


def test_several_tests_against_baselines_are_corrected_for_being_several(project, parity_rows):
    """Holm: a p-value that one test alone would fail at 5 % stands among two."""
    rows = list(parity_rows(60))
    project.rows(rows)
    project.report("toy", "--save", "base.json")
    flipped = [{**row, "text": row["text"] + "x"} if index < 6 else row for index, row in enumerate(rows)]
    project.rows(flipped, "worse.jsonl")
    table = 'suite = "toy"\nagainst = "base.json"\nmin-accuracy = 0.0\ngate = ["no_worse(accuracy)"]\n'
    project.write("yb-eval.toml", f'[suites.a]\nrows = "worse.jsonl"\n{table}[suites.b]\nrows = "rows.jsonl"\n{table}')
    alone = project.report("--only", "a", code=1)
    assert "p=0.031" in alone["suites"][0]["gates"][-1]["reason"]
    together = project.report()
    assert "Holm 0.0625" in together["suites"][0]["gates"][-1]["reason"]
    assert together["suites"][0]["comparison"]["judgements"][""]["adjusted_p"] == pytest.approx(0.0625)


def test_config_check_explains_each_fault_of_one_suite_at_its_key(project, parity_rows):
    project.rows(parity_rows(4))
    lines = [
        "[run]",
        'report = ["jason=x.json"]',
        "[suites.toy]",
        'gate = ["errors <= 0", "coverage >= 1", "acuracy >= 1", "warn: lower(acuracy) >= 1"]',
        'filter = "tags =="',
        'executor = "thread"',
        'against = "none.json"',
    ]
    project.write("yb-eval.toml", "\n".join(lines))
    said = project("config", "check", code=2).stderr.splitlines()
    assert sorted(line.split(": ")[1] for line in said) == [f"yb-eval.toml:{n}" for n in (2, 4, 4, 5, 6, 7)]
    assert "did you mean 'json'" in said[0] and sum("did you mean 'accuracy'" in line for line in said) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('rows = "gone.jsonl"', "gone.jsonl: no such file"),
        ('rows = "folder"', "folder: a folder, where a file is needed"),
        ('target = "bultin"', "unknown target 'bultin' (did you mean 'builtin'?)"),
        ('target = "builtin:x"', "the target 'builtin' takes no argument"),
        ('target = "python:bot"', "'python:bot' does not name a callable"),
        ('target = "python:gone:answer"', "python:gone:answer: there is no module 'gone'"),
        ('target = "python:bots.gone:answer"', "python:bots.gone:answer: there is no module 'bots.gone'"),
        ('target = "exec:./gone --x"', "exec: there is no command './gone' (looked in the working folder)"),
        ("target = 'exec:\"'", "exec: the command cannot be split"),
        ('target = "https://user:hunter2@host:99999/"', "https: the target's address has no host or no possible port"),
        ('target = "replay:gone.jsonl"', "gone.jsonl: the recording cannot be read"),
        ('replay = "gone.jsonl"', "gone.jsonl: the recording cannot be read"),
    ],
)
def test_config_check_tells_of_targets_and_files_that_are_not_there(project, parity_rows, line, said):
    project.rows(parity_rows(4))
    project.write("folder/keep", "")
    project.write("bots/__init__.py", "raise SystemExit('imported')")
    project.write("yb-eval.toml", f"[suites.toy]\njobs = 1\n{line}\n")
    stderr = project("config", "check", code=2).stderr
    assert f"yb-eval: yb-eval.toml:3: {said}" in stderr and stderr.count("\n") == 1 and "hunter2" not in stderr


def test_config_check_runs_no_target_and_asks_no_address(project, parity_rows):
    """Each of these would leave a file, or a line in the listener's queue, if it were opened in earnest."""
    import socket

    project.rows(parity_rows(4))
    project.write("bots/__init__.py", "")
    project.write("bots/mine.py", "open('imported', 'w').close()")
    program = project.write("program", "#!/bin/sh\ntouch started\n")
    program.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        targets = ["python:bots.mine:answer", "exec:./program", f"http://127.0.0.1:{server.getsockname()[1]}/"]
        tables = [f'[suites.s{n}]\nsuite = "toy"\ntarget = "{target}"\n' for n, target in enumerate(targets)]
        project.write("yb-eval.toml", "".join(tables))
        assert "all well" in project("config", "check").stdout
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not (project.folder / "imported").exists() and not (project.folder / "started").exists()


def test_commands_on_stored_runs_say_where_the_configuration_is_wrong(project):
    project.write("yb-eval.toml", "[run]\njson = false\nstore = 3\n")
    for command in (["show"], ["history", "toy"], ["verify", "--all"]):
        assert "yb-eval.toml:3: a path is expected, not 3" in project(*command, code=2).stderr


def test_config_check_goes_on_after_a_missing_file(project):
    lines = ["[suites.routing]", 'policy = "gone.toml"', 'target = "python:gone:answer"', 'filter = "tags =="']
    project.write("yb-eval.toml", "\n".join(lines))
    said = project("config", "check", code=2).stderr.splitlines()
    assert sorted(line.split(": ")[1] for line in said) == [f"yb-eval.toml:{n}" for n in (2, 3, 4)]


def test_config_show_tells_the_environment_of_the_whole_run_and_of_a_suite(composed):
    shown = composed("config", "show", YB_EVAL_SUITE_JOBS=2, YB_EVAL_TOY_NOTE="n", YB_EVAL_PROFILE="strict").stdout
    assert "suite-jobs = 2  # environment" in shown and 'note = "n"  # environment' in shown
    assert "min-accuracy = 0.95" in shown and "command line" not in shown


def test_reports_of_the_file_start_in_its_folder(project, parity_rows):
    project.rows(parity_rows(4), "sub/rows.jsonl")
    project.write("sub/yb-eval.toml", '[run]\nreport = ["json=out/report.json"]\n[suites.toy]\nrows = "rows.jsonl"\n')
    project("run", "--config", "sub/yb-eval.toml")
    assert (project.folder / "sub" / "out" / "report.json").is_file()


def test_two_suites_never_write_one_file(composed):
    for option in ("--save", "--outcomes", "--record"):
        assert "would both write it" in composed("run", option, "x.json", "toy", "second", code=2).stderr
    said = composed("run", "toy", "--save", "x.json", "--outcomes", "x.json", code=2).stderr
    assert "x.json: the outcomes and the baseline cannot both be written there" in said
    # What a run refuses, the look ahead refuses too.
    assert "would both write it" in composed("run", "--dry-run", "--save", "x.json", "toy", "second", code=2).stderr
    assert "is run twice" in composed("run", "--dry-run", "toy", "toy", code=2).stderr


def test_save_before_a_suite_s_name_does_not_take_it_for_its_path(composed):
    report = composed.report("--save", "toy")
    assert [suite["name"] for suite in report["suites"]] == ["toy"]
    assert (composed.folder / "baselines" / "toy.json").is_file() and not (composed.folder / "toy").exists()


def test_lists_come_from_the_environment_one_a_line(composed):
    gates = "coverage == 1\naccuracy >= 0.5"
    report = composed.report("toy", YB_EVAL_GATE=gates)
    assert [gate["gate"] for gate in report["suites"][0]["gates"]][-2:] == gates.split("\n")


def test_a_bad_value_of_the_environment_is_blamed_on_its_variable(composed):
    assert "Invalid value for YB_EVAL_JOBS: " in composed("run", "toy", code=2, YB_EVAL_JOBS="x").stderr
    said = composed("run", "toy", code=2, YB_EVAL_TOY_MIN_ACCURACY="x").stderr
    assert "Invalid value for YB_EVAL_TOY_MIN_ACCURACY: " in said
    assert "Invalid value for '--jobs': " in composed("run", "toy", "--jobs", "x", code=2).stderr


def test_config_behind_a_suite_is_refused_with_its_place(composed):
    said = composed("run", "toy", "--config", "yb-eval.toml", code=2).stderr
    assert "--config: it stands before the first suite (yb-eval run --config PATH toy)" in said


def test_what_the_file_switches_on_the_command_line_can_switch_off(composed):
    text = (composed.folder / "yb-eval.toml").read_text()
    composed.write("yb-eval.toml", "[run]\njson = true\n" + text)
    assert composed("run", "toy").stdout.startswith("{")
    assert composed("run", "--no-json", "toy").stdout.startswith("PASS")


def test_jobs_before_several_suites_are_suites_at_once(composed):
    assert composed.report("--jobs", 2, "toy", "second")["run_id"] == composed.report()["run_id"]


def test_a_run_that_did_not_come_to_its_end_is_not_shown_as_the_one_before(composed):
    composed("run")
    composed("run", "second", "--min-accuracy", 1, "toy", "--fail-fast", code=1)
    assert "did not come to its end" in composed("show", "latest", code=2).stderr
    composed("run")
    composed("show", "latest")


def test_the_baseline_s_numbers_over_other_samples_do_not_subtract(project, parity_rows):
    rows = list(parity_rows(30, wrong=2))
    project.rows(rows)
    project.report("toy", "--save", "base.json")
    project.rows(rows[2:])
    report = project.report("toy", "--against", "base.json", "--gate", "accuracy >= baseline.accuracy", code=3)
    assert "2 removed since" in report["suites"][0]["gates"][-1]["reason"]
    changes = report["suites"][0]["comparison"]["measurements"]
    assert changes["accuracy"]["change"] == 0 and "scored" not in changes
