"""`yb-eval triage audit`, through the command line's own entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from yb_eval.cli import main


@pytest.fixture
def labelled(write: Callable[..., Path]) -> Path:
    words = {"outage": "server down unreachable broken", "billing": "invoice refund charge money"}
    rows: list[Any] = []
    for label, text in words.items():
        first, *others = text.split()
        rows += [
            {
                "id": f"{label}-{i}",
                "text": f"{first} {others[i % 3]} number {'abcdefghij'[i]}",
                "gold": {"label": label},
            }
            for i in range(10)
        ]
    rows.append({"id": "wrong", "text": "invoice refund number z", "gold": {"label": "outage"}})
    rows.append({"id": "twin-1", "text": "please help me with the thing on my desk", "gold": {"label": "outage"}})
    rows.append({"id": "twin-2", "text": "Please help me with the thing on my desk!", "gold": {"label": "billing"}})
    return write(rows)


def test_an_audit_lists_a_wrong_label_and_a_clash(
    labelled: Path, desk_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["triage", "audit", "--task", str(desk_file), "--rows", str(labelled)]) == 0
    out = capsys.readouterr().out
    assert "of 23 labels are suspect" in out
    assert "wrong  outage" in out
    assert "-> billing" in out
    assert "1.00  twin-1 outage / twin-2 billing" in out


def test_an_audit_as_json_holds_all_of_it(labelled: Path, desk_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["triage", "audit", "--task", str(desk_file), "--rows", str(labelled), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == 23
    assert document["disagreements"][0]["id"] == "wrong"
    assert document["clashes"][0]["first"] == "twin-1"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--task", "opps"], "there is no task 'opps'"),
        (["--task", "ops", "--split", "sample"], "no sample file"),
        (["--rows", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
        (["--similarity", "7"], "similarity"),
    ],
)
def test_what_cannot_be_audited_is_refused(
    arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["triage", "audit", *arguments]) == 2
    assert fault in capsys.readouterr().err
