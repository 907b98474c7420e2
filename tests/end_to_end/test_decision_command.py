"""`yb-eval run decision` and `yb-eval decision ...`, through the installed command."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from yb_eval.digest import HEX_ID

KIT = Path(__file__).parents[1] / "decision"
HONEST = "python:judges:honest"


def load(name):
    spec = importlib.util.spec_from_file_location(name, KIT / f"{name}.py")
    module = sys.modules.setdefault(name, importlib.util.module_from_spec(spec))
    if not getattr(module, "__doc__", None):
        spec.loader.exec_module(module)
    return module


judges, servers = load("decision_judges"), load("decision_servers")


@pytest.fixture
def decision(project):
    """A user's folder with rows, a trace, and judges of the user's own."""
    project.write("judges.py", (KIT / "decision_judges.py").read_text(encoding="utf-8"))
    project.rows(judges.rows(12))
    project.write("trace.json", json.dumps(judges.trace(1)))
    return project


def run(*more):
    return ("decision", "--data", "rows.jsonl", "--evals", "grounded,tool_choice", *more)


def suite_of(report):
    return report["suites"][0]


class TestSystemsThatAnswer:
    @pytest.mark.parametrize("how", ["--backend", "--target"])
    def test_a_function(self, decision, how):
        suite = suite_of(decision.report(*run(how, HONEST), code=0))
        assert suite["measurements"]["grounded.accuracy"]["value"] == 1.0
        assert suite["target"]["spec"] == HONEST

    def test_a_process(self, decision):
        report = decision.report(*run("--target", f"exec:{sys.executable} judges.py"))
        assert suite_of(report)["measurements"]["grounded.accuracy"]["value"] == 1.0

    def test_a_url_that_is_asked_as_describe_says(self, decision):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(judges.honest(request)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            report = decision.report(*run("--target", f"http://127.0.0.1:{server.server_port}"))
        finally:
            server.shutdown()
            server.server_close()
        assert suite_of(report)["measurements"]["grounded.accuracy"]["value"] == 1.0

    def test_a_system_one_service_says_which_model_it_was(self, decision):
        with servers.serving(servers.system_one(model="jev-1.13.0")) as service:
            decision("run", *run("--backend", service.url))
        shown = json.loads(decision("show", "latest", "--format", "json").stdout)
        assert "jev-1.13.0" in json.dumps(shown["envelope"])
        assert "jev-1.13.0" not in json.dumps(shown["suites"][0]["measurements"])

    def test_a_cascade_tells_who_decided(self, decision):
        with servers.serving(servers.system_one()) as service:
            spec = f"local -> {service.url}"
            suite = suite_of(decision.report(*run("--backend", spec)))
        (told,) = [line for line in suite["details"]["summary"] if line.startswith("decided by: ")]
        assert "local " in told and service.url in told
        assert suite["measurements"]["tool_choice.measured"]["value"] == 12

    def test_a_model_that_changed_meanwhile_is_noted(self, decision):
        with servers.serving(servers.system_one(model="jev-2"), servers.system_one(model="jev-1")) as service:
            suite = suite_of(decision.report(*run("--backend", service.url, "--batch-size", "1")))
        assert any("jev-1" in line and "jev-2" in line for line in suite["details"]["summary"])

    def test_two_at_once_are_refused(self, decision):
        done = decision("run", *run("--backend", "mock", "--target", HONEST), code=2)
        assert "name two systems" in done.stderr and done.stdout == ""

    def test_an_answer_in_another_shape_is_an_error_that_says_what_came(self, decision):
        decision.write(
            "odd.py", "def judge(request):\n    return {'answers': {id: {'noul': 9} for id in request['questions']}}\n"
        )
        report = decision.report(
            "decision", "--data", "rows.jsonl", "--evals", "grounded", "--target", "python:odd:judge", code=3
        )
        assert suite_of(report)["counts"]["error"] == 12
        assert suite_of(report)["measurements"]["grounded.pass_rate"]["value"] is None


@pytest.mark.parametrize("plugins", [None, "yb-eval-core,yb-eval-decision"], ids=["all", "alone"])
def test_the_default_run_passes_offline_with_other_plugins_and_without(decision, plugins):
    environment = {} if plugins is None else {"YB_EVAL_PLUGINS": plugins}
    suite = suite_of(decision.report("decision", **environment))
    assert suite["target"]["spec"] == "local"
    assert {gate["verdict"] for gate in suite["gates"]} == {"pass"} and len(suite["gates"]) > 10
    assert "toxicity" in suite["details"]["unmeasured"]


class TestABackendThatIsDown:
    def test_passes_nothing(self, decision):
        with servers.serving(servers.status(503)) as service:
            done = decision("run", *run("--backend", service.url, "--retries", "0", "--outcomes", "log.jsonl"), code=3)
        assert done.stdout.startswith("UNMEASURED")
        assert "12 of 12 outcomes are errors" in done.stdout
        assert "HTTP 503" in (decision.folder / "log.jsonl").read_text(encoding="utf-8")

    def test_leaves_check_with_exit_code_3(self, decision):
        with servers.serving(servers.status(401)) as service:
            done = decision("decision", "check", "trace.json", "-e", "grounded", "--backend", service.url, code=3)
        assert "401" in done.stdout


class TestKeptAnswers:
    def test_are_recorded_without_a_sample_and_replayed_to_the_same_numbers(self, decision):
        first = decision.report(*run("--backend", HONEST, "--record", "cassette.jsonl"))
        cassette = (decision.folder / "cassette.jsonl").read_text(encoding="utf-8")
        assert "sha256" in cassette
        assert "shipped" not in cassette and "fire" not in cassette and "Where is order" not in cassette
        for how in (("--replay", "cassette.jsonl"), ("--backend", "replay:cassette.jsonl")):
            again = decision.report(*run(*how))
            assert suite_of(again)["measurements"] == suite_of(first)["measurements"]

    def test_of_another_sample_are_errors(self, decision):
        decision("run", *run("--backend", HONEST, "--record", "cassette.jsonl"))
        decision.rows([{"id": "new", "sample": judges.trace(99), "labels": {"grounded": True}}])
        decision("run", *run("--replay", "cassette.jsonl"), code=3)

    def test_in_the_cache_are_not_asked_for_again_and_the_hits_are_shown(self, decision):
        with servers.serving(servers.system_one()) as service:
            first = decision("run", *run("--backend", service.url, "--cache"))
            asked = len(service.seen)
            second = decision("run", *run("--backend", service.url, "--cache"))
            assert len(service.seen) == asked > 0
        assert "0 of 24 answers came from the cache" in first.stderr
        assert "24 of 24 answers came from the cache" in second.stderr
        ids = [done.stdout.split("\nrun ")[1].split()[0] for done in (first, second)]
        assert ids[0] == ids[1] and HEX_ID.match(ids[0])

    def test_are_counted_whatever_the_jobs(self, decision):
        for hits in (0, 24):
            done = decision("run", *run("--backend", "mock", "--cache", "--jobs", "2", "--batch-size", "3"), code=None)
            assert f"{hits} of 24 answers came from the cache" in done.stderr

    def test_survive_a_run_that_died(self, decision):
        decision.write(
            "dying.py",
            "import os, judges\n"
            "def judge(request):\n"
            "    with open('asked', 'a') as file:\n"
            "        file.write('x')\n"
            "    if 'DIE' in os.environ and os.path.getsize('asked') > 7:\n"
            "        os._exit(9)\n"
            "    return judges.honest(request)\n",
        )
        command = run("--backend", "python:dying:judge", "--cache", "--batch-size", "1")
        decision("run", *command, code=None, DIE="1")
        assert (decision.folder / "asked").stat().st_size == 8
        report = decision.report(*command, code=0)
        assert (decision.folder / "asked").stat().st_size == 8 + 5  # seven of twelve were kept
        whole = decision.report(*run("--backend", "python:dying:judge"), code=0)
        assert whole["run_id"] == report["run_id"]


class TestCost:
    def test_is_told_before_anything_is_asked(self, decision):
        with servers.serving(servers.system_one()) as service:
            done = decision("run", *run("--backend", service.url, "--input-price", "1000", "--dry-run", "--json"))
            assert service.seen == []
        (suite,) = json.loads(done.stdout)["suites"]
        estimate = suite["estimate"]
        assert (estimate["samples"], estimate["requests"], estimate["questions"]) == (12, 12, 24)
        assert estimate["input_tokens"] > 12 * 100
        assert estimate["cost_usd"] == pytest.approx(estimate["input_tokens"] / 1000)
        assert not (decision.folder / ".yb-eval").exists()

    def test_that_nobody_knows_is_unknown(self, decision):
        done = decision("run", *run("--backend", "http://127.0.0.1:1", "--dry-run"))
        assert "cost usd: unknown" in done.stdout

    def test_stays_under_its_limit_and_what_is_left_is_an_error(self, decision):
        with servers.serving(servers.system_one()) as service:
            dry = decision("run", *run("--backend", service.url, "--input-price", "1000", "--dry-run", "--json"))
            cost = json.loads(dry.stdout)["suites"][0]["estimate"]["cost_usd"]
            # Each request is settled with the 120 tokens that the service counts, which are fewer than were estimated.
            limit = ("--input-price", "1000", "--max-cost", f"{cost / 6:.6f}")
            report = decision.report(*run("--backend", service.url, *limit), code=3)
            counts = suite_of(report)["counts"]
            assert len(service.seen) == counts["scored"] and 0 < counts["scored"] < 12
        assert counts["error"] == 12 - counts["scored"]

    def test_of_cached_answers_is_nothing(self, decision):
        with servers.serving(servers.system_one()) as service:
            decision("run", *run("--backend", service.url, "--cache"))
            decision.report(*run("--backend", service.url, "--cache", "--input-price", "9", "--max-cost", "0"), code=0)


class TestAgainstABaseline:
    def test_samples_that_broke_are_listed_for_each_eval(self, decision):
        decision("run", *run("--backend", HONEST, "--save", "baseline.json"))
        report = decision.report(
            *run("--backend", "python:judges:careless", "--against", "baseline.json", "--gate", "grounded.broken == 0"),
            code=1,
        )
        compared = suite_of(report)["comparison"]
        assert compared["judgements"]["grounded"]["broken"] == 3
        assert compared["judgements"]["tool_choice"]["broken"] == 0
        assert compared["judgements"]["tool_choice"]["fixed"] == 3

    def test_a_judge_that_is_worse_is_found_by_the_paired_test(self, decision):
        decision.rows(judges.rows(40, every=2))
        decision("run", *run("--backend", HONEST, "--save", "baseline.json"))
        worse = run("--backend", "python:judges:careless", "--against", "baseline.json")
        report = decision.report(*worse, "--gate", "no_worse(grounded.accuracy)", code=1)
        assert suite_of(report)["comparison"]["judgements"]["grounded"]["p_value"] < 0.001

    def test_a_run_with_errors_is_not_saved(self, decision):
        decision("run", *run("--backend", "python:judges:quoting", "--save", "baseline.json"), code=3)
        assert not (decision.folder / "baseline.json").exists()


class TestTheSameRun:
    def test_whatever_the_jobs_the_batches_and_the_hash_seed(self, decision):
        decision.rows([*judges.rows(30), *({"id": f"t{n}", **judges.trace(n)} for n in range(20))])
        command = ("decision", "--data", "rows.jsonl", "--backend", HONEST)
        ids = {
            decision.report(*command, *more, code=None, PYTHONHASHSEED=seed)["run_id"]
            for seed, more in enumerate(
                ((), ("--jobs", 8), ("--batch-size", 1), ("--batch-size", 7, "--jobs", 3), ("--executor", "serial"))
            )
        }
        assert len(ids) == 1

    @pytest.mark.parametrize("backend", ["local", "mock"])
    def test_in_other_processes(self, decision, backend):
        command = ("decision", "--data", "rows.jsonl", "--backend", backend, "--evals", "grounded,pii", "--every-eval")
        reports = [decision.report(*command, "--jobs", jobs, "--batch-size", 3, code=None) for jobs in (1, 2)]
        assert suite_of(reports[0])["counts"]["error"] == 0
        assert reports[0]["run_id"] == reports[1]["run_id"]


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Every eval over the traces that ship, in every report."""
    folder = tmp_path_factory.mktemp("everything")
    command = [str(Path(sys.executable).with_name("yb-eval")), "run", "decision", "--backend", "mock"]
    for kind in ("text", "json", "markdown", "junit", "html"):
        command += ["--report", f"{kind}=report.{kind}"]
    widths = {}
    for width in (80, 120):
        environment = {**os.environ, "COLUMNS": str(width)}
        widths[width] = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    return folder, widths


