"""`yb-eval run routing`, as the seed and the issue describe it: through the installed command."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from yb_eval_datasets import path
from yb_eval_routing.pipeline import Pipeline, reference_policy

GOLDEN = path("eval/golden_routing.jsonl")
PIPELINE = Pipeline(reference_policy())

PROMPTS = {
    "greet": "Hello there!",
    "fact": "What is the capital of France?",
    "code": "Write a Python function that merges two sorted lists and explain its complexity.",
    "proof": "Prove that there are infinitely many prime numbers, and derive every step rigorously.",
    "russian": "Объясни, чем отличается процесс от потока в операционной системе.",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |\n\nSum the columns.",
}

ROUTER = """
import json, sys
from yb_eval_routing.pipeline import Pipeline, reference_policy

PIPELINE = Pipeline(reference_policy())


def route(request):
    return {"tier": PIPELINE.route(request).tier}


def always_simple(request):
    return {"tier": "simple"}


def shy(request):
    return json.loads(ANSWERS.get(request["id"], '{"tier": "simple"}'))


ANSWERS = {}
if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(route(json.loads(line))), flush=True)
"""


def tier_of(prompt):
    return PIPELINE.route({"prompt": prompt}).tier


def golden_rows(**other_tiers):
    """A row for each of the prompts, on the tier the reference pipeline gives, but for those named."""
    for name, prompt in PROMPTS.items():
        yield {"id": name, "prompt": prompt, "tier": other_tiers.get(name, tier_of(prompt)), "tags": [f"kind:{name}"]}


def another(tier):
    return "simple" if tier != "simple" else "reasoning"


def suite_of(report):
    (suite,) = report["suites"]
    return suite


def values(report):
    return {name: entry["value"] for name, entry in suite_of(report)["measurements"].items()}


def outcomes_of(project, *arguments, code=0):
    project.report(*arguments, "--outcomes", "outcomes.jsonl", code=code)
    lines = (project.folder / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def one_line(done):
    lines = [line for line in done.stderr.splitlines() if line.startswith("yb-eval: ")]
    assert len(lines) == 1 and not done.stdout, (done.stdout, done.stderr)
    return lines[0]


@pytest.fixture
def routed(project):
    """The project with a router of its own."""
    project.write("router.py", ROUTER)
    return project


@pytest.fixture
def answers(routed):
    """Makes a target that answers requests by their id, as JSON text."""

    def make(said):
        routed.write("said.py", ROUTER.replace("ANSWERS = {}", f"ANSWERS = {said!r}"))
        return "python:said:shy"

    return make


# ------------------------------------------------------------------------------------------------ what the seed says


def test_default_run_holds_the_shipped_rows_to_their_tiers(project):
    report = project.report("routing")
    measured = values(report)
    count = len(GOLDEN.read_text(encoding="utf-8").splitlines())
    assert report["verdict"] == "pass"
    assert (measured["samples"], measured["mismatches"], measured["agreement"]) == (count, 0, 1.0)
    assert count >= 400
    assert measured["agreement"] > measured["length_only_agreement"] > 0
    assert 0 < measured["acceptable_rate"] <= 1
    assert suite_of(report)["details"]["beats"] == {"length_only_agreement": True, "best_constant_accuracy": True}


def test_a_golden_file_of_the_users_is_counted_against_its_own_tiers(project):
    wrong = {name: another(tier_of(PROMPTS[name])) for name in ("greet", "proof")}
    project.rows(golden_rows(**wrong), "mine.jsonl")
    report = project.report("routing", "--golden", "mine.jsonl", code=1)
    measured = values(report)
    assert (measured["samples"], measured["mismatches"], measured["mismatch_rate"]) == (6, 2, 2 / 6)
    failed = [gate for gate in suite_of(report)["gates"] if gate["verdict"] == "fail"]
    assert [gate["gate"] for gate in failed] == ["mismatches <= 0"]
    assert project.report("routing", "--golden", "mine.jsonl", "--max-mismatch", 2)["verdict"] == "pass"
    assert project.report("routing", "--golden", "mine.jsonl", "--max-mismatch", 1, code=1)["verdict"] == "fail"


def test_direction_of_a_mismatch_and_its_cost_are_told_apart(project):
    rows = [{"id": "up", "prompt": PROMPTS["proof"], "tier": "simple"}]
    project.rows(rows)
    up = values(project.report("routing", "--golden", "rows.jsonl", code=1))
    assert (up["up_tier_rate"], up["down_tier_rate"]) == (1.0, 0.0) and up["cost_change"] > 0
    project.rows([{"id": "down", "prompt": PROMPTS["greet"], "tier": "reasoning"}])
    down = values(project.report("routing", "--golden", "rows.jsonl", code=1))
    assert (down["up_tier_rate"], down["down_tier_rate"]) == (0.0, 1.0) and -1 < down["cost_change"] < 0


def test_acceptable_tiers_do_not_hide_a_mismatch(project):
    tier = tier_of(PROMPTS["fact"])
    project.rows([{"id": "a", "prompt": PROMPTS["fact"], "tier": another(tier), "acceptable": [tier]}])
    measured = values(project.report("routing", "--golden", "rows.jsonl", code=1))
    assert (measured["mismatches"], measured["acceptable_rate"]) == (1, 1.0)


def test_agreement_is_sliced_by_tag(project):
    project.rows(golden_rows(code=another(tier_of(PROMPTS["code"]))))
    measured = values(project.report("routing", "--golden", "rows.jsonl", "--max-mismatch", 1))
    assert (measured["agreement[kind:code]"], measured["agreement[kind:greet]"]) == (0.0, 1.0)


# ---------------------------------------------------------------------------------------------------------- baselines


def test_save_without_a_path_writes_the_suites_baseline_and_against_finds_nothing_changed(project):
    project.rows(golden_rows())
    project.report("routing", "--golden", "rows.jsonl", "--save")
    saved = project.folder / "datasets/eval/routing_baseline.json"
    assert saved.is_file()
    report = project.report("routing", "--golden", "rows.jsonl", "--against", saved)
    assert (values(report)["changed"], values(report)["mismatches"]) == (0, 0)
    assert suite_of(report)["details"]["changed_rows"] == []


def test_with_against_the_limit_counts_rows_that_differ_from_the_baseline(routed):
    """The golden tiers are wrong twice, and that is old news; the change under test moves other rows."""
    wrong = {name: another(tier_of(PROMPTS[name])) for name in ("greet", "proof")}
    routed.rows(golden_rows(**wrong))
    golden = ("routing", "--golden", "rows.jsonl")
    routed.report(*golden, "--max-mismatch", 2, "--save", "base.json")
    same = routed.report(*golden, "--against", "base.json", "--max-mismatch", 0)
    assert (values(same)["changed"], values(same)["mismatches"]) == (0, 2), "both counts are reported"
    moved = sum(tier_of(prompt) != "simple" for prompt in PROMPTS.values())
    assert moved >= 3
    constant = (*golden, "--against", "base.json", "--target", "python:router:always_simple")
    changed = routed.report(*constant, "--max-mismatch", moved - 1, code=1)
    assert values(changed)["changed"] == moved
    assert f"changed <= {moved - 1}" in [g["gate"] for g in suite_of(changed)["gates"] if g["verdict"] == "fail"]
    assert sorted(suite_of(changed)["details"]["changed_rows"]) == sorted(
        name for name, prompt in PROMPTS.items() if tier_of(prompt) != "simple"
    )
    assert routed.report(*constant, "--max-mismatch", moved)["verdict"] == "pass"


def test_without_against_the_limit_counts_rows_that_differ_from_the_golden_tier(routed):
    routed.rows(golden_rows())
    moved = sum(tier_of(prompt) != "simple" for prompt in PROMPTS.values())
    arguments = ("routing", "--golden", "rows.jsonl", "--target", "python:router:always_simple")
    assert values(routed.report(*arguments, "--max-mismatch", moved))["mismatches"] == moved
    assert routed.report(*arguments, "--max-mismatch", moved - 1, code=1)["verdict"] == "fail"


def test_a_failed_run_does_not_replace_the_baseline(routed):
    routed.rows(golden_rows())
    routed.report("routing", "--golden", "rows.jsonl", "--save", "base.json")
    before = (routed.folder / "base.json").read_bytes()
    arguments = ("routing", "--golden", "rows.jsonl", "--target", "python:router:always_simple")
    routed("run", *arguments, "--save", "base.json", code=None)
    assert (routed.folder / "base.json").read_bytes() == before


# --------------------------------------------------------------------------------------------------------------- rows


def test_rows_with_messages_with_metadata_and_without_an_id(project):
    conversation = [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": PROMPTS["proof"]},
        {"role": "assistant", "content": "Suppose there were finitely many."},
        {"role": "user", "content": "Thanks!"},
    ]
    tools = {"tools": [{"name": "search"}] * 3, "max_tokens": 50}
    requests = [{"messages": conversation}, {"prompt": PROMPTS["code"], "metadata": tools}, {"prompt": "Hi"}]
    project.rows({**request, "tier": PIPELINE.route(request).tier} for request in requests)
    outcomes = outcomes_of(project, "routing", "--golden", "rows.jsonl")
    assert [outcome["correct"] for outcome in outcomes] == [True, True, True]
    ids = [outcome["id"] for outcome in outcomes]
    assert len(set(ids)) == 3 and all(sample.startswith("x-") for sample in ids)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"prompt": "Hi", "tier": "simpel"}, "rows.jsonl:2: the row 'bad' has the tier 'simpel'"),
        ({"prompt": "Hi", "tier": "simple", "acceptable": ["huge"]}, "rows.jsonl:2: the row 'bad' has the tier 'huge'"),
        ({"prompt": "Hi"}, "rows.jsonl:2"),
        ({"prompt": "", "tier": "simple"}, "rows.jsonl:2"),
        ({"tier": "simple"}, "rows.jsonl:2"),
        ({"prompt": "Hi", "messages": [{"role": "user", "content": "Hi"}], "tier": "simple"}, "rows.jsonl:2"),
        ({"prompt": "Hi", "tier": "simple", "metadata": [1]}, "rows.jsonl:2"),
        ({"prompt": "Hi", "tier": "simple", "teir": "simple"}, "rows.jsonl:2"),
        ({"messages": [{"role": "system", "content": "Be terse."}], "tier": "simple"}, "rows.jsonl:2"),
        ({"messages": [{"content": "no role"}], "tier": "simple"}, "rows.jsonl:2"),
        ({"prompt": "Hi", "metadata": {"max_tokens": -1}, "tier": "simple"}, "rows.jsonl:2"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(project, row, said):
    project.rows([{"id": "good", "prompt": "Hi", "tier": "simple"}, {"id": "bad", **row}])
    assert said in one_line(project("run", "routing", "--golden", "rows.jsonl", code=2))


def test_row_order_changes_no_outcome_and_no_measurement(project):
    rows = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    project.rows(rows)
    forward = {o["id"]: o for o in outcomes_of(project, "routing", "--golden", "rows.jsonl")}
    first = project.report("routing", "--golden", "rows.jsonl")
    project.rows(reversed(rows))
    backward = {o["id"]: o for o in outcomes_of(project, "routing", "--golden", "rows.jsonl")}
    second = project.report("routing", "--golden", "rows.jsonl")
    assert forward == backward
    assert suite_of(first)["measurements"] == suite_of(second)["measurements"]


# ------------------------------------------------------------------------------------------------------------ targets


@pytest.fixture
def service():
    """The reference pipeline behind HTTP."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps({"tier": PIPELINE.route(request).tier}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/route"
    server.shutdown()
    server.server_close()
    thread.join()


