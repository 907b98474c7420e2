"""The file of recorded answers: a JSON line for each question that was asked of a state.

`{"answer": ..., "decided_by": ..., "id": ..., "model": ..., "question": {...}, "repeat": 0, "state": "sha256"}`. The state is
there as the sha256 of its JSON only: a recording holds no text of a sample. Lines stand in an order that depends on nothing
but the questions and states, so the file is the same however the work was divided.

A cassette that core has written (`--record`), a line for each request, is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from attrs import frozen

from yb_eval import UsageError
from yb_eval.digest import sha256_hex
from yb_eval.errors import nearest
from yb_eval.targets.wire import NotJson, decode
from yb_eval_decision.answers import Answer, NoAnswer
from yb_eval_decision.questions import Question, read_question, wire_question
from yb_eval_decision.validation import read_answer, read_answers

_KEYS = ("answer", "decided_by", "id", "model", "question", "repeat", "state")


@frozen(slots=True)
class Entry:
    """One recorded answer."""

    answer: Answer
    model: str | None
    decided_by: str | None


def state_digest(state: Mapping[str, Any]) -> str:
    """The sha256 of the state's JSON with sorted keys. Raises `TypeError` for what is not JSON."""
    return sha256_hex(orjson.dumps(state, default=dict, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))


def asked(question: Question) -> dict[str, Any]:
    """The question whole: the wire's form, its abstaining option, and the task that a local model goes by."""
    told = wire_question(question)
    if question.task is not None:
        told["task"] = {"name": question.task.name, "parts": dict(question.task.parts)}
    abstain = getattr(question, "abstain", None)
    return told if abstain is None else {**told, "abstain": abstain}


def key(state: str, question: Question, repeat: int = 0, *, ordered: bool = True) -> bytes:
    """What an answer is found by. The id is no part of it: it is a name, and is not shown to a model. Not `ordered`: the options
    of a choice in whatever order, as in core's cassettes, which sort all keys."""
    told = asked(question)
    if ordered and isinstance(told.get("criteria"), Mapping):
        told["criteria"] = list(told["criteria"].items())  # an order that sorted keys do not lose
    body = orjson.dumps([state, told, repeat], default=dict, option=orjson.OPT_SORT_KEYS)
    return bytes.fromhex(sha256_hex(body))


def line(state: str, id: str, question: Question, repeat: int, entry: Entry) -> bytes:
    """The line that records `entry`, with its line break."""
    said: dict[str, Any] = entry.answer.to_dict()
    stated = getattr(entry.answer, "stated_confidence", None)
    if stated is not None:
        said["confidence"] = stated
    made = {
        "answer": said,
        "decided_by": entry.decided_by,
        "id": id,
        "model": entry.model,
        "question": asked(question),
        "repeat": repeat,
        "state": state,
    }
    return orjson.dumps(made, default=dict) + b"\n"


def entries(data: bytes, name: str) -> Iterator[tuple[int, bytes, Entry]]:
    """(line from 1, key, entry) of each answer. Raises `UsageError` at `name:line` for a line that holds none."""
    for number, raw in enumerate(data.split(b"\n"), 1):
        if raw.strip():
            for found, entry in _read(raw, f"{name}:{number}"):
                yield number, found, entry


def _read(raw: bytes, where: str) -> Iterator[tuple[bytes, Entry]]:
    try:
        value = decode(raw)
    except NotJson as error:
        raise UsageError(f"the line is {error}", where=where, hint="record it again") from None
    if not isinstance(value, dict):
        raise UsageError("the line is no object", where=where)
    repeat = value.get("repeat", 0)
    if type(repeat) is not int or repeat < 0:
        raise UsageError("repeat is no whole number of at least 0", where=where)
    if "request" in value:
        yield from _of_core(value, repeat, where)
        return
    for unknown in set(value).difference(_KEYS):
        raise UsageError(f"unknown key {unknown!r}", where=where, hint=nearest(unknown, _KEYS))
    state, model, decided_by = value.get("state"), value.get("model"), value.get("decided_by")
    if not isinstance(state, str) or not all(said is None or isinstance(said, str) for said in (model, decided_by)):
        raise UsageError("state, model and decided_by are texts", where=where)
    if "answer" not in value:
        raise UsageError("the line has no answer", where=where)
    question, said = read_question(value.get("question"), f"{where}: $.question"), value["answer"]
    answer = read_answer(question, said)
    ours = isinstance(said, dict) and said.get("type") == "none"
    if isinstance(answer, NoAnswer) and answer.state == "error" and not ours:
        raise UsageError(answer.reason, where=where)
    yield key(state, question, repeat), Entry(answer, model, decided_by)


def _of_core(value: Mapping[str, Any], repeat: int, where: str) -> Iterator[tuple[bytes, Entry]]:
    """The answers in a line of core's cassette: a request of this suite and the answer or failure that it got."""
    request = value["request"]
    state = request.get("state") if isinstance(request, dict) else None
    digest = state.get("sha256") if isinstance(state, dict) else None
    if not isinstance(digest, str) or not isinstance(request.get("questions"), dict):
        raise UsageError("the line is no recorded request of the decision suite", where=where)
    questions = {id: read_question(told, f"{where}: $.request.questions") for id, told in request["questions"].items()}
    said = value.get("answer")
    said = said if isinstance(said, dict) else {}
    model = said["model"] if isinstance(said.get("model"), str) else None
    failure = value.get("failure")
    answers: Mapping[str, Answer] = read_answers(questions, said.get("answers"))
    for id, question in questions.items():
        answer = answers[id] if failure is None else NoAnswer("error", str(failure))
        yield key(digest, question, repeat, ordered=False), Entry(answer, model, None)
