"""Evals by name: the 37 that are built in, and how evals are named on the command line and in files.

What `resolve_evals` takes, one or a list of:

| given | means |
|---|---|
| an `Eval`, an `Eval` class | itself; the class without arguments |
| `grounded` `Grounded` `agent.grounded` | the built-in eval; the part before the dot must be its category |
| `grounded:threshold=0.7,claim_threshold=0.6` | the same with arguments: JSON values, or else texts |
| `agent.all` `security.all` `quality.all` `all` | those that need no arguments, of one category or of all |
| `evals/risk.yaml` `evals/` | the eval in a file, those in a folder; arguments `name` and `threshold` after a `:` |
| `grounded,evals/risk.yaml` | several in one text |
| `{"name": "grounded", "threshold": 0.7}` | a built-in eval with arguments |
| `{"eval": "grounded", "name": "other"}` | the same under another name |
| `{"name": ..., "questions": ...}` | an eval as the YAML format has it |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from os import PathLike, fspath
from os.path import isdir
from pathlib import Path
from typing import Any

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten
from yb_eval_decision.eval import Eval

__all__ = ["builtin_evals", "eval_schema", "get_eval", "load_eval", "load_evals", "resolve_evals"]

#: The names of the built-in evals by category: known without importing any of them.
BUILTIN: Mapping[str, tuple[str, ...]] = {
    "agent": (
        "tool_choice", "argument_validity", "used_tool_result", "grounded", "stayed_in_scope", "step_progress",
        "loop_detection", "goal_completion", "plan_adherence", "quality", "tool_call_risk", "trajectory_match",
        "tool_call_f1",
    ),
    "security": (
        "prompt_injection", "indirect_injection", "jailbreak", "goal_hijacking", "system_prompt_leakage",
        "excessive_agency", "pii", "phi", "secrets_exposure", "toxicity", "bias", "non_advice", "topic_adherence",
    ),
    "quality": (
        "faithfulness", "answer_relevancy", "context_precision", "context_recall", "hallucination", "correctness",
        "completeness", "coherence", "instruction_following", "refusal", "custom_rubric",
    ),
}  # fmt: skip
_CATEGORY = {name: category for category, names in BUILTIN.items() for name in names}
_SHORT = {name.replace("_", ""): name for name in _CATEGORY}
#: A category is no name by itself: `quality` is also an eval.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": tuple(_CATEGORY), **{f"{category}.all": names for category, names in BUILTIN.items()}
}  # fmt: skip
_ARGUMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)\Z", re.DOTALL)
_SUFFIXES = (".yaml", ".yml", ".json")


def builtin_evals() -> dict[str, type[Eval]]:
    """The class of every built-in eval by its name, in the order of their documentation."""
    return {name: _kind(name) for name in _CATEGORY}


def get_eval(eval: str, /, **arguments: Any) -> Eval:
    """The built-in eval of a name (`grounded`, `Grounded`, `agent.grounded`), made with `arguments`. Raises `UsageError` for
    an unknown name, a category that is not the eval's, and arguments that it does not take."""
    return _kind(_builtin_name(eval))(**arguments)


def resolve_evals(given: Any) -> list[Eval]:
    """The evals that are meant by one of the forms above, or by several of them. Raises `UsageError`."""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | PathLike | type):
        return [eval for one in given for eval in resolve_evals(one)]
    return list(_resolve(given))


def load_eval(path: str | Path, *, name: str | None = None, threshold: float | None = None) -> Eval:
    """See `yb_eval_decision.declarative.load_eval`."""
    from yb_eval_decision.declarative import load_eval

    return load_eval(path, name=name, threshold=threshold)


def load_evals(path: str | Path) -> list[Eval]:
    """See `yb_eval_decision.declarative.load_evals`."""
    from yb_eval_decision.declarative import load_evals

    return [*load_evals(path)]


def eval_schema() -> dict[str, Any]:
    """The JSON Schema of evals in YAML or JSON."""
    from yb_eval_decision.declarative import eval_schema

    return eval_schema()


def _resolve(given: Any) -> Iterator[Eval]:
    if isinstance(given, Eval):
        yield given
    elif isinstance(given, type) and issubclass(given, Eval):
        yield given()
    elif isinstance(given, Mapping):
        yield _of_mapping(given)
    elif isinstance(given, PathLike):
        yield from load_evals(Path(fspath(given)))
    elif isinstance(given, str):
        for spec in _split(given):
            yield from _of_text(spec)
    else:
        raise UsageError(f"not an eval: {shorten(given)}", hint="give a name, an Eval, a file or an object")