def test_one_router_gives_the_same_outcomes_through_every_kind_of_target(routed, service):
    routed.rows(golden_rows(proof="simple"))
    arguments = ("routing", "--golden", "rows.jsonl", "--max-mismatch", 1)
    python = outcomes_of(routed, *arguments, "--target", "python:router:route", "--record", "answers.jsonl")
    assert [outcome["predicted"] for outcome in python] == [tier_of(prompt) for prompt in PROMPTS.values()]
    for target in (f"exec:{sys.executable} router.py", service, "replay:answers.jsonl"):
        assert outcomes_of(routed, *arguments, "--target", target) == python, target
    builtin = outcomes_of(routed, *arguments)
    assert [(o["id"], o["predicted"], o["correct"]) for o in builtin] == [
        (o["id"], o["predicted"], o["correct"]) for o in python
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"tier": "medium-rare"}', "medium-rare"),
        ('{"tier": 3}', "tier"),
        ('{"tier": null}', "tier"),
        ("{}", "tier"),
        ("[]", "object"),
        ('"simple"', "object"),
        ('{"tier": "simple", "score": "high"}', "score"),
        ('{"tier": "simple", "cost_usd": true}', "cost_usd"),
        ('{"tier": "simple", "cost_usd": -1}', "cost_usd"),
        ('{"tier": "simple", "model": 7}', "model"),
        ('{"tier": "simple", "signals": [1]}', "object"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_an_error_and_the_run_is_not_measured(routed, answers, answer, said):
    routed.rows([{"id": "good", "prompt": "Hi", "tier": "simple"}, {"id": "bad", "prompt": "Hello", "tier": "simple"}])
    arguments = ("routing", "--golden", "rows.jsonl", "--target", answers({"bad": answer}))
    report = routed.report(*arguments, code=3)
    assert suite_of(report)["counts"] == {"samples": 2, "scored": 1, "error": 1, "skipped": 0, "wrong": 0}
    assert (report["verdict"], values(report)["mismatches"]) == ("unmeasured", 0)
    good, bad = outcomes_of(routed, *arguments, code=3)
    assert (good["status"], bad["status"], bad["correct"]) == ("scored", "error", None)
    assert said in bad["reason"]


def test_optional_parts_of_an_answer_are_kept(routed, answers):
    routed.rows([{"id": "a", "prompt": "Hi", "tier": "simple"}])
    said = {"tier": "simple", "score": 0.2, "model": "tiny", "cost_usd": 0.5, "signals": {"greeting": 1}}
    (outcome,) = outcomes_of(routed, "routing", "--golden", "rows.jsonl", "--target", answers({"a": json.dumps(said)}))
    assert {key: outcome["details"][key] for key in ("score", "model", "signals")} == {
        "score": 0.2, "model": "tiny", "signals": {"greeting": 1},
    }  # fmt: skip
    assert outcome["details"]["cost_usd"] != 0.5, "costs are compared at the policy's prices, not at the router's word"


def test_a_router_that_always_says_the_same_is_flagged(routed):
    routed.rows(golden_rows())
    arguments = ("routing", "--golden", "rows.jsonl", "--target", "python:router:always_simple", "--max-mismatch", 6)
    report = routed.report(*arguments)
    measured = values(report)
    assert (measured["max_share"], measured["entropy"], measured["share[simple]"]) == (1.0, 0.0, 1.0)
    assert suite_of(report)["details"]["near_constant"] is True
    warned = [gate for gate in suite_of(report)["gates"] if gate["severity"] == "warn"]
    assert [(gate["gate"], gate["verdict"]) for gate in warned] == [("max_share <= 0.9", "fail")]
    assert "max_share <= 0.9" in routed("run", *arguments).stdout


# ------------------------------------------------------------------------------------------------- policy, robustness


def reference_policy_text():
    from importlib.resources import files

    return (files("yb_eval_routing") / "policy.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("start = 0.35", "start = 0.10", "start"),
        ('model = "large"', 'model = "lorge"', "lorge"),
        ("input_usd_per_million = 3.00\n", "", "large"),
        ('name = "complex"', 'name = "medium"', "medium"),
        ("schema = 1", "schema = ", "line"),
    ],
)
def test_a_bad_policy_is_refused_in_one_line(project, before, after, said):
    text = reference_policy_text()
    assert before in text
    project.write("policy.toml", text.replace(before, after, 1))
    line = one_line(project("run", "routing", "--policy", "policy.toml", code=2))
    assert "policy.toml" in line and said in line


