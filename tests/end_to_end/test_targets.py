"""Targets as a user names them: answers kept, recorded, replayed; failures that are no misses."""

import json

import pytest

ROUTER = """
calls = []

def answer(request):
    open("calls.txt", "a").write(request["id"] + "\\n")
    return {"parity": "even" if len(request["text"]) % 2 == 0 else "odd"}

def batch(requests):
    return [answer(request) for request in requests]
batch.batch = True

def nan(request):
    return {"parity": float("nan")}

def unknown(request):
    return {"parity": "evn"}

def random_word(request):
    import os
    return {"parity": "even" if os.urandom(1)[0] % 2 else "odd"}
"""


@pytest.fixture
def bot(project, parity_rows):
    project.write("bot.py", ROUTER)
    project.rows(parity_rows(20))
    project.write(
        "loop.py",
        "import sys, json, bot\nfor line in sys.stdin:\n    print(json.dumps(bot.answer(json.loads(line))), flush=True)\n",
    )
    return project


def calls(project):
    path = project.folder / "calls.txt"
    return path.read_text().splitlines() if path.exists() else []


def test_the_same_system_gives_the_same_outcomes_however_it_is_reached(bot):
    import sys

    logs = set()
    for target in ("python:bot:answer", "python:bot:batch", f"exec:{sys.executable} loop.py"):
        report = bot.report("toy", "--target", target, "--jobs", 2)
        logs.add(report["suites"][0]["outcomes"]["sha256"])
        assert report["verdict"] == "pass"
    assert len(logs) == 1


def test_cached_answers_are_counted_shown_and_not_another_target_s(bot):
    first = bot("run", "toy", "--target", "python:bot:answer", "--cache")
    assert "toy: 0 of 20 answers came from the cache" in first.stderr and len(calls(bot)) == 20
    again = bot("run", "toy", "--target", "python:bot:answer", "--cache", "--note", "x")
    assert "toy: 20 of 20 answers came from the cache" in again.stderr and len(calls(bot)) == 20
    other = bot("run", "toy", "--target", "python:bot:batch", "--cache")
    assert "toy: 0 of 20" in other.stderr and len(calls(bot)) == 40
    thrice = bot("run", "toy", "--target", "python:bot:answer", "--cache", "--repeats", 3)
    assert "toy: 20 of 60" in thrice.stderr, "a repeat is a question of its own"


def test_a_recording_replays_to_the_same_outcomes(bot):
    live = bot.report("toy", "--target", "python:bot:answer", "--record", "tape.jsonl")
    (bot.folder / "bot.py").unlink()
    replayed = bot.report("toy", "--replay", "tape.jsonl")
    assert replayed["suites"][0]["outcomes"] == live["suites"][0]["outcomes"]
    lines = (bot.folder / "tape.jsonl").read_text().splitlines()
    bot.write("tape.jsonl", "\n".join(lines[:-1]) + "\n")
    report = bot.report("toy", "--replay", "tape.jsonl", code=3)
    assert report["suites"][0]["counts"]["error"] == 1


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("python:bot:nan", "nan"),
        ("python:bot:unknown", "evn"),
        ("exec:false", "exit"),
        ("exec:echo hello", "hello"),
        ("http://127.0.0.1:9/route", "connect"),
    ],
)
def test_a_target_that_fails_gives_errors_that_say_what_came_back(bot, target, said):
    report = bot.report("toy", "--target", target, "--outcomes", "out.jsonl", "--retries", 0, "--limit", 3, code=3)
    assert report["suites"][0]["counts"] == {"samples": 3, "scored": 0, "error": 3, "skipped": 0, "wrong": 0}
    reasons = [json.loads(line)["reason"] for line in (bot.folder / "out.jsonl").read_text().splitlines()]
    assert all(said.lower() in reason.lower() for reason in reasons), reasons


def test_repeats_measure_pass_at_k_and_list_what_is_flaky(bot):
    report = bot.report("toy", "--target", "python:bot:random_word", "--repeats", 4, "--min-accuracy", 0)
    measured = report["suites"][0]["measurements"]
    assert measured["pass_hat[4]"]["value"] < measured["pass_at[1]"]["value"] < measured["pass_at[4]"]["value"]
    assert measured["flaky_rate"]["details"]["ids"]
    assert measured["accuracy"]["n"] == 20, "repeats of a sample are no new samples"
    assert report["suites"][0]["outcomes"]["count"] == 80


def test_a_deterministic_suite_that_is_not_is_told(bot):
    code = (
        (bot.site / "yb_toy.py")
        .read_text()
        .replace('"even" if len(request["text"]) % 2 == 0 else "odd"', '"even" if os.urandom(1)[0] % 2 else "odd"')
    )
    (bot.site / "yb_toy.py").write_text(code)
    for _ in range(5):
        report = bot.report("toy", "--min-accuracy", 0)
    assert any("not deterministic" in note for note in report["suites"][0]["notes"])
