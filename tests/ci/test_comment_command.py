"""`yb-eval comment`: one comment, found by its marker, updated, never duplicated, whatever the forge does."""

import json
import threading
import time

import pytest

MARKER = "<!-- yb-eval -->"


def comment(project, environment, *arguments, code=0, **more):
    done = project("comment", *arguments, code=code, **{**environment, **more})
    assert environment.get("GITHUB_TOKEN", "?") not in done.stdout + done.stderr
    return done


def fail_the_gate(project, rows):
    project.rows(rows(20, wrong=9))
    project("run", "toy", code=1)


def test_the_first_run_creates_the_comment(ran, forge, github):
    done = comment(ran, github)
    (text,) = forge.texts()
    assert text.startswith(f"{MARKER}\n") and "yb-eval: pass" in text
    assert "acme/router#7: created https://forge.invalid/comments/" in done.stderr and done.stdout == ""


def test_a_later_run_updates_it(ran, forge, github, rows):
    comment(ran, github)
    (first,) = forge.comments
    fail_the_gate(ran, rows)
    done = comment(ran, github, GITHUB_RUN_ID="101")
    assert [c["id"] for c in forge.comments] == [first["id"]] and "yb-eval: fail" in forge.texts()[0]
    assert "updated" in done.stderr


def test_the_same_text_is_not_sent_again(ran, forge, github):
    comment(ran, github)
    assert "unchanged" in comment(ran, github).stderr
    assert len(forge.asked("POST")) == 1 and forge.asked("PATCH") == []


def test_the_token_goes_into_a_header_and_nowhere_else(ran, forge, github):
    comment(ran, github)
    assert {headers["authorization"] for headers in forge.headers} == {f"Bearer {github['GITHUB_TOKEN']}"}
    assert not any(github["GITHUB_TOKEN"] in path for _, path in forge.requests)


@pytest.mark.parametrize(("cap", "links"), [(100, True), (100, False), (30, True)])
def test_the_comment_is_found_on_a_later_page(ran, forge, github, links, cap):
    forge.page_cap, forge.links = cap, links
    for number in range(230):
        forge.comment(f"comment {number}", {"login": "someone", "type": "User"})
    mine = forge.comment(f"{MARKER}\nold")
    comment(ran, github)
    assert len(forge.comments) == 231 and "pass" in mine["body"] and forge.asked("POST") == []


def test_another_persons_comment_with_the_marker_is_not_touched(ran, forge, github):
    forge.comment(f"{MARKER}\nforged: all is well", {"login": "mallory", "type": "User"})
    forge.comment(f"quoted: {MARKER}")
    forge.comment(f"{MARKER}\nof an account that is no more", user={"login": "ghost", "type": "User"})
    comment(ran, github)
    assert len(forge.comments) == 4 and forge.comments[0]["body"].endswith("all is well")


def test_with_a_personal_token_mine_are_those_of_my_login(ran, forge, github):
    forge.me = {"login": "release-person", "type": "User"}
    forge.comment(f"{MARKER}\nof another bot")
    comment(ran, github)
    comment(ran, github, GITHUB_RUN_ID="101")
    assert [c["user"]["login"] for c in forge.comments] == ["github-actions[bot]", "release-person"]


def test_duplicates_of_earlier_accidents_are_removed_and_the_oldest_kept(ran, forge, github):
    kept = forge.comment(f"{MARKER}\none")
    forge.comment(f"{MARKER}\ntwo")
    forge.comment(f"{MARKER}\nthree")
    assert "2 duplicate(s) removed" in comment(ran, github).stderr
    assert forge.comments == [kept] and "pass" in kept["body"]


