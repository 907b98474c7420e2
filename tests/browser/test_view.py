"""`yb-eval view` in a real browser: Debian's chromium, headless, against the command itself on a store on loopback.

Skipped where chromium, Playwright or the extra is missing, unless YB_EVAL_REQUIRE_BROWSER=1. With
YB_EVAL_SCREENSHOTS=FOLDER the pages are photographed on the way, for a person to look at.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import frozen

from yb_eval.record import Store

MAIN = "import sys; from yb_eval.cli import main; sys.exit(main(sys.argv[1:]))"

Visit = Callable[..., Any]


def _missing(reason: str) -> None:
    if os.environ.get("YB_EVAL_REQUIRE_BROWSER") == "1":
        pytest.fail(f"YB_EVAL_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(f"{reason}: the view of the store is not tried in a browser")


def helper(name: str) -> ModuleType:
    """A helper beside the tests of core, which is not importable by name."""
    path = Path(__file__).parents[1] / "core" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@frozen
class Served:
    url: str
    store: Store
    ids: dict[str, str]


def served(root: Path) -> Iterator[Served]:
    for needed in ("starlette", "uvicorn"):
        if importlib.util.find_spec(needed) is None:
            _missing(f"{needed} is not installed")
    store, ids = helper("view_stores").busy(root, helper("report_documents"))
    server = subprocess.Popen(
        [sys.executable, "-c", MAIN, "view", "--store", str(root), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield Served(server.stdout.readline().strip().rstrip("/"), store, ids)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)
    assert server.returncode == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    yield from served(tmp_path_factory.mktemp("view") / "store")


@pytest.fixture
def own_site(tmp_path: Path) -> Iterator[Served]:
    """A server of its own, whose store is to be written to or damaged."""
    yield from served(tmp_path / "store")


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Opens a page; afterwards there must have been no console message, no error, and no request but for pages."""
    contexts: list[Any] = []
    heard: list[str] = []

    def opened(site: Served, path: str = "/", *, width: int = 1280, quiet: bool = True, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()

        def requested(request: Any) -> None:
            if request.resource_type != "document" or not request.url.startswith(f"{site.url}/"):
                heard.append(f"request: {request.url}")

        if quiet:
            page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on("request", requested)
        page.goto(site.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert heard == []


def follow(page: Any, control: Any) -> None:
    """Clicks what leads to another page and waits until that one is loaded: counting elements does not wait."""
    with page.expect_navigation():
        control.click()


def photograph(page: Any, name: str) -> None:
    folder = os.environ.get("YB_EVAL_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"view-{name}.png"), full_page=True)


def paths(ids: dict[str, str]) -> dict[str, str]:
    return {
        "runs": "/",
        "trends": "/trends?suite=guards",
        "run": f"/runs/{ids['guards 8']}",
        "composed": f"/runs/{ids['composed']}",
        "compare": f"/compare?before={ids['guards 4']}&after={ids['guards 8']}",
        "hostile": "/trends?suite=hostile",
        "hostile-run": f"/runs/{ids['hostile 13']}",
        "hostile-compare": f"/compare?before={ids['hostile 12']}&after={ids['hostile 13']}",
    }


NAMES = ["runs", "trends", "run", "composed", "compare", "hostile", "hostile-run", "hostile-compare"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", NAMES)
def test_each_page_opens_without_a_message_and_fits_the_screen(
    visit: Visit, site: Served, name: str, width: int, scheme: str
) -> None:
    page = visit(site, paths(site.ids)[name], width=width, color_scheme=scheme)
    photograph(page, f"{name}-{width}-{scheme}")
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_list_leads_to_a_run_and_back(visit: Visit, site: Served) -> None:
    page = visit(site)
    assert page.title() == "Runs - yb-eval"
    row = page.locator(".runs tbody tr", has_text=site.ids["passing"][:12])
    assert "pass" in row.inner_text() and "python:mine:guard" in row.inner_text()
    follow(page, row.locator("a"))
    assert page.locator("h1").inner_text() == "Pass"
    assert page.locator("#table tr.row").count() > 5
    follow(page, page.get_by_role("link", name="Runs"))
    assert page.locator("h1").inner_text().startswith("Runs")


def test_filters_are_links_that_say_which_is_chosen(visit: Visit, site: Served) -> None:
    page = visit(site)
    filters = page.get_by_label("Filters")
    follow(page, filters.get_by_role("link", name="triage", exact=True))
    assert page.locator(".runs tbody tr").count() == 3
    follow(page, filters.get_by_role("link", name="fail", exact=True))
    assert page.locator(".runs tbody tr").count() == 1
    assert filters.locator("[aria-current]").all_inner_texts() == ["triage", "fail"]


def test_two_runs_of_a_suite_are_ticked_and_compared(visit: Visit, site: Served) -> None:
    page = visit(site)
    button = page.get_by_role("button", name="Compare")
    box = lambda run: page.locator(f"input[value='{site.ids[run]}']")  # noqa: E731
    assert button.is_disabled()
    box("guards 8").check()
    assert box("triage 10").is_disabled() and box("composed").is_enabled()
    assert page.locator("#chosen").inner_text() == "Tick one more run of that suite."
    box("guards 4").check()
    assert box("guards 5").is_disabled() and button.is_enabled()
    follow(page, button)
    assert f"before={site.ids['guards 4']}&after={site.ids['guards 8']}" in page.url
    assert page.locator(".tile.fixed b").inner_text() == "8"


def test_a_changed_sample_leads_to_its_row_in_the_run(visit: Visit, site: Served) -> None:
    page = visit(site, paths(site.ids)["compare"])
    page.get_by_text("Fixed and changed (8)").click()
    link = page.locator(".flips a").first
    name = link.inner_text()
    follow(page, link)
    page.wait_for_selector("#table tr.panel")
    assert page.url.startswith(f"{site.url}/runs/{site.ids['guards 8']}#sample=")
    assert page.locator("#table tr.row .open").all_inner_texts() == [name]


def test_trends_lead_to_runs_and_comparisons(visit: Visit, site: Served) -> None:
    page = visit(site)
    follow(page, page.locator(".overview-card", has_text="guards"))
    assert page.locator("h2").first.inner_text() == "guards builtin"
    said = page.locator("svg.trend").first.get_attribute("aria-label")
    assert said.startswith("precision: 8 runs, from ") and "gate >= 0.98" in said
    follow(page, page.get_by_role("link", name=f"compare {site.ids['guards 8'][:12]} with the run before"))
    assert page.locator(".side").count() == 2
    assert site.ids["guards 7"][:12] in page.locator(".side").first.inner_text()


def test_a_run_leads_to_its_comparison_with_the_one_before(visit: Visit, site: Served) -> None:
    page = visit(site, paths(site.ids)["run"])
    follow(page, page.get_by_role("link", name="Compare with the run before"))
    assert f"before={site.ids['guards 7']}" in page.url and page.locator(".tile").count() == 4


def test_the_keyboard_reaches_and_moves_everything(visit: Visit, site: Served) -> None:
    page = visit(site)
    focus = "document.activeElement"
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focus}.className") == "skip"
    assert page.evaluate(f"getComputedStyle({focus}).outlineStyle") == "solid"
    links = page.locator("a.to-run")
    links.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(f"{focus}.href") == links.nth(1).evaluate("(link) => link.href")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(f"{focus}.type") == "checkbox"
    page.keyboard.press("Space")
    assert page.evaluate(f"{focus}.checked") is True
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#table")


def test_dark_and_light_follow_the_system_and_the_choice_goes_with_the_reader(visit: Visit, site: Served) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    light, dark = visit(site, color_scheme="light"), visit(site, color_scheme="dark")
    white, black = light.evaluate(back), dark.evaluate(back)
    assert white != black
    light.locator("#theme").click()
    light.locator("#theme").click()
    assert light.locator("#theme").inner_text() == "Theme: dark" and light.evaluate(back) == black
    follow(light, light.get_by_role("link", name="Trends"))
    assert light.locator("#theme").inner_text() == "Theme: dark" and light.evaluate(back) == black


@pytest.mark.parametrize("name", ["runs", "hostile", "hostile-run", "hostile-compare"])
def test_hostile_text_is_shown_as_text_and_does_nothing(visit: Visit, site: Served, name: str) -> None:
    page = visit(site, paths(site.ids)[name])
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("img, iframe, object, embed, svg[onload], [onerror]").count() == 0
    assert page.evaluate("[...document.links].every((link) => link.origin === location.origin)")
    text = page.locator("body").inner_text()
    assert "<img src=x onerror='window.pwned = 3'>" in text and "\u202e" not in text and "\x1b" not in text


def test_a_hostile_address_is_text_too(visit: Visit, site: Served) -> None:
    page = visit(site, "/?suite=<script>window.pwned=1</script>&after='\"><img src=x>")
    assert page.evaluate("typeof window.pwned") == "undefined" and page.locator("main img").count() == 0
    assert "<script>window.pwned=1</script>" in page.locator("#runs-title").inner_text()


def test_the_policy_refuses_requests_handlers_and_markup(visit: Visit, site: Served) -> None:
    page = visit(site, quiet=False)
    tried = page.evaluate(
        """async () => {
          const attempt = async (make) => { try { await make(); return "done"; } catch (error) { return error.name; } };
          const button = document.createElement("button");
          await attempt(() => button.setAttribute("onclick", "window.pwned = 1"));
          document.body.append(button);
          button.click();
          return {
            fetch: await attempt(() => fetch("/")),
            markup: await attempt(() => { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); }),
            pwned: typeof window.pwned,
          };
        }"""
    )
    assert tried == {"fetch": "TypeError", "markup": "TypeError", "pwned": "undefined"}


def test_no_page_can_be_framed(browser: Any, site: Served, tmp_path: Path) -> None:
    frame = tmp_path / "frame.html"
    frame.write_text(f'<iframe src="{site.url}/"></iframe>', encoding="utf-8")
    page = browser.new_page()
    page.goto(frame.as_uri())
    page.wait_for_timeout(300)
    assert all("Runs" not in (inner.title() or "") for inner in page.frames)
    page.close()


def test_a_damaged_run_says_which_object_and_the_rest_goes_on(visit: Visit, own_site: Served) -> None:
    site = own_site
    path = site.store.object_path(site.store.find(site.ids["guards 5"]).sha256)
    path.write_bytes(path.read_bytes().replace(b"builtin", b"BUILTIN", 1))
    page = visit(site, quiet=False)
    row = page.locator(".runs tr.damaged")
    assert row.count() == 1 and path.name in row.inner_text()
    photograph(page, "damaged-list")
    follow(page, row.locator("a"))
    assert page.locator("h1").inner_text() == "It does not verify" and path.name in page.locator("main").inner_text()
    photograph(page, "damaged-run")
    page.get_by_role("link", name="All runs").click()
    page.locator("a.to-run", has_text="triage").first.click()
    assert page.locator("#gates").count() == 1


def test_a_run_that_ends_meanwhile_is_there_at_the_next_look(visit: Visit, own_site: Served) -> None:
    site = own_site
    page = visit(site)
    before = page.locator(".runs tbody tr").count()
    made, outcomes = helper("report_documents").decision()
    new = helper("view_stores").keep(site.store, made, outcomes, started="2026-11-30T09:30:00.000+00:00")
    page.reload()
    assert page.locator(".runs tbody tr").count() == before + 1
    assert new[:12] in page.locator(".runs tbody tr").first.inner_text()


def test_without_a_script_everything_can_be_reached(visit: Visit, site: Served) -> None:
    page = visit(site, java_script_enabled=False)
    page.locator(f"input[value='{site.ids['guards 4']}']").check()
    page.locator(f"input[value='{site.ids['guards 8']}']").check()
    page.get_by_role("button", name="Compare").click()
    assert page.locator(".tile.fixed b").inner_text() == "8"


@pytest.fixture(scope="module")
def checks() -> ModuleType:
    """The audits of structure and contrast that the HTML report is held to."""
    path = Path(__file__).with_name("test_html_report.py")
    spec = importlib.util.spec_from_file_location("html_report_audits", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_structure_names_and_labels_serve_a_screen_reader(
    visit: Visit, site: Served, checks: ModuleType, name: str
) -> None:
    page = visit(site, paths(site.ids)[name])
    found = page.evaluate(checks.ACCESSIBLE)
    assert [problem for problem in found if not problem.startswith("no label: ")] == []
    assert page.locator("input:not([aria-label]):not([id])").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["runs", "trends", "run", "compare"])
def test_all_text_has_the_contrast_that_wcag_asks(
    visit: Visit, site: Served, checks: ModuleType, name: str, scheme: str
) -> None:
    page = visit(site, paths(site.ids)[name], color_scheme=scheme)
    assert page.evaluate(checks.CONTRAST) == []