class TestReportsOfManyEvals:
    def test_fit_the_terminal_and_keep_what_counts(self, everything):
        for width, done in everything[1].items():
            lines = done.stdout.splitlines()
            assert max(map(len, lines)) <= width
            (header,) = [line for line in lines if line.strip().startswith("judgement ")]
            for column in ("n", "accuracy", "95 % interval", "pass_rate"):
                assert column in header
            assert sum(line.startswith("  grounded ") for line in lines) == 1
            assert len(lines) < 110

    def test_say_in_every_format_what_was_not_measured(self, everything):
        folder, _ = everything
        for kind in ("text", "markdown", "html", "json", "junit"):
            text = (folder / f"report.{kind}").read_text(encoding="utf-8")
            assert "tool_choice" in unescape(text), kind
        assert "the backend abstains: tool_choice" in (folder / "report.text").read_text(encoding="utf-8")

    def test_have_no_colour_where_none_is_wanted(self, decision):
        assert "\x1b[" not in decision("run", *run("--backend", HONEST), NO_COLOR="1").stdout

    def test_survive_a_closed_pipe(self, decision):
        yb_eval = Path(sys.executable).with_name("yb-eval")
        for command in ("run decision --data rows.jsonl --backend mock", "decision list", "decision schema",
                        "decision check rows.jsonl -e pii"):  # fmt: skip
            line = f"set -o pipefail; {yb_eval} {command} 2>err | head -c 1"
            subprocess.run(["bash", "-c", line], cwd=decision.folder, env=decision.environment(), check=False)
            said = (decision.folder / "err").read_text(encoding="utf-8")
            assert "Traceback" not in said and "Broken" not in said and "yb-eval:" not in said

    def test_that_cannot_be_written_are_refused_before_anything_is_asked(self, decision):
        (decision.folder / "file").write_text("")
        done = decision("run", *run("--backend", HONEST, "--report", "html=file/report.html"), code=2)
        assert "file/report.html" in done.stderr and done.stdout == ""

    def test_show_no_sample_that_a_judge_quotes_beyond_its_message(self, decision):
        done = decision("run", *run("--backend", "python:judges:quoting"), code=3)
        assert max(map(len, done.stdout.splitlines())) <= 100