def test_jobs_that_run_at_once_end_with_one_comment(ran, forge, github):
    """Each lists before any has created: all of them find nothing, and all create."""
    jobs = 4
    everybody = threading.Barrier(jobs)
    first = threading.Semaphore(jobs)

    def wait_for_all(method, path):
        if method == "GET" and "/comments" in path and first.acquire(blocking=False):
            everybody.wait(timeout=60)

    forge.after = wait_for_all
    threads = [threading.Thread(target=comment, args=(ran, github)) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert len(forge.asked("POST")) == jobs, "the test means to make them collide"
    assert len(forge.comments) == 1 and "yb-eval: pass" in forge.texts()[0]


def test_a_comment_that_is_deleted_while_it_is_updated_is_made_again(ran, forge, github):
    forge.comment(f"{MARKER}\nold")

    def delete(method, path):
        if method == "PATCH" and len(forge.asked("PATCH")) == 0:
            forge.comments.clear()

    forge.before = delete
    comment(ran, github)
    assert len(forge.comments) == 1 and "pass" in forge.texts()[0]


def test_an_older_run_that_ends_late_does_not_overwrite_a_later_one(ran, forge, github, rows):
    comment(ran, github, GITHUB_RUN_ID="200")
    fail_the_gate(ran, rows)
    assert "a later run has commented" in comment(ran, github, GITHUB_RUN_ID="199").stderr
    assert "yb-eval: pass" in forge.texts()[0]
    comment(ran, github, GITHUB_RUN_ID="200", GITHUB_RUN_ATTEMPT="2")
    assert "yb-eval: fail" in forge.texts()[0]


def test_comments_with_different_ids_do_not_meet(ran, forge, github):
    comment(ran, github, "--id", "nightly")
    comment(ran, github)
    comment(ran, github, "--id", "nightly")
    assert sorted(text.split("\n")[0] for text in forge.texts()) == [MARKER, "<!-- yb-eval: nightly -->"]
    assert "cannot name" in comment(ran, github, "--id", "x --> <b>", code=2).stderr


# ----------------------------------------------------------------------------------------------- what a forge refuses


def test_a_fork_may_not_comment_and_the_report_goes_into_the_summary(ran, forge, github):
    forge.read_only = True
    done = comment(ran, github)
    summary = (ran.folder / "summary.md").read_text()
    assert "pull request from a fork" in summary and "yb-eval: pass" in summary and MARKER in summary
    assert "pull request from a fork" in done.stderr and "in the job's summary" in done.stderr
    assert forge.comments == [] and len(forge.asked("POST")) == 1, "a permission that is missing is not asked for twice"


def test_a_summary_that_shows_the_report_already_is_told_the_reason_only(ran, forge, github):
    forge.read_only = True
    comment(ran, github, "--in-summary")
    summary = (ran.folder / "summary.md").read_text()
    assert "pull request from a fork" in summary and "yb-eval: pass" not in summary


def test_without_a_summary_a_comment_that_may_not_be_is_a_failure(ran, forge, github):
    forge.read_only = True
    del github["GITHUB_STEP_SUMMARY"]
    assert "HTTP 403: Resource not accessible" in comment(ran, github, code=3).stderr


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_a_passing_outage_is_waited_out(ran, forge, github, status):
    forge.fail(3, status, message="a bad day")
    comment(ran, github)
    assert len(forge.comments) == 1


def test_a_created_comment_whose_answer_was_lost_is_not_duplicated(ran, forge, github):
    forge.fail(1, 502, method="POST", after=True)
    comment(ran, github)
    assert len(forge.asked("POST")) == 2 and len(forge.comments) == 1


def test_a_lasting_outage_ends_with_3_and_the_report_in_the_summary(ran, forge, github):
    forge.fail(100, 503, message="down")
    done = comment(ran, github, code=3)
    assert "HTTP 503: down (5 attempts)" in done.stderr and len(forge.requests) == 5
    assert "yb-eval: pass" in (ran.folder / "summary.md").read_text()


def test_no_server_at_all_is_an_outage(ran, forge, github):
    forge.close()
    assert "no answer" in comment(ran, github, "--attempts", "2", code=3).stderr


@pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        (403, {"retry-after": "0"}, "slow down"),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, "API rate limit exceeded"),
        (403, {}, "You have exceeded a secondary rate limit"),
        (429, {"retry-after": "0"}, "Too many"),
    ],
)
def test_rate_limits_are_waited_out_and_are_no_missing_permission(ran, forge, github, status, headers, message):
    forge.fail(2, status, headers=headers, message=message)
    comment(ran, github)
    assert len(forge.comments) == 1 and (ran.folder / "summary.md").read_text() == ""


def test_a_rate_limit_of_an_hour_is_not_waited_for(ran, forge, github):
    reset = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 3600)}
    forge.fail(100, 403, headers=reset, message="API rate limit exceeded")
    done = comment(ran, github, code=3)
    assert "rate limit, for another" in done.stderr and len(forge.requests) == 1


