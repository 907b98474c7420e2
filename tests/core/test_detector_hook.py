"""The hook `yb_eval_detectors`: what one plugin can find, another may ask for without importing it."""

import importlib
import sys

import pytest

from yb_eval.discovery import DETECTORS, PLUGINS, find
from yb_eval.errors import PluginError
from yb_eval.hooks import manager
from yb_eval.plugins import load_extensions

GOOD = """
import yb_eval
YB_EVAL_API = 1

def shout(text):
    return [{"type": "shout", "start": i, "end": i + 1, "confidence": 1.0} for i, c in enumerate(text) if c == "!"]

shout.types = frozenset({"shout"})

@yb_eval.hookimpl
def yb_eval_detectors():
    return {NAME: shout}
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def make(distribution, code, group="detectors"):
        module = distribution.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[yb_eval.{group}]\n{distribution} = {module}\n", encoding="utf-8")
        importlib.invalidate_caches()
        return module

    yield make
    for name in set(sys.modules) - before:
        sys.modules.pop(name)


def test_a_detector_is_offered_by_its_name(install):
    install("yb-loud", GOOD.replace("NAME", "'loud'"))
    detect = load_extensions(DETECTORS).provide("yb_eval_detectors")["loud"]
    assert detect("a!😀!") == [
        {"type": "shout", "start": 1, "end": 2, "confidence": 1.0},
        {"type": "shout", "start": 3, "end": 4, "confidence": 1.0},
    ]
    assert detect.types == {"shout"}


def test_a_run_s_plugins_do_not_load_detectors(install):
    module = install("yb-loud", "raise RuntimeError('imported')")
    assert "yb-loud" in find(DETECTORS) and "yb-loud" not in find(PLUGINS)
    load_extensions()
    assert module not in sys.modules


def test_a_broken_detector_plugin_leaves_the_others(install):
    install("yb-loud", GOOD.replace("NAME", "'loud'"))
    install("yb-sad", "raise SystemExit(0)")
    extensions = load_extensions(DETECTORS)
    assert "SystemExit" in extensions.broken["yb-sad"]
    assert "loud" in extensions.provide("yb_eval_detectors")


def test_one_name_offered_twice_is_an_error_that_names_both(install):
    install("yb-one", GOOD.replace("NAME", "'same'"))
    install("yb-two", GOOD.replace("NAME", "'same'"))
    with pytest.raises(PluginError, match="'yb-one' and 'yb-two'"):
        load_extensions(DETECTORS).provide("yb_eval_detectors")


def test_the_environment_may_forbid_them(install, monkeypatch):
    install("yb-loud", GOOD.replace("NAME", "'loud'"))
    monkeypatch.setenv("YB_EVAL_PLUGINS", "other")
    assert "loud" not in load_extensions(DETECTORS).provide("yb_eval_detectors")


def test_a_hook_that_does_not_fit_its_spec_is_refused():
    class Wrong:
        @staticmethod
        def yb_eval_detectors(text):
            return {}

    from yb_eval import hookimpl

    hookimpl(Wrong.yb_eval_detectors)
    with pytest.raises(Exception, match="yb_eval_detectors"):
        manager([Wrong])


def test_the_guards_offer_theirs_and_importing_them_compiles_nothing():
    import subprocess

    code = (
        "import sys; from yb_eval.discovery import DETECTORS; from yb_eval.plugins import load_extensions\n"
        "found = load_extensions(DETECTORS).provide('yb_eval_detectors')['guards']\n"
        "assert not {'re2', 'hyperscan', 'stdnum'} & set(sys.modules), 'loaded too early'\n"
        "card = '4539 1488 0343 6467'\n"
        "text = '😀 card ' + card\n"
        "(one,) = found(text)\n"
        "assert (one['type'], text[one['start']:one['end']]) == ('pan', card), one\n"
        "assert 'value' not in one and len(found.fingerprint) == 64 and 'pan' in found.types\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
