"""Notes on a GitLab merge request (REST: `/projects/{id}/merge_requests/{iid}/notes`).

A job's own CI_JOB_TOKEN may not write notes: a project access token with the scope `api` can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from yb_eval.forges.client import Api, ForgeError, Gone, Patience
from yb_eval.forges.comments import Comment, starts_with

TOKENS = ("GITLAB_TOKEN",)
_DEFAULT = "https://gitlab.com/api/v4"


def gitlab_api(environment: Mapping[str, str], token: str, patience: Patience) -> Api:
    return Api(environment.get("CI_API_V4_URL") or _DEFAULT, {"private-token": token}, secret=token, patience=patience)


class GitLab:
    """A merge request on GitLab; see `Forge`. `project` is its number or its path."""

    def __init__(self, api: Api, project: str, number: int) -> None:
        self._api = api
        self._notes = f"/projects/{quote(project, safe='')}/merge_requests/{number}/notes"
        self._me: int | None = None
        self.place = f"{project}!{number}"

    def close(self) -> None:
        self._api.close()

    def mine(self, first_line: str) -> Sequence[Comment]:
        found = [
            entry
            for entry in self._api.pages(self._notes, sort="asc", order_by="created_at")
            if entry.get("system") is not True
            and isinstance(entry.get("body"), str)
            and starts_with(entry["body"], first_line)
        ]
        mine = [_comment(entry) for entry in found if self._is_mine(entry)]
        return sorted(mine, key=lambda comment: comment.id)

    def create(self, body: str) -> Comment:
        return _comment(self._api.send("POST", self._notes, {"body": body}), body)

    def update(self, comment: Comment, body: str) -> Comment:
        return _comment(self._api.send("PUT", f"{self._notes}/{comment.id}", {"body": body}), body)

    def delete(self, comment: Comment) -> None:
        self._api.send("DELETE", f"{self._notes}/{comment.id}")

    def _is_mine(self, entry: Mapping[str, Any]) -> bool:
        if self._me is None:
            user = self._api.get("/user")
            if not isinstance(user, dict) or type(user.get("id")) is not int:
                raise ForgeError("the answer does not say who the token belongs to", where="GET /user")
            self._me = user["id"]
        author = entry.get("author")
        return isinstance(author, dict) and author.get("id") == self._me


def _comment(entry: Any, body: str = "") -> Comment:
    if not isinstance(entry, dict) or type(entry.get("id")) is not int:
        raise Gone("the answer is no note")
    text = entry.get("body")
    return Comment(entry["id"], text if isinstance(text, str) else body)
