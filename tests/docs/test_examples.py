"""The examples in the README and in docs/ do what they say: blocks marked `console` are run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)
]


def test_there_are_examples_to_run():
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("block", EXAMPLES)
def test_an_example_prints_what_the_page_says(block, tmp_path):
    """Lines after `$` are commands, run by bash in an empty folder; `...` stands for anything."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        pattern = "\n".join(re.escape(line).replace(re.escape("..."), ".*") for line in expected.rstrip().splitlines())
        assert re.search(pattern, done.stdout, re.DOTALL), (command, done.stdout, done.stderr)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_command_and_every_core_option_is_documented():
    from yb_eval.cli.group import COMMANDS
    from yb_eval.options import describe
    from yb_eval.runoptions import RunOptions

    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"yb-eval {name}" not in text] == []
    assert [info.name for info in describe(RunOptions) if f"--{info.name}" not in text] == []


def test_every_hook_is_documented():
    import inspect

    from yb_eval import hooks

    for name, function in vars(hooks).items():
        if name.startswith("yb_eval_"):
            assert inspect.getdoc(function), name


def test_the_published_schema_of_the_configuration_is_current():
    import json

    from yb_eval.schema import configuration_schema

    published = json.loads((ROOT / "docs" / "yb-eval.schema.json").read_text(encoding="utf-8"))
    assert published == configuration_schema(), "yb-eval config schema > docs/yb-eval.schema.json"


def test_the_examples_of_the_configuration_are_valid():
    import json
    import tomllib

    import jsonschema

    schema = json.loads((ROOT / "docs" / "yb-eval.schema.json").read_text(encoding="utf-8"))
    texts = [(ROOT / "yb-eval.toml").read_text(encoding="utf-8")]
    for page in PAGES:
        texts += re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    checked = [tomllib.loads(text) for text in texts]
    examples = [document for document in checked if document.keys() & {"suites", "run"}]
    assert len(examples) >= 2
    for document in examples:
        jsonschema.validate(document, schema)
