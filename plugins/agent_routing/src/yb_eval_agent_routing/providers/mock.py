"""`mock:FILE`: a provider that answers from a script, for tests and demonstrations.

```yaml
answers:                      # scenario -> its model calls' answers, in order
  jira_single:
    - tool_calls: [{name: load_tools, arguments: {groups: [jira]}}]
    - text: Here they are.
  broken: [{error: HTTP 400}] # the provider fails
default: [{text: Hello.}]     # every other scenario
```

An answer is written as a provider gives it (see `yb-eval describe agent-routing`). A scenario whose answers have run
out gets empty ones: the model says nothing and calls nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.datasets import DataFile
from yb_eval.digest import identify
from yb_eval.errors import nearest
from yb_eval.targets import CallableTarget
from yb_eval_agent_routing.documents import read_value

_KEYS = ("answers", "default")


class ScriptedFailure(Exception):
    """The script says that the provider fails."""


@frozen(slots=True)
class Script:
    """Answers by scenario and number of the call. It keeps no position: the same request gets the same answer, in
    whatever order scenarios are run."""

    answers: Mapping[str, Sequence[Any]] = field(factory=dict)
    default: Sequence[Any] = ()

    def __call__(self, request: Mapping[str, Any]) -> Any:
        answers = self.answers.get(request["scenario"], self.default)
        answer = answers[request["call"]] if request["call"] < len(answers) else {}
        if isinstance(answer, Mapping) and "error" in answer:
            raise ScriptedFailure(str(answer["error"]))
        return answer


def mock_target(argument: str) -> CallableTarget:
    """The provider `mock:FILE`. Raises `UsageError` or `DatasetError` for a file that is no script."""
    file = DataFile.read(Path(argument), role="script")
    script = read_script(read_value(file), argument)
    fingerprint = identify("agent-routing-mock", {"script": file.digest.sha256})
    return CallableTarget(script, fingerprint=fingerprint, spec=f"mock:{argument}", batch_size=16)


def read_script(value: Any, where: str) -> Script:
    """The script in a JSON value."""
    if not isinstance(value, Mapping):
        raise UsageError("a script is an object with answers by scenario", where=where)
    for key in value:
        if key not in _KEYS:
            raise UsageError(f"unknown key {key!r}", where=where, hint=nearest(str(key), _KEYS))
    answers, default = value.get("answers", {}), value.get("default", [])
    if not isinstance(answers, Mapping):
        raise UsageError("must be an object: scenario -> list of answers", where=f"{where}: $.answers")
    for name, listed in [*answers.items(), ("default", default)]:
        if not isinstance(listed, list) or not all(isinstance(answer, Mapping) for answer in listed):
            raise UsageError(f"the answers of {name!r} are no list of objects", where=where)
    return Script(answers, default)