class TestCheck:
    def check(self, decision, *arguments, **more):
        return decision("decision", "check", *arguments, **more)

    @pytest.mark.parametrize(
        ("judge", "sample", "code"),
        [("honest", judges.trace(1), 0), ("honest", judges.trace(1, good=False), 1), ("abstaining", judges.trace(1), 3),
         ("refusing", judges.trace(1), 3), ("quoting", judges.trace(1), 3), ("honest", {"outptu": "x"}, 3)],
    )  # fmt: skip
    def test_exits_by_the_verdict(self, decision, judge, sample, code):
        decision.write("trace.json", json.dumps(sample))
        self.check(decision, "trace.json", "-e", "grounded", "--backend", f"python:judges:{judge}", code=code)

    def test_one_that_failed_among_unmeasured_ones_is_a_failure(self, decision):
        text = "".join(json.dumps(s) + "\n" for s in (judges.trace(1, good=False), {"note": "nothing"}))
        decision.write("two.jsonl", text)
        self.check(decision, "two.jsonl", "-e", "grounded", "--backend", HONEST, code=1)

    @pytest.mark.parametrize(
        "text",
        [
            json.dumps(judges.trace(1)),
            json.dumps(judges.trace(1)["messages"]),
            json.dumps({"id": "r", "sample": judges.trace(1), "labels": {"grounded": True}}),
            json.dumps(judges.trace(1)) + "\n" + json.dumps(judges.trace(2)) + "\n",
        ],
        ids=["object", "messages", "row", "jsonl"],
    )
    def test_reads_standard_input(self, decision, text):
        done = self.check(decision, "-", "-e", "grounded", "--backend", HONEST, stdin=text)
        assert "1/1 claims supported" in done.stdout

    def test_says_which_of_several_samples_a_table_is_of(self, decision):
        done = self.check(decision, "rows.jsonl", "-e", "grounded", "--backend", HONEST, code=1)
        assert [line for line in done.stdout.splitlines() if line.startswith("rows.jsonl:")] == [
            f"rows.jsonl:{number}" for number in range(1, 13)
        ]

    def test_gives_json_a_line(self, decision):
        done = self.check(decision, "rows.jsonl", "-e", "grounded", "--backend", HONEST, "--json", code=1)
        told = list(map(json.loads, done.stdout.splitlines()))
        assert [each["sample"] for each in told][:2] == ["rows.jsonl:1", "rows.jsonl:2"]
        assert [each["passed"] for each in told][:2] == [False, True]
        assert told[0]["results"]["grounded"]["status"] == "measured"
        assert told[0]["models"] == ["toy-1"]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('{"output": ', "trace.json: no JSON"),
            ('{"output": "x"}\n{"outp\n', "trace.json:2: no JSON"),
            ("", "trace.json: no sample: it is empty"),
            (" \n\n", "trace.json: no sample: it is empty"),
        ],
    )
    def test_refuses_what_is_no_sample_before_it_asks(self, decision, text, said):
        decision.write("trace.json", text)
        done = self.check(decision, "trace.json", "-e", "grounded", "--backend", HONEST, code=2)
        assert said in done.stderr and done.stdout == ""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("nix.json", "-e", "pii"), "nix.json: cannot be read"),
            ((".", "-e", "pii"), "Is a directory"),
            (("trace.json", "-e", "pii", "--backend", "mocc"), "did you mean 'mock'"),
            (("trace.json", "-e", "piii"), "did you mean 'pii'"),
            (("trace.json", "-e", "grounded:threshold=x"), "a number is expected"),
            (("trace.json",), "--evals"),
        ],
    )
    def test_refuses_names_that_mean_nothing(self, decision, arguments, said):
        done = self.check(decision, *arguments, code=2)
        assert said in done.stderr and len(done.stderr.splitlines()) == 1

    def test_refuses_a_file_that_is_too_large_to_be_read_whole(self, decision):
        with (decision.folder / "huge.json").open("wb") as file:
            file.truncate((64 << 20) + 1)
        done = self.check(decision, "huge.json", "-e", "pii", code=2)
        assert "over 64 MiB" in done.stderr and "--data" in done.stderr

    def test_control_characters_of_a_sample_do_not_reach_the_terminal(self, decision):
        decision.write(
            "trace.json", json.dumps({**judges.trace(1), "output": "Order \x1b[2J\x1b]0;x\x07 was burnt by a fire."})
        )
        done = self.check(decision, "trace.json", "-e", "grounded", "--backend", HONEST, code=1)
        assert "\x1b" not in done.stdout and "\x07" not in done.stdout


