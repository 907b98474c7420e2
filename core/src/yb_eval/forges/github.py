"""Comments on a GitHub pull request (REST: `/repos/{repo}/issues/{number}/comments`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from yb_eval.errors import UsageError, shorten
from yb_eval.forges.client import Api, Forbidden, Gone, Patience
from yb_eval.forges.comments import Comment, starts_with

TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}\Z")
_DEFAULT = "https://api.github.com"


def github_api(environment: Mapping[str, str], token: str, patience: Patience) -> Api:
    headers = {
        "accept": "application/vnd.github+json",
        "authorization": f"Bearer {token}",
        "x-github-api-version": "2022-11-28",
    }
    return Api(environment.get("GITHUB_API_URL") or _DEFAULT, headers, secret=token, patience=patience)


def check_repository(text: str) -> str:
    if not _REPOSITORY.match(text) or ".." in text:
        raise UsageError(f"{shorten(text)} is not a repository", hint="OWNER/NAME")
    return text


class GitHub:
    """A pull request on GitHub; see `Forge`."""

    def __init__(self, api: Api, repository: str, number: int) -> None:
        self._api = api
        self._repository = check_repository(repository)
        self._number = number
        self._login: str | None = None
        self._asked = False
        self.place = f"{repository}#{number}"

    def close(self) -> None:
        self._api.close()

    def mine(self, first_line: str) -> Sequence[Comment]:
        found = [
            entry
            for entry in self._api.pages(f"/repos/{self._repository}/issues/{self._number}/comments")
            if isinstance(entry.get("body"), str) and starts_with(entry["body"], first_line)
        ]
        mine = [_comment(entry) for entry in found if self._is_mine(entry)]
        return sorted(mine, key=lambda comment: comment.id)

    def create(self, body: str) -> Comment:
        path = f"/repos/{self._repository}/issues/{self._number}/comments"
        return _comment(self._api.send("POST", path, {"body": body}), body)

    def update(self, comment: Comment, body: str) -> Comment:
        return _comment(self._api.send("PATCH", self._path(comment), {"body": body}), body)

    def delete(self, comment: Comment) -> None:
        self._api.send("DELETE", self._path(comment))

    def _path(self, comment: Comment) -> str:
        return f"/repos/{self._repository}/issues/comments/{comment.id}"

    def _is_mine(self, entry: Mapping[str, Any]) -> bool:
        """A job's own token may not ask who it is; then a comment of ours is one by an app. No person can have a
        login that ends in `[bot]`."""
        if "user" not in entry:
            return True  # a forge with GitHub's API that names no authors
        user = entry["user"]
        if not isinstance(user, dict):
            return False  # a deleted account
        login = self._who()
        if login is not None:
            return bool(user.get("login") == login)
        return user.get("type") == "Bot" or str(user.get("login", "")).endswith("[bot]")

    def _who(self) -> str | None:
        """The login of the token's owner; `None` for the token of an app, such as a job's own."""
        if not self._asked:
            self._asked = True
            try:
                user = self._api.get("/user")
            except (Forbidden, Gone):
                user = None
            login = user.get("login") if isinstance(user, dict) else None
            self._login = login if isinstance(login, str) else None
        return self._login


def _comment(entry: Any, body: str = "") -> Comment:
    if not isinstance(entry, dict) or type(entry.get("id")) is not int:
        raise Gone("the answer is no comment")
    text, url = entry.get("body"), entry.get("html_url")
    return Comment(entry["id"], text if isinstance(text, str) else body, url if isinstance(url, str) else "")


def number_of(event: Mapping[str, Any]) -> int | None:
    """The pull request's number in an event's payload, where the event is of one."""
    for place in ("pull_request", "issue"):
        entry = event.get(place)
        if isinstance(entry, dict) and (place == "pull_request" or "pull_request" in entry):
            number = entry.get("number")
            if type(number) is int and number > 0:
                return number
    return None


def number_by_head(api: Api, repository: str, run: Mapping[str, Any]) -> int | None:
    """The open pull request that a `workflow_run` was for.

    Its payload lists none where it comes from a fork, and what the run itself left in an artifact is the fork's word.
    So it is looked up by the branch and the commit, which are GitHub's.
    """
    owner = run.get("head_repository")
    owner = owner.get("owner") if isinstance(owner, dict) else None
    login = owner.get("login") if isinstance(owner, dict) else None
    branch, commit = run.get("head_branch"), run.get("head_sha")
    if not (isinstance(login, str) and isinstance(branch, str) and isinstance(commit, str)):
        return None
    query = {"state": "open", "head": f"{login}:{branch}"}
    for entry in api.pages(f"/repos/{check_repository(repository)}/pulls", **query):
        head, number = entry.get("head"), entry.get("number")
        if isinstance(head, dict) and head.get("sha") == commit and type(number) is int:
            return number
    return None
