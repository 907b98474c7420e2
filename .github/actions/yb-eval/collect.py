"""Copies the outcome logs of a run's suites beside its report, and prints the outputs of the action's step.

`python collect.py FOLDER`: reads FOLDER/report.json and the store that YB_EVAL_STORE names, writes
FOLDER/outcomes/NAME.jsonl for each suite.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

from yb_eval.record import Store

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")


def main(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    print(f"verdict={report['verdict']}")
    print(f"run-id={report['run_id'] or ''}")
    store = Store(Path(os.environ["YB_EVAL_STORE"]))
    for suite in report["suites"]:
        if suite["outcomes"] is None or not NAME.match(suite["name"]):
            continue
        target = folder / "outcomes" / f"{suite['name']}.jsonl"
        target.parent.mkdir(exist_ok=True)
        with store.open(suite["outcomes"]["sha256"]) as log, target.open("wb") as file:
            shutil.copyfileobj(log, file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
