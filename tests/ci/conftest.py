"""Fixtures: a fake forge on loopback, and the folder of a user with a small suite in it (that of the end-to-end tests)."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


def load(path: Path) -> ModuleType:
    """A helper beside tests, by its path: such files are not importable by name."""
    spec = importlib.util.spec_from_file_location(f"yb_eval_tests_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


helpers = load(HERE.parent / "end_to_end" / "conftest.py")
fakes = load(HERE / "fake_forge.py")


@pytest.fixture
def forge() -> Iterator[Any]:
    made = fakes.FakeForge()
    yield made
    made.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    helpers.install(made, "yb-toy", {"toy": "yb_toy"}, helpers.TOY)
    return made


@pytest.fixture
def project(tmp_path: Path, site: Path) -> Any:
    folder = tmp_path / "project"
    folder.mkdir()
    made = helpers.Project(folder, site)
    made.rows(helpers.parity_rows(20))
    return made


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Path:
    """A folder with a run that passed; made once and copied."""
    folder = tmp_path_factory.mktemp("finished")
    made = helpers.Project(folder, site)
    made.rows(helpers.parity_rows(20))
    made("run", "toy")
    return folder


@pytest.fixture
def ran(project: Any, finished: Path) -> Any:
    """A project with a run that passed."""
    shutil.copytree(finished, project.folder, dirs_exist_ok=True)
    return project


@pytest.fixture
def rows() -> Any:
    return helpers.parity_rows


@pytest.fixture
def github(forge: Any, project: Any) -> dict[str, str]:
    """The environment of a job for pull request 7 of acme/router."""
    event = project.write("event.json", json.dumps({"pull_request": {"number": 7}}))
    summary = project.write("summary.md", "")
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": forge.url,
        "GITHUB_REPOSITORY": "acme/router",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_RUN_ID": "100",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_TOKEN": fakes.TOKEN,
        "YB_EVAL_COMMENT_WAIT": "0.01",
    }


@pytest.fixture
def gitlab(forge: Any) -> dict[str, str]:
    """The environment of a job for merge request 7 of the project 42."""
    forge.me = {"id": 5, "username": "project_42_bot"}
    return {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": forge.url,
        "CI_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_PIPELINE_ID": "100",
        "CI_JOB_ID": "1000",
        "GITLAB_TOKEN": fakes.TOKEN,
        "YB_EVAL_COMMENT_WAIT": "0.01",
    }
