"""Evals written as data: a YAML or JSON file says what the model sees, what it is asked and what the answers mean.

```yaml
name: polite
requires: [output]
state: {answer: $.final_answer}
questions:
  polite: {type: noul, instructions: "Is `answer` polite?"}
pass: polite >= 0.7
```

`docs/decision.md` describes the format. What cannot be meant is refused when the file is read, with the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from yb_eval import UsageError
from yb_eval.digest import identifiable, identify
from yb_eval.errors import shorten
from yb_eval.expressions import Missing
from yb_eval_decision.answers import Answer, ChoiceAnswer, NoAnswer, NoulAnswer
from yb_eval_decision.declarative.documents import SUFFIXES, Document, made_document, read_document
from yb_eval_decision.declarative.program import compile_document
from yb_eval_decision.declarative.scope import Values, evidence_of
from yb_eval_decision.declarative.templates import fill, paths_in
from yb_eval_decision.eval import Eval
from yb_eval_decision.questions import Choice, Question, wire_question
from yb_eval_decision.results import Result
from yb_eval_decision.sample import FIELDS, Sample

#: The options that say that something is all right, as far as their names go.
GOOD_OPTIONS = ("approve", "allow", "ok", "pass")
DETAIL = 160
# Where several questions have no answer, the worst reason is told.
_WORST = ("error", "refused", "abstained")


class DeclarativeEval(Eval):
    """An eval made of a document: a mapping as the YAML format has it.

    `name` and `threshold` replace the document's own. Raises `UsageError` for a document that cannot be meant.

    A question without an answer leaves the eval unmeasured where an expression, the score or the answer needs it, and so
    does an expression that fails for the answers at hand. Without `else`, a sample that no rule holds for gets no action;
    it has then not passed if the policy has an `allow_if`, and otherwise passes by `threshold` - or is unmeasured, where
    the score is the probability of whatever option was chosen.
    """

    partial = True
    version = 1

    def __init__(
        self, spec: Mapping[str, Any] | Document, *, name: str | None = None, threshold: float | None = None
    ) -> None:
        document = spec if isinstance(spec, Document) else made_document(spec)
        program = compile_document(document, name)
        super().__init__(name=program.name, threshold=program.threshold if threshold is None else threshold)
        self.program = program
        self._paths = tuple(paths_in(program.state))
        self.requires = tuple(field for field in program.requires if field in FIELDS)
        # The base declares the category on the class; here every eval brings its own.
        vars(self)["category"] = program.category

    def applicable(self, s: Sample) -> tuple[bool, str]:
        own = s.missing(field for field in self.program.requires if field not in FIELDS)
        if own:
            return False, f"missing {', '.join(own)}"
        if any(path.find(s) not in (None, "", [], {}) for path in self._paths):
            return True, ""
        return False, f"missing {', '.join(dict.fromkeys(path.text for path in self._paths))}"

    def state(self, s: Sample) -> Mapping[str, Any]:
        return {key: fill(template, s) for key, template in self.program.state.items()}

    def questions(self, s: Sample) -> Mapping[str, Question]:
        return self.program.questions

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        program = self.program
        missing = [(id, answer) for id, answer in answers.items() if isinstance(answer, NoAnswer)]
        needed = [(id, answer) for id, answer in missing if id in program.used]
        evidence = evidence_of(answers)
        if needed:
            id, answer = min(needed, key=lambda each: _WORST.index(each[1].state))
            return Result.unmeasured(answer.state, f"{id}: {answer.reason}", evidence=evidence)
        try:
            return self._judge(answers, evidence, s)
        except Missing as failed:
            return Result.unmeasured("error", f"{failed.name}: {failed.reason}", evidence=evidence)

    def _judge(self, answers: Mapping[str, Answer], evidence: dict[str, Any], s: Sample) -> Result:
        program = self.program
        score, directed = self._score(answers, evidence)
        scope = Values.of(evidence, score)
        action, rule = (None, "") if program.policy is None else program.policy.decide(scope)
        passed: bool | None = None
        if "pass" in program.expressions:
            passed = bool(program.expressions["pass"].evaluate(scope))
        elif action is not None:
            passed = action == "allow"
        elif program.policy is not None and program.policy.is_allow_list:
            passed = False
        elif directed and score is not None:
            passed = score >= self.threshold
        elif program.policy is not None:
            return Result.unmeasured("abstained", "no rule of the policy holds, and it has no else", evidence=evidence)
        chosen = answers.get(program.answer) if program.answer is not None else None
        nouls = [answer for answer in answers.values() if isinstance(answer, NoulAnswer)]
        probability = nouls[0].probability if len(nouls) == 1 == len(answers) else None
        return Result(
            score=score,
            passed=passed,
            answer=chosen.choice if isinstance(chosen, ChoiceAnswer) else None,
            probability=chosen.probability if isinstance(chosen, ChoiceAnswer) else probability,
            detail=_detail(action, rule, evidence),
            evidence=evidence,
            action=action,
            value=fill(program.modify_to, s) if action == "modify" else None,
        )

    def _score(self, answers: Mapping[str, Answer], evidence: Mapping[str, Any]) -> tuple[float | None, bool]:
        """The score, and whether more of it is better. Without an expression: with a policy, the probability of the option
        that is all right, else of the one chosen; without a policy, the mean of nouls and scores (a score's level, which
        is no share of anything, is not in it)."""
        program = self.program
        if "score" in program.expressions:
            value = float(program.expressions["score"].evaluate(Values.of(evidence)))
            return min(1.0, max(0.0, value)), True
        numbers = [evidence[id] for id, question in program.questions.items() if not isinstance(question, Choice)]
        deciding = program.answer if program.policy is not None or not numbers else None
        if deciding is None:
            return (sum(numbers) / len(numbers), True) if numbers else (None, False)
        chosen = answers[deciding]
        assert isinstance(chosen, ChoiceAnswer)
        good = next((name for name in GOOD_OPTIONS if name in chosen.probabilities), None)
        return (chosen.probability, False) if good is None else (chosen.p(good), True)

    def identity(self) -> dict[str, Any]:
        content = {**self.program.content, "name": self.name, "threshold": float(self.threshold)}
        digest = identify("decision-eval", identifiable(content))
        return {
            "eval": "declarative",
            "version": type(self).version,
            "arguments": {"name": self.name, "content": digest},
        }

    def describe(self) -> dict[str, Any]:
        program = self.program
        about = {"category": program.category, "description": program.description, "requires": list(program.requires)}
        state = {"state_keys": list(program.state)}
        questions = {"questions": {id: wire_question(question) for id, question in program.questions.items()}}
        return {**super().describe(), **about, **state, **questions}

    def __repr__(self) -> str:
        return f"DeclarativeEval({self.name!r})"


def load_eval(path: str | Path, *, name: str | None = None, threshold: float | None = None) -> DeclarativeEval:
    """The eval in a `.yaml`, `.yml` or `.json` file; its name is the file's where it has none. Raises `UsageError` with
    the line of what is wrong."""
    path = _path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError("not a file of an eval", where=str(path), hint="it ends in .yaml, .yml or .json")
    return DeclarativeEval(read_document(path), name=name, threshold=threshold)


def load_evals(path: str | Path) -> list[DeclarativeEval]:
    """The eval in a file, or those in a folder, sorted by file name. Raises `UsageError` for a folder without any, and for
    two of one name."""
    path = _path(path)
    if not path.is_dir():
        return [load_eval(path)]
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
    if not files:
        raise UsageError("no evals in this folder", where=str(path), hint="they end in .yaml, .yml or .json")
    found: dict[str, Path] = {}
    evals = []
    for file in files:
        made = load_eval(file)
        if made.name in found:
            raise UsageError(f"another eval is named {made.name!r}", where=str(file), hint=f"see {found[made.name]}")
        found[made.name] = file
        evals.append(made)
    return evals


def _path(given: Any) -> Path:
    if not isinstance(given, str | PathLike) or not str(given):
        raise UsageError(f"the path of a file is expected, not {shorten(given)}")
    return Path(given)


def _detail(action: str | None, rule: str, evidence: Mapping[str, Any]) -> str:
    """What decided and by which numbers, in at most `DETAIL` characters."""
    told = [f"{action} by {rule}"] if action is not None else []
    for name, value in evidence.items():
        if isinstance(value, Mapping):
            told.append(f"{name} {value['choice']} {value['probability']:.2f}")
        elif isinstance(value, float):
            told.append(f"{name} {value:.2f}")
    text = ", ".join(told)
    return text if len(text) <= DETAIL else text[: DETAIL - 1] + "…"