def test_another_policy_moves_rows_and_the_plan(project):
    project.write("policy.toml", reference_policy_text().replace("start = 0.15", "start = 0.30", 1))
    arguments = ("routing", "--max-mismatch", 1_000)
    reference, other = project.report(*arguments), project.report(*arguments, "--policy", "policy.toml")
    assert reference["plan_id"] != other["plan_id"]
    assert values(reference)["mismatches"] == 0
    assert values(other)["down_tier_rate"] > 0 == values(other)["up_tier_rate"]


def test_robustness_asks_in_other_words_and_gates_it(project):
    report = project.report("routing", "--robustness")
    measured = values(report)
    assert measured["robustness"] >= 0.9 and measured["mismatches"] == 0
    assert {name for name in measured if name.startswith("kept[")} == {
        "kept[case]", "kept[greeting]", "kept[paraphrase]", "kept[punctuation]", "kept[space]",
    }  # fmt: skip
    assert "robustness >= 0.9" in [gate["gate"] for gate in suite_of(report)["gates"]]


def test_robustness_finds_a_router_that_minds_the_wording(project):
    project.write(
        "touchy.py",
        'def route(request):\n    text = request["prompt"]\n'
        '    return {"tier": "reasoning" if text.isupper() else "simple"}\n',
    )
    project.rows({"id": name, "prompt": prompt, "tier": "simple"} for name, prompt in PROMPTS.items())
    arguments = ("routing", "--golden", "rows.jsonl", "--robustness", "--target", "python:touchy:route")
    report = project.report(*arguments, code=1)
    assert values(report)["kept[case]"] == 0.0 and values(report)["kept[space]"] == 1.0
    assert values(report)["mismatches"] == 0


