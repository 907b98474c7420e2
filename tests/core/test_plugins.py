"""Finding and loading plugins: lazy, isolated, no clash goes unseen."""

import sys
from pathlib import Path

import pytest

from yb_eval.discovery import claim, find
from yb_eval.errors import PluginError
from yb_eval.plugins import load_extensions, load_suite

GOOD = """
from attrs import frozen
import yb_eval
YB_EVAL_API = 1

@frozen(kw_only=True)
class Options:
    pass

@yb_eval.hookimpl
def yb_eval_suite():
    return yb_eval.Suite(name={name!r}, summary="s", options=Options, build=lambda options, context: None)
"""


class Site:
    """A folder on sys.path in which distributions are installed by writing their metadata."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, distribution: str, entry: str, code: str, *, module: str | None = None, group: str = "suites"):
        module = module or distribution.replace("-", "_")
        (self.folder / f"{module}.py").write_text(code, encoding="utf-8")
        info = self.folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\nSummary: a test plugin\n\nSummary: not this\n",
            encoding="utf-8",
        )
        (info / "entry_points.txt").write_text(f"[yb_eval.{group}]\n{entry} = {module}\n", encoding="utf-8")
        return module


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield Site(tmp_path)
    for name in set(sys.modules) - before:
        sys.modules.pop(name)


def test_finding_a_plugin_reads_metadata_and_imports_nothing(site):
    module = site.install("yb-find", "find-me", "raise RuntimeError('imported')")
    (found,) = find()["find-me"]
    assert (found.distribution, found.version, found.summary) == ("yb-find", "1.0", "a test plugin")
    assert module not in sys.modules


def test_a_good_plugin_gives_its_suite_and_imports_no_other(site):
    site.install("yb-good", "good", GOOD.format(name="good"))
    other = site.install("yb-other", "other", GOOD.format(name="other"))
    suite, loaded = load_suite("good")
    assert suite.name == "good" and loaded.found.distribution == "yb-good"
    assert other not in sys.modules


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("raise ImportError('no luck')", "ImportError: no luck"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("raise RuntimeError('two\\nlines')", "RuntimeError"),
    ],
)
def test_a_plugin_that_fails_when_imported_is_one_error_that_says_why(site, code, said):
    site.install("yb-bad", "bad", code)
    with pytest.raises(PluginError) as caught:
        load_suite("bad")
    assert said in str(caught.value) and "yb-bad 1.0" in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "does not say which plugin API"),
        ("YB_EVAL_API = 2", "is for plugin API 2"),
        ("YB_EVAL_API = 1", "no yb_eval_suite() that returns a Suite"),
        (GOOD.format(name="another"), "under another name"),
        ("import yb_eval\nYB_EVAL_API=1\n@yb_eval.hookimpl\ndef yb_eval_suite():\n    raise ValueError('no')", "ValueError: no"),
        ("import yb_eval\nYB_EVAL_API=1\n@yb_eval.hookimpl\ndef yb_eval_suite():\n    raise SystemExit(0)", "SystemExit"),
        ("import yb_eval\nYB_EVAL_API=1\n@yb_eval.hookimpl\ndef yb_eval_suite():\n    return 3", "returns a Suite"),
        ("import yb_eval\nYB_EVAL_API=1\n@yb_eval.hookimpl\ndef yb_eval_suite(what):\n    return 3", "yb_eval_suite"),
    ],
)  # fmt: skip
def test_a_plugin_that_breaks_the_contract_is_refused(site, code, said):
    site.install("yb-bad", "bad", code)
    with pytest.raises(PluginError, match=said.replace("(", r"\(").replace(")", r"\)")):
        load_suite("bad")


def test_two_distributions_with_one_name_are_refused_naming_both(site):
    site.install("yb-one", "same", GOOD.format(name="same"))
    site.install("yb-two", "same", GOOD.format(name="same"))
    with pytest.raises(PluginError, match=r"'same' is claimed by yb-one 1\.0 and yb-two 1\.0"):
        load_suite("same")


def test_an_unknown_suite_names_the_nearest(site):
    site.install("yb-good", "goodness", GOOD.format(name="goodness"))
    with pytest.raises(PluginError, match="did you mean 'goodness'"):
        claim("godness")


def test_the_environment_can_allow_and_disable_plugins(site, monkeypatch):
    site.install("yb-good", "good", GOOD.format(name="good"))
    monkeypatch.setenv("YB_EVAL_DISABLE_PLUGINS", "1")
    with pytest.raises(PluginError, match="not allowed"):
        load_suite("good")
    for names in ("good", "yb_good", "other, YB-Good"):
        monkeypatch.setenv("YB_EVAL_PLUGINS", names)
        assert load_suite("good")[0].name == "good"
    monkeypatch.delenv("YB_EVAL_DISABLE_PLUGINS")
    monkeypatch.setenv("YB_EVAL_PLUGINS", "other")
    with pytest.raises(PluginError, match="not allowed"):
        load_suite("good")


def test_a_broken_extension_is_reported_and_the_others_stand(site):
    code = "import yb_eval\nYB_EVAL_API=1\n@yb_eval.hookimpl\ndef yb_eval_metrics():\n    return {'one': int}\n"
    site.install("yb-ext", "ext", code, group="plugins")
    site.install("yb-broken", "broken", "raise SystemExit(0)", group="plugins")
    extensions = load_extensions()
    assert "SystemExit" in extensions.broken["broken"]
    assert extensions.provide("yb_eval_metrics") == {"one": int}
    assert {"text", "json"} <= extensions.provide("yb_eval_reporters").keys(), "core's own come by the same door"


def test_two_extensions_that_offer_one_name_are_refused(site):
    code = "import yb_eval\nYB_EVAL_API=1\n@yb_eval.hookimpl\ndef yb_eval_metrics():\n    return {'one': int}\n"
    site.install("yb-ext", "ext", code, group="plugins")
    site.install("yb-ext2", "ext2", code, group="plugins")
    with pytest.raises(PluginError, match="'one' is offered by the plugins 'ext' and 'ext2'"):
        load_extensions().provide("yb_eval_metrics")


def test_a_hook_that_raises_is_handed_over_and_the_next_is_called(site):
    raising = (
        "import yb_eval\nYB_EVAL_API=1\n@yb_eval.hookimpl\ndef yb_eval_run_finished(report):\n    raise SystemExit(0)\n"
    )
    fine = "import yb_eval\nYB_EVAL_API=1\nseen=[]\n@yb_eval.hookimpl\ndef yb_eval_run_finished(report):\n    seen.append(report)\n"
    site.install("yb-a", "a", raising, group="plugins")
    module = site.install("yb-b", "b", fine, group="plugins")
    results = dict(load_extensions().each("yb_eval_run_finished", report={"x": 1}))
    assert isinstance(results["a"], SystemExit)
    assert sys.modules[module].seen == [{"x": 1}]
