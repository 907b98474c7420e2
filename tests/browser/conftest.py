"""The browser that these tests drive: Debian's Chromium, without anything that would look for a network."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path(os.environ.get("YB_EVAL_CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _missing(reason: str) -> None:
    if os.environ.get("YB_EVAL_REQUIRE_BROWSER") == "1":
        pytest.fail(f"YB_EVAL_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(f"{reason}: this is not tried in a browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        _missing(f"there is no {CHROMIUM}")
    if importlib.util.find_spec("playwright") is None:
        _missing("playwright is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()
