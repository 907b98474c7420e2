"""Fixtures of the core's tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def documents() -> ModuleType:
    """The factory of realistic runs, `report_documents.py`: helpers beside tests are not importable by name."""
    spec = importlib.util.spec_from_file_location("report_documents", Path(__file__).with_name("report_documents.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