def test_a_text_that_the_forge_finds_too_long_is_shortened_further(ran, forge, github):
    forge.limit = 17_000
    long_report(ran, github)
    comment(ran, github, "report.json")
    assert len(forge.bodies) == 2 and len(forge.bodies[0]) > 17_000 >= len(forge.bodies[1])
    assert forge.texts()[0].startswith(MARKER) and "Left out to fit" in forge.texts()[0]


def test_what_stays_rejected_is_a_failure_that_says_why(ran, forge, github):
    forge.limit = 10
    done = comment(ran, github, code=3)
    assert "HTTP 422: Validation Failed; Body is too long" in done.stderr
    assert "yb-eval: pass" in (ran.folder / "summary.md").read_text()


def test_a_wrong_token_is_said_to_be_one(ran, forge, github):
    forge.fail(1, 401, message=f"Bad credentials {github['GITHUB_TOKEN']}")
    assert "Bad credentials ***" in comment(ran, github, code=3).stderr


# ------------------------------------------------------------------------------------------------------- long reports


def long_report(project, environment):
    """A report whose Markdown is over 70,000 characters: many suites that each have much to say."""
    document = json.loads(project("show", "--format", "json").stdout)
    (suite,) = document["suites"]
    suite["measurements"] |= {
        f"accuracy[kind:{'x' * 60}{i}]": {"value": 0.25, "n": 4, "interval": [0.1, 0.6], "reason": None}
        for i in range(12)
    }
    suite["notes"] = [f"note {i} " + "words " * 40 for i in range(20)]
    document["suites"] = [{**suite, "name": f"toy-{i:02}"} for i in range(14)]
    project.write("report.json", json.dumps(document))
    from yb_eval.reports import RunView
    from yb_eval.reports.markdown import markdown

    return "".join(markdown(RunView(document=document), limit=10**9))


def test_a_body_of_70_000_characters_loses_whole_sections_and_keeps_its_marker(ran, forge, github):
    assert len(long_report(ran, github)) > 70_000
    comment(ran, github, "report.json")
    (text,) = forge.texts()
    assert len(text) <= 65_536 and text.startswith(f"{MARKER}\n")
    assert "Left out to fit" in text and text.count("<details") == text.count("</details>")
    assert "toy-13" in text and text.rstrip().endswith("</sub>"), "head and tail stay"


# ------------------------------------------------------------------------------------------------- where, and what of


def test_a_push_has_nothing_to_comment_on_and_that_is_no_failure(ran, forge, github):
    ran.write("event.json", json.dumps({"ref": "refs/heads/main"}))
    assert "not of a pull request" in comment(ran, github).stderr
    assert forge.requests == []


def test_outside_a_ci_the_place_is_given(ran, forge, github):
    token = {key: github[key] for key in ("GITHUB_TOKEN", "GITHUB_API_URL")}
    assert "neither GitHub Actions nor GitLab" in comment(ran, token, code=2).stderr
    comment(ran, token, "--forge", "github", "--repository", "acme/router", "--number", "7")
    assert len(forge.comments) == 1
    done = comment(ran, token, "--forge", "github", "--repository", "../../user", "--number", "7", code=2)
    assert "not a repository" in done.stderr


def test_a_workflow_run_finds_the_forks_pull_request_by_its_head(ran, forge, github):
    """Neither the payload nor an artifact of the fork says which: the API does."""
    run = {"head_sha": "c0ffee", "head_branch": "patch", "head_repository": {"owner": {"login": "forker"}}}
    ran.write("event.json", json.dumps({"workflow_run": {**run, "pull_requests": []}}))
    assert "no pull request that is open" in comment(ran, github).stderr
    for number, sha in ((6, "0ther"), (7, "c0ffee")):
        forge.pulls.append({"number": number, "head": {"sha": sha, "ref": "patch", "user": {"login": "forker"}}})
    comment(ran, github)
    assert forge.asked("POST") == ["/repos/acme/router/issues/7/comments"]


def test_without_a_token_nothing_is_tried(ran, forge, github):
    del github["GITHUB_TOKEN"]
    assert "set GITHUB_TOKEN or GH_TOKEN" in comment(ran, github, code=2).stderr
    assert forge.requests == []


def test_a_token_is_not_sent_unencrypted_to_another_machine(ran, github):
    assert "unencrypted" in comment(ran, github, code=2, GITHUB_API_URL="http://forge.invalid/api").stderr


