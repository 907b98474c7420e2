"""The suite `triage`: what is this item, how bad is it, must a person come, and how sure is the triager?

The default run covers two tasks, `ops` and a sample of `clinc150`, since neither alone is triage: one has severities
and escalations on few rows, the other has many labels and what is out of scope. Their rows stand in one dataset, and
their judgements and measurements carry the task's name (`ops.severity.qwk`). With one `--task` the names are plain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, frozen

from yb_eval import Comparison, Context, Dataset, Measurements, Plan, Suite, Target, UsageError, hookimpl, option
from yb_eval.errors import printable
from yb_eval_triage.dataset import Answered, Joined, task_dataset
from yb_eval_triage.evaluator import prefix_of, triage_evaluator
from yb_eval_triage.gates import Bound, Limits, task_gates
from yb_eval_triage.metrics import task_metrics
from yb_eval_triage.schemas import ANSWER, REQUEST
from yb_eval_triage.task import Task
from yb_eval_triage.tasks import SHIPPED, open_task, rows_of

if TYPE_CHECKING:
    from yb_eval_triage.predictions import PredictionsTarget
    from yb_eval_triage.references import References

YB_EVAL_API = 1

DEFAULT_TASKS = ("ops", "clinc150")

#: Classes named in the report's details.
_WORST = 10
#: Of these, how many the text report names.
_TOLD = 5

_TARGETS = {
    "rules": "a readable rule file: the shipped one of the task, or rules:FILE",
    "predictions": 'predictions:FILE, one {"id", "label", ...} a line, recorded elsewhere',
    "openai": "openai:MODEL, with structured output (extra openai)",
    "anthropic": "anthropic:MODEL, with structured output (extra anthropic)",
    "agents": "agents:MODEL, a triage agent of the OpenAI Agents SDK with a hand-off to each label (extra agents)",
    "agents-python": "agents-python:MODULE:ATTRIBUTE, your own agent of that SDK (extra agents)",
}


@frozen(kw_only=True)
class Options:
    """The options of `yb-eval run triage`."""

    task: tuple[str, ...] = option(
        DEFAULT_TASKS, help=f"A task: {', '.join(SHIPPED)}, or a task file (TOML). Repeat for several.", identity=False
    )
    split: str | None = option(
        None,
        help="The rows to measure: test, sample, validation or train.  [default: test, clinc150: sample]",
        identity=False,
    )
    rows: Path | None = option(None, help="Your own labelled rows instead; for one task.", identity=False)
    min_macro_f1: float | None = option(None, help="The macro-F1 that must be reached.", minimum=0, maximum=1)
    max_under_triage: float | None = option(
        None, help="The most rows whose severity may be too low, of all.", minimum=0, maximum=1
    )
    max_cost: float | None = option(
        None, help="The highest mean cost of severities, as a share of the dearest mistake's.", minimum=0, maximum=1
    )
    bound: Bound = option(
        "interval", help="What must hold the limits: the far end of the 95 % interval, or the number itself."
    )
    max_severe_rise: float = option(
        0.0, help="With --against: how much severe under-triage may rise, whatever else improves.", minimum=0, maximum=1
    )
    handoffs: bool = option(False, help="Judge the hand-offs in the answers too; always on for agents.")


def build(options: Options, context: Context) -> Plan:
    """The plan of one run."""
    tasks = _tasks(options)
    parts = {task.name: _rows(task, options) for task in tasks}
    datasets = {
        task.name: task_dataset(task, parts[task.name][1], context.formats, role=f"rows-{task.name}") for task in tasks
    }
    rows = Joined(datasets) if len(tasks) > 1 else datasets[tasks[0].name]
    handoffs = options.handoffs or context.target.partition(":")[0] in ("agents", "agents-python")
    own = _Targets(tasks, context.store, context.settings)
    target = context.open_target(own.by_name())
    dataset: Dataset = rows
    if own.predictions is not None:
        dataset = Answered(rows, own.predictions.lines, own.predictions.spec.partition(":")[2])
    limits = _limits(options)
    prefixes = {task.name: prefix_of(task, tasks) for task in tasks}
    return Plan(
        dataset=dataset,
        evaluator=triage_evaluator(target, tasks, handoffs=handoffs),
        metrics=[metric for task in tasks for metric in task_metrics(task, prefixes[task.name], handoffs=handoffs)],
        gates=[
            gate
            for task in tasks
            for gate in task_gates(task, prefixes[task.name], parts[task.name][0], limits, against=context.against)
        ],
        details=Details(
            tuple(prefixes.items()),
            own.builtin,
            learned=tuple(task.name for task in tasks if own.builtin and _learned(task, parts[task.name][1])),
        ),
    )


def _tasks(options: Options) -> list[Task]:
    if not options.task:
        raise UsageError("no task is named", where="task")
    tasks = [open_task(name) for name in options.task]
    names = [task.name for task in tasks]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise UsageError(f"the task {twice!r} is named twice", where="task")
    if options.rows is not None and len(tasks) > 1:
        raise UsageError("--rows are the rows of one task", hint="--task NAME")
    if options.rows is not None and options.split is not None:
        raise UsageError("--rows and --split name two inputs", hint="choose one")
    return tasks


def _rows(task: Task, options: Options) -> tuple[str | None, Path]:
    return (None, options.rows) if options.rows is not None else rows_of(task, options.split)


def _learned(task: Task, rows: Path) -> bool:
    """Whether these are rows that the built-in triager learns from, its operating point included."""
    return any(rows.resolve() == task.path(role).resolve() for role in ("train", "validation") if role in task.files)


def _limits(options: Options) -> Limits:
    floors = {"macro_f1": options.min_macro_f1}
    ceilings = {"severity.under_triage_rate": options.max_under_triage, "severity.expected_cost": options.max_cost}
    return Limits(
        floors={name: at for name, at in floors.items() if at is not None},
        ceilings={name: at for name, at in ceilings.items() if at is not None},
        bound=options.bound,
        max_severe_rise=options.max_severe_rise,
    )


@define
class _Targets:
    """The suite's own targets by name; what one needs is imported when it is opened.

    `builtin` and `predictions` are what stands behind these two, once they have been opened.
    """

    tasks: Sequence[Task]
    store: Path | None
    settings: Any = None
    builtin: References | None = None
    predictions: PredictionsTarget | None = None

    def by_name(self) -> Mapping[str, Callable[..., Target]]:
        return {
            "builtin": self._builtin,
            "rules": self._rules,
            "predictions": self._predictions,
            "openai": self._openai,
            "anthropic": self._anthropic,
            "agents": self._agents,
            "agents-python": self._agents_python,
        }

    def _builtin(self) -> Target:
        from yb_eval_triage.references import builtin_target

        target, self.builtin = builtin_target(self.tasks, self.store)
        return target

    def _rules(self, file: str | None = None) -> Target:
        from yb_eval_triage.references import rules_target

        return rules_target(self.tasks, file)

    def _predictions(self, file: str) -> Target:
        from yb_eval_triage.predictions import predictions_target

        self.predictions = predictions_target(Path(file))
        return self.predictions

    def _openai(self, model: str) -> Target:
        from yb_eval_triage.llm import openai_target

        return openai_target(model, self.tasks, self.settings)

    def _anthropic(self, model: str) -> Target:
        from yb_eval_triage.llm import anthropic_target

        return anthropic_target(model, self.tasks, self.settings)

    def _agents(self, model: str) -> Target:
        from yb_eval_triage.agents import reference_agent_target

        return reference_agent_target(model, self.tasks, self.settings)

    def _agents_python(self, agent: str) -> Target:
        from yb_eval_triage.agents import user_agent_target

        return user_agent_target(agent, self.tasks, self.settings)


@frozen(slots=True)
class Details:
    """The suite's own part of the report: of each task the classes with the lowest F1, whether constants are beaten, and
    how the built-in triager chose its operating point (where it was asked).

    `prefixes` are (task, prefix of its measurements); `learned` the tasks that are measured on rows the built-in
    triager has learned from. Under `summary` stands what to print for people.
    """

    prefixes: tuple[tuple[str, str], ...]
    builtin: References | None = None
    learned: tuple[str, ...] = ()

    def __call__(self, measured: Measurements, comparison: Comparison | None) -> Mapping[str, Any]:
        said: dict[str, Any] = {task: self._of(prefix, measured) for task, prefix in self.prefixes}
        for task, part in said.items():
            facts = None if self.builtin is None else self.builtin.facts(task)
            if facts is not None:
                part["operating_point"] = dict(facts)
        summary = [
            f"{task}: the built-in triager has learned from these rows: its numbers say nothing about others"
            for task in self.learned
        ]
        summary += [
            f"{task}: the trained model could not be kept in the store ({printable(why)}): the next run trains again"
            for task, _ in self.prefixes
            if self.builtin is not None and (why := self.builtin.unkept(task)) is not None
        ]
        summary += [
            f"{task}: lowest F1: "
            + ", ".join(f"{printable(each['label'])} {each['f1']:.2f} (n = {each['n']})" for each in worst[:_TOLD])
            for task, part in said.items()
            if (worst := part["worst_classes"])
        ]
        if summary:
            said.setdefault("summary", summary)
        return said

    def _of(self, prefix: str, measured: Measurements) -> dict[str, Any]:
        opening = f"{prefix}f1["
        classes = [
            (found.value, name[len(opening) : -1], found.n)
            for name, found in measured.items()
            if name.startswith(opening) and found.value is not None
        ]
        said: dict[str, Any] = {
            "worst_classes": [{"label": label, "f1": f1, "n": n} for f1, label, n in sorted(classes)[:_WORST]]
        }
        for name, constant, sign in (
            ("accuracy", "best_constant_accuracy", 1),
            ("severity.expected_cost", "severity.constant_cost", -1),
        ):
            own, other = measured.get(prefix + name), measured.get(prefix + constant)
            if own is not None and other is not None and own.value is not None and other.value is not None:
                said.setdefault("beats", {})[constant] = (own.value - other.value) * sign > 0
        return said


@hookimpl
def yb_eval_suite() -> Suite[Options]:
    return Suite(
        name="triage",
        summary="What is this item, how bad is it, must a person come, and how sure is the triager?",
        options=Options,
        build=build,
        request=REQUEST,
        answer=ANSWER,
        targets=_TARGETS,
        baseline=Path("datasets/eval/triage_baseline.json"),
        commands={"audit": "yb_eval_triage.commands:audit"},
    )