def _of_mapping(given: Mapping[str, Any]) -> Eval:
    if "questions" in given:
        from yb_eval_decision.declarative import DeclarativeEval

        return DeclarativeEval(given)
    key = "eval" if "eval" in given else "name"
    if not isinstance(given.get(key), str):
        raise UsageError(f"not an eval: {shorten(dict(given))}", hint="it has a name, or questions")
    arguments = {name: value for name, value in given.items() if name != key}
    for name in arguments:
        if not isinstance(name, str):
            raise UsageError(f"{given[key]} has no argument {shorten(name)}")
    return get_eval(given[key], **arguments)


def _of_text(spec: str) -> Iterator[Eval]:
    name, arguments = _read_arguments(spec)
    if name.lower().endswith(_SUFFIXES) or "/" in name or "\\" in name:
        yield from _of_path(Path(name), arguments)
    elif name in GROUPS:
        kinds = [_kind(member) for member in GROUPS[name]]
        yield from (kind(**arguments) for kind in kinds if not any(p.required for p in kind.parameters.values()))
    else:
        yield get_eval(name, **arguments)


def _of_path(path: Path, arguments: Mapping[str, Any]) -> Iterator[Eval]:
    for name in arguments:
        if name not in ("name", "threshold"):
            raise UsageError(f"an eval in a file has no argument {name!r}", hint=nearest(name, ("name", "threshold")))
    if path.is_dir():
        if arguments:
            raise UsageError("a folder of evals takes no arguments", where=str(path))
        yield from load_evals(path)
    else:
        yield load_eval(path, **arguments)


def _split(text: str) -> Iterator[str]:
    """The evals of `a,b:x=1,y=2,c`: commas in brackets or quotes, and those before an argument, do not part them."""
    parts: list[str] = []
    for piece in _pieces(text):
        if parts and _ARGUMENT.match(piece):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    for part in parts:
        if not part.strip():
            raise UsageError(f"an empty name in {shorten(text)}", hint="name an eval")
        yield part.strip()


def _pieces(text: str) -> list[str]:
    pieces, depth, quoted, start = [], 0, False, 0
    for at, character in enumerate(text):
        if character == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        elif not quoted and character in "[{":
            depth += 1
        elif not quoted and character in "]}":
            depth -= 1
        elif character == "," and not quoted and depth <= 0:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]


def _read_arguments(spec: str) -> tuple[str, dict[str, Any]]:
    name, found, given = spec, re.search(r":(?=\s*[A-Za-z_][A-Za-z0-9_]*\s*=)", spec), ""
    if found:
        name, given = spec[: found.start()], spec[found.end() :]
    elif spec.endswith(":") or re.search(r":[a-z_]+\Z", spec):
        raise UsageError(f"cannot read {shorten(spec)}", hint="arguments are name=value: grounded:threshold=0.7")
    arguments: dict[str, Any] = {}
    for piece in _pieces(given) if given else ():
        match = _ARGUMENT.match(piece)
        if match is None:
            raise UsageError(f"cannot read {shorten(piece)} in {shorten(spec)}", hint="an argument is name=value")
        if match[1] in arguments:
            raise UsageError(f"{match[1]} is given twice in {shorten(spec)}")
        arguments[match[1]] = _value(match[2].strip())
    return name.strip(), arguments


def _value(text: str) -> Any:
    from yb_eval.datasets.faults import RowError
    from yb_eval.datasets.strict import loads

    try:
        return loads(text.encode("utf-8", "replace"))
    except RowError:
        return text


def _builtin_name(text: str) -> str:
    if not isinstance(text, str):
        raise UsageError(f"the name of an eval is a text, not {shorten(text)}")
    prefix, _, last = text.rpartition(".")
    name = last if last in _CATEGORY else _SHORT.get(last.lower(), "")  # `ToolCallF1`, as the class is called
    if not name:
        hint = f"the folder is {text}/" if isdir(text) else nearest(last, (*_CATEGORY, *GROUPS))
        raise UsageError(f"no eval is named {shorten(text)}", hint=hint)
    if prefix and prefix != _CATEGORY[name]:
        raise UsageError(f"{shorten(prefix)} has no eval {name!r}", hint=f"did you mean '{_CATEGORY[name]}.{name}'?")
    return name


def _kind(name: str) -> type[Eval]:
    module = import_module(f"yb_eval_decision.{_CATEGORY[name]}")
    kinds = (vars(module)[exported] for exported in module.__all__)
    return next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Eval) and kind.name == name)
