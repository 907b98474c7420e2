#!/usr/bin/env python3
"""Makes the table of the built-in evals in docs/decision.md, from the evals themselves.

python scripts/decision_evals_table.py            print it
python scripts/decision_evals_table.py --write    put it into the page, between its markers
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from yb_eval_decision import Sample
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.commands.listing import EXAMPLE
from yb_eval_decision.eval import Eval
from yb_eval_decision.registry import BUILTIN, builtin_evals

PAGE = Path(__file__).parents[1] / "docs" / "decision.md"
BEGIN, END = "<!-- the evals: made by scripts/decision_evals_table.py -->", "<!-- end of the evals -->"
#: Parameters that many evals share, which the page describes once.
COMMON = ("name", "insufficient", "enough_at")
_CHAT = {
    "messages": [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "It is on its way."}]
}
#: Reasons that read badly as needs.
WORDS = {
    "tool is on offer and none was called": "tools or tool calls",
    "tool results and no contexts": "tool results or contexts",
}
#: What code decides of evals that otherwise ask a model that is not local.
PARTLY = frozenset({"loop_detection", "pii", "phi", "secrets_exposure"})


def table() -> Iterator[str]:
    for category, names in BUILTIN.items():
        yield f"**{category}** ({len(names)})\n"
        yield "| eval | asks | needs | parameters | offline |\n|---|---|---|---|---|"
        for name in names:
            yield row(builtin_evals()[name])
        yield ""


def row(kind: type[Eval]) -> str:
    required = {name: _example(name) for name, declared in kind.parameters.items() if declared.required}
    one = kind(**required)
    asks = (kind.__doc__ or "").strip().partition("\n")[0]
    parameters = ", ".join(_parameter(name, declared.default, declared.required) for name, declared in kind.parameters.items()
                           if name not in COMMON)  # fmt: skip
    return f"| `{kind.name}` | {asks} | {_needs(one)} | {parameters} | {_offline(one)} |"


def _example(name: str) -> Any:
    return ["bad", "good"] if name == "levels" else "Is it good?"


def _needs(one: Eval) -> str:
    """What samples that have nothing, and no more than a question and its answer, are told to be missing."""
    found: list[str] = []
    for given in ({"note": "nothing"}, _CHAT):
        (piece,) = EvalSet([one]).ask(Sample.of(given))
        missing = re.sub(r"^.*\bmissing |^no ", "", str(getattr(piece, "reason", "")))
        missing = WORDS.get(missing, missing)
        found += [missing] if missing not in "; ".join(found) else []
    return "; ".join(found)


def _parameter(name: str, default: Any, required: bool) -> str:
    if required:
        return f"`{name}` (required)"
    if isinstance(default, Mapping | list | tuple) and name in ("levels", "options"):
        words = "/".join(default) if isinstance(default, Mapping) else f"{len(default)}"
        return f"`{name}` {words}"
    if isinstance(default, list | tuple):
        return f"`{name}` {'/'.join(default)}"
    return (
        f"`{name}`" if default is None else f"`{name}` {str(default).lower() if isinstance(default, bool) else default}"
    )


def _offline(one: Eval) -> str:
    s = Sample.of(EXAMPLE)
    questions = {} if one.pre(s) is not None else one.questions(s)
    if one.name in PARTLY:
        return "partly"
    if not questions:
        return "code"
    asked = [question for id, question in questions.items() if "enough" not in id]
    return "local" if all(question.task is not None for question in asked) else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    made = "\n".join(table()).rstrip()
    if not parser.parse_args().write:
        print(made)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
