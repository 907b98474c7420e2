"""A declarative eval's document, read and checked as a whole: what it says is meant, or it is refused with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.errors import ExpressionError, nearest, shorten
from yb_eval.expressions import Expression
from yb_eval_decision.declarative.documents import Document
from yb_eval_decision.declarative.paths import field_of
from yb_eval_decision.declarative.policy import RULES, Policy, RuleError, check_expressions, check_reach
from yb_eval_decision.declarative.schema import check_shape
from yb_eval_decision.declarative.scope import Names
from yb_eval_decision.declarative.templates import Template, paths_in, read_template
from yb_eval_decision.questions import Choice, Question, paths_read, read_question, wire_question
from yb_eval_decision.sample import FIELDS

_DEFAULT_STATE = {"input": "$.input", "output": "$.final_answer"}


@frozen(slots=True)
class Program:
    """A document that has been read and checked."""

    name: str
    description: str
    category: str
    requires: tuple[str, ...]
    own_fields: tuple[str, ...]
    state: Mapping[str, Template]
    questions: Mapping[str, Question]
    expressions: Mapping[str, Expression]
    policy: Policy | None
    modify_to: Template
    answer: str | None
    threshold: float
    used: frozenset[str]
    content: Mapping[str, Any] = field(repr=False)


def compile_document(document: Document, name: str | None = None) -> Program:
    """Reads and checks all of a document; `name` replaces its own. Raises `UsageError` at the first fault."""
    check_shape(document)
    spec: Mapping[str, Any] = document.value
    own = tuple(spec.get("fields", ()))
    for index, key in enumerate(own):
        if key in FIELDS:
            raise document.error(f"{key!r} is a field of every sample already", "fields", index)
    requires = tuple(field_of(key, own) for key in spec.get("requires", ()))
    for index, key in enumerate(requires):
        if key not in FIELDS and key not in own:
            hint = nearest(key, FIELDS | {*own})
            raise document.error(f"a sample has no field {shorten(key)}", "requires", index, hint=hint)
    given = spec.get("state") or _DEFAULT_STATE
    state = _template(given, document, own, "state")
    if not any(True for _ in paths_in(state)):
        raise document.error("the state holds nothing of the sample", "state", hint="point into it: $.final_answer")
    questions = _questions(document, list(state))
    try:
        names = Names.of(questions)
    except UsageError as error:
        raise document.error(error.what, "questions", error.where or "", hint=error.hint) from None
    policy_spec, places = _policy_spec(document)
    expressions, policy = _expressions(document, policy_spec, places, names)
    answer = _answer(document, questions)
    modify_to = _template(policy_spec.get("modify_to"), document, own, "policy", "modify_to")
    rules = {} if policy is None else policy.rules
    used = names.questions_in([*expressions.values(), *rules.values()])
    if "score" not in expressions:
        used |= _scored(questions, answer, policy)
    used |= {answer} if answer is not None else set()
    if not (expressions or used):
        raise document.error("nothing says what the answers mean", "questions",
                             hint="give answer, score, pass or a policy")  # fmt: skip
    if "score" not in expressions and not _scored(questions, answer, policy):
        for key, expression in {**expressions, **rules}.items():
            if any(reference.base == "score" for reference in expression.references()):
                raise document.error("there is no score: several choices and no answer", *places.get(key, (key,)),
                                     hint="give answer or score")  # fmt: skip
    threshold = spec.get("threshold", 0.5)
    content = {
        "requires": sorted(requires),
        "state": given,
        "questions": {id: _content(question) for id, question in questions.items()},
        "expressions": {key: expression.text for key, expression in {**expressions, **rules}.items()},
        "else": policy_spec.get("else"),
        "modify_to": policy_spec.get("modify_to"),
        "answer": answer,
    }
    return Program(
        name=name or spec.get("name") or _name_of(document),
        description=spec.get("description", ""),
        category=spec.get("category", "custom"),
        requires=requires,
        own_fields=own,
        state=state,
        questions=questions,
        expressions=expressions,
        policy=policy,
        modify_to=modify_to,
        answer=answer,
        threshold=threshold,
        used=frozenset(used),
        content=content,
    )


def _name_of(document: Document) -> str:
    if document.name is None:
        raise document.error("no name", hint="name: what_it_checks")
    name = re.sub(r"[^a-z0-9]+", "_", Path(document.name).stem.lower()).strip("_")
    if not re.match(r"[a-z][a-z0-9_]{0,63}\Z", name):
        raise document.error("no name, and the file's is none", hint="name: what_it_checks")
    return name


def _template(value: Any, document: Document, own: tuple[str, ...], *trail: str) -> Template:
    return read_template(
        value, frozenset(own), lambda fault, inner: document.error(fault.what, *trail, *inner, hint=fault.hint)
    )


def _questions(document: Document, state: list[str]) -> dict[str, Question]:
    found: dict[str, Question] = {}
    for id, spec in document.value["questions"].items():
        # A question reads the whole state of its own eval, and nothing of those that are asked beside it.
        plain = all("." not in key for key in state)
        given = {"reads": state, **spec} if "reads" not in spec and "task" not in spec and plain else spec
        try:
            question = read_question(given, id)
        except UsageError as error:
            raise document.error(error.what, "questions", id, hint=error.hint) from None
        for path in paths_read(question) or ():
            if path not in state and path.partition(".")[0] not in state:
                raise document.error(f"{id} reads {shorten(path)}, which the state does not have", "questions", id,
                                     hint=nearest(path, state))  # fmt: skip
        found[id] = question
    return found


def _policy_spec(document: Document) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """The policy, the older `gate` merged into it, and where each of its rules stands."""
    merged = dict(document.value.get("policy", {}))
    places = {key: ("policy", key) for key in merged}
    for key, rule in document.value.get("gate", {}).items():
        if f"{key}_if" in merged:
            raise document.error(f"policy.{key}_if is given too", "gate", key, hint="keep one of them")
        merged[f"{key}_if"], places[f"{key}_if"] = rule, ("gate", key)
    if "policy" in document.value and not merged.keys() & RULES.keys():
        raise document.error("the policy has no rule", "policy", hint=f"give {', '.join(RULES)}")
    if "modify_to" in merged and "modify_if" not in merged and merged.get("else") != "modify":
        raise document.error("modify_to without a rule that modifies", "policy", "modify_to", hint="add modify_if")
    return merged, places


def _expressions(
    document: Document, policy: Mapping[str, Any], places: Mapping[str, tuple[str, str]], names: Names
) -> tuple[dict[str, Expression], Policy | None]:
    """`score` and `pass`, and the policy."""
    texts = {key: document.value[key] for key in ("score", "pass") if key in document.value}
    texts |= {key: policy[key] for key in RULES if key in policy}
    read: dict[str, Expression] = {}
    key = ""
    try:
        for key, text in texts.items():
            read[key] = names.read(text, scored=key != "score")
        check_expressions(read, [key for key in texts if key != "score"], names)
        rules = {key: read[key] for key in RULES if key in read}
        made = Policy(rules, policy.get("else")) if rules else None
        if made is not None:
            check_reach(made, names)
        if "pass" in read:
            check_reach(Policy({"pass": read["pass"]}), names)
    except ExpressionError as error:
        key = error.key if isinstance(error, RuleError) else key
        raise document.error(error.what, *places.get(key, (key,)), hint=error.hint) from None
    return {key: read[key] for key in ("score", "pass") if key in read}, made


def _answer(document: Document, questions: Mapping[str, Question]) -> str | None:
    choices = [id for id, question in questions.items() if isinstance(question, Choice)]
    named: str | None = document.value.get("answer")
    if named is None:
        return choices[0] if len(choices) == 1 else None
    if named not in choices:
        what = f"answer names {shorten(named)}, which is no choice"
        raise document.error(what, "answer", hint=nearest(named, choices) or "the eval asks no choice")
    return named


def _scored(questions: Mapping[str, Question], answer: str | None, policy: Policy | None) -> set[str]:
    """The questions that the default score is made of."""
    plain = {id for id, question in questions.items() if not isinstance(question, Choice)}
    return {answer} if answer is not None and (policy is not None or not plain) else plain


def _content(question: Question) -> dict[str, Any]:
    reads = paths_read(question)
    more: dict[str, Any] = {"reads": None if reads is None else sorted(reads)}
    if question.task is not None:
        more["task"] = {"name": question.task.name, "parts": dict(question.task.parts)}
    if isinstance(question, Choice):
        more["abstain"] = question.abstain
    return {**wire_question(question), **more}