class TestTheOtherCommands:
    def test_list_has_all_37(self, decision):
        told = json.loads(decision("decision", "list", "--json").stdout)
        assert len(told) == 37 and len({one["name"] for one in told}) == 37
        shown = decision("decision", "list").stdout
        assert "agent (13)" in shown and "security (13)" in shown and "quality (11)" in shown
        only = decision("decision", "list", "--category", "quality").stdout
        assert "faithfulness" in only and "grounded" not in only
        assert "'quality'" in decision("decision", "list", "--category", "quallity", code=2).stderr

    def test_describe_shows_what_is_asked_of_an_example(self, decision):
        for one in json.loads(decision("decision", "list", "--json").stdout):
            if one["name"] in ("grounded", "tool_call_risk", "pii", "custom_rubric", "trajectory_match"):
                told = json.loads(decision("decision", "describe", one["name"]).stdout)
                assert told["name"] == one["name"] and told["parameters"]
        told = json.loads(decision("decision", "describe", "grounded:threshold=0.9").stdout)
        assert told["parameters"]["threshold"]["value"] == 0.9
        assert "claims.c0" in json.dumps(told["example"]["questions"])

    @pytest.mark.parametrize(
        ("name", "said"), [("groundd", "did you mean 'grounded'"), ("all", "names 36 evals"), ("x.yaml", "x.yaml")]
    )
    def test_describe_refuses(self, decision, name, said):
        assert said in decision("decision", "describe", name, code=2).stderr

    def test_validate_has_a_line_for_each_file_of_a_folder(self, decision):
        noul = 'questions: {q: {type: noul, instructions: "Is it?"}}\n'
        decision.write("evals/a.yaml", f"name: a\n{noul}")
        decision.write("evals/b.yaml", f"name: b\ntreshold: 0.2\n{noul}")
        decision.write("evals/c.yml", f"name: c\n{noul}")
        done = decision("decision", "validate", "evals", code=2)
        lines = done.stdout.splitlines()
        assert [line.split()[0] for line in lines] == ["ok", "wrong", "ok"]
        assert "b.yaml:2: unknown key 'treshold' (did you mean 'threshold'?)" in lines[1]
        (decision.folder / "evals/b.yaml").unlink()
        decision("decision", "validate", "evals", code=0)
        decision.write("evals/d.yaml", f"name: a\n{noul}")
        assert "another eval is named 'a'" in decision("decision", "validate", "evals", code=2).stdout

    def test_the_schema_is_one_that_the_examples_fit(self, decision):
        import jsonschema

        schema = json.loads(decision("decision", "schema").stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        questions = {"q": {"type": "noul", "instructions": "Is it?"}}
        jsonschema.validate({"name": "a", "questions": questions}, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"name": "a", "questions": questions, "treshold": 1}, schema)

    def test_bench_tells_what_asking_takes(self, decision):
        told = json.loads(decision("decision", "bench", "--backend", "mock", "--n", "5", "--json").stdout)
        assert (told["samples"], told["evals"], told["requests"], told["results_measured"]) == (5, 4, 5, 20)
        assert told["cost_usd_per_1000"] == 0
        shown = decision("decision", "bench", "--backend", HONEST, "--n", "2", "--data", "rows.jsonl", "-e", "grounded")
        assert "results measured" in shown.stdout and "unknown" in shown.stdout

    def test_bench_with_a_backend_that_measures_nothing_ends_with_3(self, decision):
        decision("decision", "bench", "--backend", "python:judges:abstaining", "--n", "2", code=3)

    def test_a_command_that_is_unknown_is_refused_with_the_nearest(self, decision):
        assert "did you mean 'validate'" in decision("decision", "validat", code=2).stderr

    def test_describe_of_the_suite_tells_once_what_all_evals_share(self, decision):
        shown = decision("describe", "decision").stdout
        assert shown.count("  NAME.accuracy ") == 1 and "\n  grounded.accuracy " not in shown
        assert "NAME is one of tool_choice, argument_validity" in shown
        assert "[default: traces, rag]" in shown
        told = json.loads(decision("describe", "decision", "--json").stdout)
        assert "grounded.accuracy" in {each["name"] for each in told["measurements"]}

    def test_help_names_all_of_them(self, decision):
        shown = decision("decision", "--help").stdout
        for command in ("list", "describe", "check", "validate", "schema", "calibrate", "bench"):
            assert f"\n  {command} " in shown


def test_a_command_of_a_suite_that_cannot_be_imported_breaks_no_other(project, install):
    code = (
        "from attrs import frozen\nimport click, yb_toy\nfrom yb_eval import Suite, hookimpl\nYB_EVAL_API = 1\n"
        "@click.command()\ndef fine():\n    '''Fine.'''\n    click.echo('fine')\n"
        "@hookimpl\ndef yb_eval_suite():\n"
        "    return Suite(name='odd', summary='s', options=yb_toy.Options, build=yb_toy.build,\n"
        "                 commands={'fine': 'yb_odd:fine', 'broken': 'yb_odd_nowhere:x'})\n"
    )
    install("yb-odd", {"odd": "yb_odd"}, code)
    assert project("odd", "fine").stdout == "fine\n"
    assert "odd broken cannot be imported" in project("odd", "broken", code=2).stderr
    shown = project("odd", "--help").stdout
    assert "fine" in shown and "broken: the command odd broken cannot be imported" in " ".join(shown.split())