def test_robustness_against_a_baseline_limits_changed_tiers(routed):
    routed.rows(golden_rows())
    golden = ("routing", "--golden", "rows.jsonl", "--robustness", "--min-robustness", 0)
    routed.report(*golden, "--save", "base.json")
    assert values(routed.report(*golden, "--against", "base.json"))["tier.changed"] == 0
    moved = routed.report(*golden, "--against", "base.json", "--target", "python:router:always_simple", code=1)
    assert values(moved)["tier.changed"] > 0


def test_describe_shows_options_measurements_gates_and_both_schemas(project):
    said = project("describe", "routing").stdout
    for word in (
        "--golden",
        "--max-mismatch",
        "mismatches",
        "cost_change",
        "length_only_agreement",
        '"prompt"',
        '"tier"',
    ):
        assert word in said
    assert "block: mismatches <= 0" in said


@pytest.mark.parametrize("jobs", [("--jobs", "4"), ("--jobs", "2", "--executor", "processes"), ("--batch-size", "1")])
def test_concurrency_changes_nothing(project, jobs):
    assert project.report("routing", *jobs)["run_id"] == project.report("routing")["run_id"]


def test_a_baseline_of_a_plain_run_cannot_be_held_against_a_robustness_run(routed):
    routed.rows(golden_rows())
    golden = ("routing", "--golden", "rows.jsonl")
    routed.report(*golden, "--save", "base.json")
    arguments = (*golden, "--robustness", "--min-robustness", 0, "--against", "base.json")
    report = routed.report(*arguments, "--target", "python:router:always_simple", code=None)
    assert report["verdict"] != "pass"
