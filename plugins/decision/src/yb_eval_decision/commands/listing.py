"""`yb-eval decision list` and `describe`: which evals there are, and what one of them asks."""

from __future__ import annotations

from typing import Any

import click
import orjson

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.eval import Eval
from yb_eval_decision.questions import wire_question
from yb_eval_decision.sample import Sample

CATEGORIES = ("agent", "security", "quality")

#: A sample that every built-in eval applies to: what is asked of it is what is asked of any.
EXAMPLE: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "You help customers of a shop."},
        {"role": "user", "content": "Where is order 1042?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"order": "1042"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"status": "shipped", "by": "2 May"}'},
        {"role": "assistant", "content": "Order 1042 is on its way. It should arrive by 2 May."},
    ],
    "tools": [{"name": "find_order", "description": "Looks up an order.", "parameters": {"type": "object"}}],
    "contexts": ["Orders that have shipped arrive within five days."],
    "expected": "It has shipped and arrives by 2 May.",
    "expected_tool_calls": [{"name": "find_order", "args": {"order": "1042"}}],
    "plan": "Look the order up, then tell the customer where it is.",
    "allowed_topics": ["orders", "delivery"],
}


@click.command("list")
@click.option("--category", type=click.Choice(CATEGORIES), help="Only these.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
def list_evals(category: str | None, as_json: bool) -> None:
    """List the built-in evals: what each asks, and what a sample must have for it."""
    from yb_eval_decision.registry import builtin_evals

    kinds = [kind for kind in builtin_evals().values() if category in (None, kind.category)]
    told = [_told(kind) for kind in kinds]
    if as_json:
        click.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return
    width = max(len(one["name"]) for one in told)
    for group in CATEGORIES:
        members = [one for one in told if one["category"] == group]
        if not members:
            continue
        click.echo(f"{group} ({len(members)})")
        for one in members:
            needs = f"  [{', '.join(one['requires'])}]" if one["requires"] else ""
            click.echo(f"  {one['name']:<{width}}  {one['description']}{needs}")


@click.command("describe")
@click.argument("name")
def describe_eval(name: str) -> None:
    """Print an eval as JSON: its parameters, and the state and questions of an example sample.

    NAME is a built-in eval, with parameters if you like (see `list`), or a YAML file.
    """
    from yb_eval_decision.registry import builtin_evals, resolve_evals

    kind = builtin_evals().get(name)
    if kind is not None and any(declared.required for declared in kind.parameters.values()):
        told = {**_told(kind), "parameters": _parameters(kind)}
    else:
        evals = resolve_evals([name])
        if len(evals) != 1:
            raise UsageError(f"{shorten(name)} names {len(evals)} evals", hint="describe one of them")
        told = {**evals[0].describe(), **_example(evals[0])}
    click.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())


def _told(kind: type[Eval]) -> dict[str, Any]:
    return {
        "name": kind.name,
        "category": kind.category,
        "description": (kind.__doc__ or "").strip().partition("\n")[0],
        "requires": list(kind.requires),
    }


def _parameters(kind: type[Eval]) -> dict[str, Any]:
    return {
        name: {"required": True, "help": declared.help}
        if declared.required
        else {"default": declared.default, "help": declared.help}
        for name, declared in kind.parameters.items()
    }


def _example(one: Eval) -> dict[str, Any]:
    """What the eval shows and asks of the example; an eval that it does not suit says nothing."""
    s = Sample.of(EXAMPLE)
    try:
        if s.missing(one.requires) or not one.applicable(s)[0]:
            return {}
        questions = {name: wire_question(asked) for name, asked in one.questions(s).items()}
        return {"example": {"state": dict(one.state(s)), "questions": questions}}
    except UsageError:
        return {}
