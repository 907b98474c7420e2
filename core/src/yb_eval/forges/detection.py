"""Which pull or merge request a job runs for: from the CI's own variables, and from what the user says instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import orjson

from yb_eval.errors import Refused, UsageError
from yb_eval.forges import github, gitlab
from yb_eval.forges.client import Patience
from yb_eval.forges.comments import Forge, Order

Name = Literal["github", "gitlab"]


class NoRequest(Refused):
    """The job runs for no pull or merge request: there is nothing to comment on."""


def open_forge(
    environment: Mapping[str, str],
    *,
    forge: Name | None = None,
    repository: str | None = None,
    number: int | None = None,
    patience: Patience | None = None,
) -> Forge:
    """The request to comment on; close it. What is not given comes from the environment, the token always does.

    Raises `NoRequest` if there is none, `UsageError` if something is missing.
    """
    name = forge or _forge(environment)
    asked = patience or Patience()
    if name == "gitlab":
        project = repository or environment.get("CI_MERGE_REQUEST_PROJECT_ID") or environment.get("CI_PROJECT_ID")
        iid = number or _number(environment.get("CI_MERGE_REQUEST_IID", ""))
        if iid is None:
            raise NoRequest("this pipeline is not of a merge request", hint="give its number with --number")
        api = gitlab.gitlab_api(environment, _token(environment, gitlab.TOKENS), asked)
        return gitlab.GitLab(api, _given(project, "--repository, or CI_PROJECT_ID"), iid)
    event = {} if number is not None else _event(environment)
    found = number or github.number_of(event)
    run = event.get("workflow_run")
    if found is None and not isinstance(run, dict):
        raise NoRequest("this job is not of a pull request", hint="give its number with --number")
    where = github.check_repository(
        _given(repository or environment.get("GITHUB_REPOSITORY"), "--repository, or GITHUB_REPOSITORY")
    )
    api = github.github_api(environment, _token(environment, github.TOKENS), asked)
    if found is None:
        found = github.number_by_head(api, where, run or {})
    if found is None:
        api.close()
        raise NoRequest("the workflow run was for no pull request that is open at that commit")
    return github.GitHub(api, where, found)


def run_order(environment: Mapping[str, str]) -> Order | None:
    """Where the CI counts its runs: the numbers that say which of two is the later one."""
    for run, attempt in (("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"), ("CI_PIPELINE_ID", "CI_JOB_ID")):
        first, second = (environment.get(name, "") for name in (run, attempt))
        if first.isdecimal() and second.isdecimal() and max(len(first), len(second)) < 20:
            return int(first), int(second)
    return None


def _forge(environment: Mapping[str, str]) -> Name:
    if environment.get("GITLAB_CI"):
        return "gitlab"
    if environment.get("GITHUB_ACTIONS"):
        return "github"
    raise UsageError(
        "neither GitHub Actions nor GitLab CI runs this", hint="--forge, --repository and --number say where"
    )


def _event(environment: Mapping[str, str]) -> dict[str, Any]:
    path = environment.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        event = orjson.loads(Path(path).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"the event cannot be read: {error}", where="GITHUB_EVENT_PATH") from error
    return event if isinstance(event, dict) else {}


def _token(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    for name in names:
        if token := environment.get(name, "").strip():
            return token
    raise UsageError("there is no token to comment with", hint=f"set {' or '.join(names)} in the environment")


def _given(value: str | None, what: str) -> str:
    if not value:
        raise UsageError("the repository is not known", hint=f"set {what}")
    return value


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and 0 < len(text) < 12 else None