def test_a_dry_run_prints_the_comment_and_sends_nothing(ran, forge, github):
    assert comment(ran, github, "--dry-run").stdout.startswith(MARKER)
    assert forge.requests == []


def test_a_report_from_a_file_takes_the_outcomes_beside_it_if_they_are_its_own(project, forge, github, rows):
    project.rows(rows(20, wrong=3))
    project("run", "toy", "--report", "json=out/report.json", "--outcomes", "out/outcomes/toy.jsonl", code=1)
    assert "expected odd" in comment(project, github, "out/report.json", "--dry-run").stdout
    log = project.folder / "out" / "outcomes" / "toy.jsonl"
    log.write_text(log.read_text().replace('"odd"', '"forged"'))
    done = comment(project, github, "out/report.json", "--dry-run")
    assert "forged" not in done.stdout and "not the outcome log that the report is of" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"schema": "yb-eval/report/2"}',
        '{"schema": "yb-eval/report/1"}',
        '{"schema": "yb-eval/report/1", "verdict": "great", "suites": []}',
        '{"schema": "yb-eval/report/1", "verdict": "pass", "suites": [1]}',
        '{"schema": "yb-eval/report/1", "verdict": ["pass"], "suites": {"a": 1}}',
    ],
)
def test_a_hostile_report_is_one_line_and_nothing_is_sent(ran, forge, github, text):
    ran.write("bad.json", text)
    done = comment(ran, github, "bad.json", code=2)
    assert len(done.stderr.splitlines()) == 1 and forge.requests == []


def test_a_report_may_not_name_its_way_to_other_files(ran, github):
    document = json.loads(ran("show", "--format", "json").stdout)
    document["suites"][0]["name"] = "../../secret"
    ran.write("out/report.json", json.dumps(document))
    ran.write("secret.jsonl", '{"id": "leak"}\n')
    assert "leak" not in comment(ran, github, "out/report.json", "--dry-run").stdout


def test_a_refused_run_replaces_the_comment_that_said_all_is_well(ran, forge, github):
    comment(ran, github)
    ran.write("refused.txt", "exit code 2\nyb-eval: rows.jsonl:3: <script> @someone `x`\n\n")
    comment(ran, github, "--refused", "refused.txt", GITHUB_RUN_ID="101")
    (text,) = forge.texts()
    assert text.startswith(MARKER) and "no verdict" in text and "yb-eval: pass" not in text
    assert "<script>" not in text and "@someone" not in text


# ------------------------------------------------------------------------------------------------------------- GitLab


def test_gitlab_notes_are_created_updated_and_settled(ran, forge, gitlab, rows):
    forge.comment(f"{MARKER}\nforged", {"id": 9, "username": "mallory"})
    forge.comment(f"{MARKER}\nsystem", {"id": 5}, system=True)
    comment(ran, gitlab)
    comment(ran, gitlab)
    forge.comment(f"{MARKER}\ntwin", {"id": 5})
    fail_the_gate(ran, rows)
    done = comment(ran, gitlab, CI_PIPELINE_ID="101")
    assert "42!7: updated, 1 duplicate(s) removed" in done.stderr
    mine = [c for c in forge.comments if c["author"]["id"] == 5 and not c.get("system")]
    assert len(mine) == 1 and "yb-eval: fail" in mine[0]["body"]
    assert {headers["private-token"] for headers in forge.headers} == {gitlab["GITLAB_TOKEN"]}
    assert forge.asked("PUT") and not forge.asked("PATCH")


def test_a_gitlab_project_may_be_given_by_its_path(ran, forge, gitlab):
    comment(ran, gitlab, "--repository", "group/sub/router", "--number", "8")
    assert forge.asked("POST") == ["/projects/group%2Fsub%2Frouter/merge_requests/8/notes"]


def test_a_gitlab_pipeline_of_a_branch_has_nothing_to_comment_on(ran, forge, gitlab):
    del gitlab["CI_MERGE_REQUEST_IID"]
    assert "not of a merge request" in comment(ran, gitlab).stderr
    assert forge.requests == []


def test_gitlab_needs_a_token_of_its_own(ran, forge, gitlab):
    del gitlab["GITLAB_TOKEN"]
    assert "set GITLAB_TOKEN" in comment(ran, gitlab, code=2, CI_JOB_TOKEN="job-token-of-tests").stderr
