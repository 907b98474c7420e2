"""The HTML report in a real browser: Debian's chromium, headless, without a network.

Skipped where chromium or Playwright is missing, unless YB_EVAL_REQUIRE_BROWSER=1. With YB_EVAL_SCREENSHOTS=FOLDER the
pages are photographed on the way, for a person to look at.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from yb_eval.reports import RunView
from yb_eval.reports.html import html

ROWS = 10_000

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def documents() -> ModuleType:
    path = Path(__file__).parents[1] / "core" / "report_documents.py"
    spec = importlib.util.spec_from_file_location("report_documents", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files(documents: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes the page of a run of the factory once, and says where."""
    folder = tmp_path_factory.mktemp("pages")
    runs: dict[str, Callable[[], RunView]] = {
        "everything": documents.everything,
        "passing": documents.passing,
        "hostile": documents.hostile,
        "large": lambda: documents.large(ROWS),
    }

    def written(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text("".join(html(runs[name]())), encoding="utf-8")
        return path

    return written


@pytest.fixture
def visit(browser: Any, files: Callable[[str], Path]) -> Iterator[Open]:
    """Opens a page; afterwards there must have been no console message, no error and no request but for the file."""
    contexts: list[Any] = []
    heard: list[str] = []

    def opened(name: str, *, width: int = 1280, quiet: bool = True, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        address = files(name).as_uri()
        if quiet:
            page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on("request", lambda request: None if request.url.split("#")[0] == address else heard.append(request.url))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert heard == []


def ids(page: Any) -> list[str]:
    return list(page.locator("#table tr.row .open").all_inner_texts())


def photograph(page: Any, name: str) -> None:
    folder = os.environ.get("YB_EVAL_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["everything", "passing", "hostile", "large"])
def test_it_opens_offline_without_a_message_and_fits_the_screen(
    visit: Open, name: str, width: int, scheme: str
) -> None:
    page = visit(name, width=width, color_scheme=scheme)
    photograph(page, f"{name}-{width}-{scheme}")
    assert page.locator("h1").inner_text() == ("Pass" if name == "passing" else "Fail")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#table tr.row").count() > 5


def test_verdict_and_gates_stand_on_top_with_the_failed_gates_first(visit: Open) -> None:
    page = visit("everything")
    assert page.locator(".headline").inner_text().startswith("2 of 8 gates failed in guards; 1 could not be measured")
    rows = page.locator(".gates tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == ["fail", "fail", "unmeasured", "fail", "unmeasured"] + ["pass"] * 5
    assert "(warns only)" in rows[3]


def test_hostile_text_is_shown_as_text_and_does_nothing(visit: Open, documents: ModuleType) -> None:
    page = visit("hostile")
    page.locator("#table .open").first.click()
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, object, embed, svg[onload], [onerror]").count() == 0
    assert page.evaluate("[...document.links].every((link) => link.getAttribute('href').startsWith('#'))")
    text = page.locator("body").inner_text()
    assert "<script>window.pwned = 1</script>" in text and "{{ 7 * 7 }}" in text
    assert "\\u202eright to left" in text and "\u202e" not in text and "\x1b" not in text


def test_the_policy_refuses_requests_handlers_markup_and_eval(visit: Open) -> None:
    page = visit("passing", quiet=False)
    tried = page.evaluate(
        """async () => {
          const refused = [];
          addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
          const attempt = async (make) => { try { await make(); return "done"; } catch (error) { return error.name; } };
          const results = {
            fetch: await attempt(() => fetch("http://127.0.0.1:9/")),
            markup: await attempt(() => { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); }),
          };
          const script = document.createElement("script");
          const set = await attempt(() => { script.text = "window.pwned = 1"; });
          document.body.append(script);
          const button = document.createElement("button");
          const handler = await attempt(() => button.setAttribute("onclick", "window.pwned = 1"));
          document.body.append(button);
          button.click();
          // Only in a task of its own: what a debugger evaluates is let through.
          await new Promise((done) => setTimeout(done, 0));
          const later = (done) => setTimeout(() => attempt(() => Function("window.pwned = 1")()).then(done), 0);
          results.eval = await new Promise(later);
          return { ...results, set, handler, refused, pwned: typeof window.pwned };
        }"""
    )
    assert tried["pwned"] == "undefined"
    assert tried["fetch"] == "TypeError" and "connect-src" in tried["refused"]
    assert (tried["markup"], tried["eval"], tried["set"]) == ("TypeError", "EvalError", "TypeError")
    assert "require-trusted-types-for" in tried["refused"]


def test_a_header_button_sorts_and_says_so(visit: Open) -> None:
    page = visit("everything")
    head = page.locator("#table th", has=page.get_by_role("button", name="Sample", exact=True))
    assert page.locator("#table th[aria-sort]").inner_text() == "Result"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert ids(page)[0] == "d-0"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert ids(page)[0] == "t-239"
    assert page.locator("#table th[aria-sort]").count() == 1


def test_errors_and_wrong_samples_come_first(visit: Open) -> None:
    page = visit("everything")
    assert ids(page)[:3] == ["g-0017", "g-0203", "g-0003"]
    assert page.locator("#table tr.row .k").first.inner_text() == "error"


def test_search_and_filters_narrow_the_table_and_can_be_cleared(visit: Open) -> None:
    page = visit("everything")
    count = page.locator("#count")
    page.get_by_label("Search").fill("timeout")
    assert count.inner_text() == "1 of 820 samples" and ids(page) == ["g-0017"]
    page.get_by_role("button", name="Clear").click()
    assert count.inner_text() == "820 samples"
    page.get_by_label("Result").select_option("broken")
    assert count.inner_text() == "21 of 820 samples"
    page.get_by_label("Tag").select_option("lang:ru")
    narrowed = ids(page)
    assert 0 < len(narrowed) < 21
    page.get_by_label("Suite").select_option(label="triage")
    assert ids(page) == [] and "No sample matches" in page.locator("#table").inner_text()


def test_search_looks_into_details_and_needs_every_word(visit: Open) -> None:
    page = visit("everything")
    page.get_by_label("Search").fill("SYNTHETIC g-0042 kind:pan")
    assert ids(page) == ["g-0042"]


def test_ten_thousand_rows_are_drawn_a_screen_at_a_time(visit: Open) -> None:
    page = visit("large")
    drawn = page.locator("#table tbody tr")
    assert page.locator("#count").inner_text() == "10,000 samples"
    assert page.locator("#table").get_attribute("aria-rowcount") == "10001"
    assert drawn.count() < 80
    page.evaluate("document.getElementById('viewport').scrollTop = 200000")
    page.wait_for_function("Number(document.querySelector('#table tr.row').getAttribute('aria-rowindex')) > 4900")
    assert drawn.count() < 80
    page.get_by_label("Search").fill("row-007777")
    assert ids(page) == ["row-007777"]
    page.get_by_label("Search").fill("row-0099")
    assert page.locator("#count").inner_text() == "100 of 10,000 samples"
    assert drawn.count() < 80


def test_a_row_opens_and_closes_and_shows_all_there_is(visit: Open) -> None:
    page = visit("everything")
    button = page.locator("#table .open", has_text="g-0003")
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    panel = page.locator("#table tr.panel").inner_text()
    for said in (
        "detect",
        "clean",
        "no detector fired",
        "broken: detect -> clean",
        "lang:ru",
        '"text": "synthetic row 3"',
    ):
        assert said in panel
    button.click()
    assert page.locator("#table tr.panel").count() == 0


def test_several_judgements_are_told_one_by_one(visit: Open) -> None:
    page = visit("everything")
    page.get_by_label("Search").fill("t-017")
    page.locator("#table .open", has_text="t-017").click()
    panel = page.locator("#table tr.panel table")
    assert panel.locator("tbody tr").all_inner_texts()[1].split() == ["severity", "wrong", "3", "4"]


def test_an_open_row_keeps_its_place_while_the_table_is_scrolled(visit: Open) -> None:
    page = visit("large")
    page.locator("#table .open").first.click()
    page.evaluate("document.getElementById('viewport').scrollTop = 100000")
    page.wait_for_function("Number(document.querySelector('#table tr.row').getAttribute('aria-rowindex')) > 2000")
    assert page.locator("#table tr.panel").count() == 0
    top, view = page.evaluate(
        "[document.querySelector('#table tr.row').getBoundingClientRect().top, "
        "document.getElementById('viewport').getBoundingClientRect().top]"
    )
    assert top < view
    page.evaluate("document.getElementById('viewport').scrollTop = 0")
    page.wait_for_selector("#table tr.panel")


def test_the_keyboard_reaches_and_moves_everything(visit: Open) -> None:
    page = visit("large")
    focus = "document.activeElement"
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focus}.className") == "skip"
    assert page.evaluate(f"getComputedStyle({focus}).outlineStyle") == "solid"
    page.keyboard.press("/")
    assert page.evaluate(f"{focus}.id") == "query"
    page.locator("#table .open").first.focus()
    page.keyboard.press("ArrowDown")
    second = page.evaluate(f"{focus}.textContent")
    assert second == ids(page)[1]
    page.keyboard.press("Enter")
    assert page.locator("#table tr.panel").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("#table tr.panel").count() == 0 and page.evaluate(f"{focus}.textContent") == second
    page.keyboard.press("End")
    assert page.evaluate(f"{focus}.closest('tr').getAttribute('aria-rowindex')") == "10001"
    page.keyboard.press("Home")
    assert page.evaluate(f"{focus}.closest('tr').getAttribute('aria-rowindex')") == "2"


def test_sorting_works_from_the_keyboard(visit: Open) -> None:
    page = visit("passing")
    page.get_by_role("button", name="Sample", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert ids(page)[0] == "g-0399"


def test_a_sample_in_the_list_of_broken_ones_leads_to_its_row(visit: Open) -> None:
    page = visit("everything")
    page.locator(".flips a", has_text="g-0016").click()
    page.wait_for_selector("#table tr.panel")
    assert ids(page) == ["g-0016"]


def test_dark_and_light_follow_the_system_and_the_button(visit: Open) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    light, dark = visit("passing", color_scheme="light"), visit("passing", color_scheme="dark")
    white, black = light.evaluate(back), dark.evaluate(back)
    assert white != black
    button = light.locator("#theme")
    assert button.inner_text() == "Theme: auto"
    button.click()
    button.click()
    assert button.inner_text() == "Theme: dark" and light.evaluate(back) == black
    light.reload()
    assert light.locator("#theme").inner_text() == "Theme: dark"


ACCESSIBLE = """() => {
  const found = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (element) => (element.getAttribute("aria-label") || element.textContent).trim();
  let level = 0;
  for (const heading of all("h1, h2, h3, h4")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) found.push(`heading ${heading.textContent} skips from ${level} to ${next}`);
    level = next;
  }
  if (all("h1").length !== 1) found.push("not one h1");
  for (const selector of ["header", "nav[aria-label]", "main", "footer", "html[lang]", "title"])
    if (!document.querySelector(selector)) found.push(`no ${selector}`);
  for (const field of all("input, select")) if (!field.labels.length) found.push(`no label: ${field.id}`);
  for (const button of all("button, a, summary")) if (!name(button)) found.push(`no name: ${button.outerHTML}`);
  for (const table of all("main table")) {
    if (!table.closest(".panel") && !table.caption) found.push("a table without a caption");
    for (const cell of table.querySelectorAll("th")) if (!cell.scope) found.push(`no scope: ${cell.outerHTML}`);
  }
  for (const drawing of all("svg"))
    if (drawing.getAttribute("aria-hidden") !== "true" && !(drawing.getAttribute("role") === "img" && name(drawing)))
      found.push(`a drawing without words: ${drawing.outerHTML.slice(0, 80)}`);
  for (const area of all(".scroll"))
    if (area.tabIndex !== 0 || area.getAttribute("role") !== "region" ||
        !(area.getAttribute("aria-label") || document.getElementById(area.getAttribute("aria-labelledby"))))
      found.push("an area that scrolls but cannot be reached");
  const ids = all("[id]").map((element) => element.id);
  if (new Set(ids).size !== ids.length) found.push("an id is used twice");
  for (const link of all("a[href^='#']"))
    if (!document.getElementById(link.getAttribute("href").slice(1))) found.push(`leads nowhere: ${link.outerHTML}`);
  return found;
}"""


@pytest.mark.parametrize("name", ["everything", "passing", "hostile"])
def test_structure_names_and_labels_serve_a_screen_reader(visit: Open, name: str) -> None:
    page = visit(name)
    page.locator("#table .open").first.click()
    assert page.evaluate(ACCESSIBLE) == []


CONTRAST = """() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (color, under) => {
    paint.fillStyle = `rgb(${under.join(" ")})`;
    paint.fillRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const chain = (element) => element ? [...chain(element.parentElement), element] : [];
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".hidden, .quiet, .skip, script, style, noscript, option")) continue;
    if (!element.checkVisibility()) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(element);
    let back = [255, 255, 255];
    let opacity = 1;
    for (const parent of chain(element)) {
      back = read(getComputedStyle(parent).backgroundColor, back);
      opacity *= Number(getComputedStyle(parent).opacity);
    }
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const fore = read(ink, back).map((c, i) => c * opacity + back[i] * (1 - opacity));
    const [high, low] = [luminance(fore), luminance(back)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 120)}`);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["everything", "passing"])
def test_all_text_has_the_contrast_that_wcag_asks(visit: Open, name: str, scheme: str) -> None:
    """WCAG 2.2, success criterion 1.4.3: 4.5 to 1, and 3 to 1 for large text."""
    page = visit(name, color_scheme=scheme)
    page.locator("#table .open").first.click()
    assert page.evaluate(CONTRAST) == []


def test_every_drawing_says_what_it_shows(visit: Open) -> None:
    page = visit("everything")
    said = page.locator("svg[role=img]").evaluate_all("(all) => all.map((one) => one.getAttribute('aria-label'))")
    assert any(
        re.search(r"0\.948; 95 % interval 0\.911 to 0\.970; gate >= 0\.98 fail;.* baseline 0\.969", s) for s in said
    )
    assert any(s.startswith("Reliability diagram of 9 bins.") for s in said)
    assert any(s.startswith("Risk-coverage curve:") for s in said)
    assert any(s.startswith("precision: 13 runs, from ") and "gate >= 0.98" in s for s in said)


def test_print_shows_the_samples_without_the_controls(visit: Open) -> None:
    page = visit("large")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#table tr.row").count() == 100
    assert page.locator("#printed").inner_text() == "The first 100 of 10,000 samples are printed."
    assert not page.locator("#filters").is_visible() and not page.locator("nav").is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#table tr.row").count() < 80


def test_without_a_script_everything_but_the_samples_is_there(visit: Open) -> None:
    page = visit("everything", java_script_enabled=False)
    text = page.locator("body").inner_text()
    assert "precision >= 0.98" in text and "needs this page's script" in text
    assert not page.locator("#viewport").is_visible() and not page.locator("#theme").is_visible()


def test_a_run_larger_than_the_page_says_what_is_left_out(documents: ModuleType, browser: Any, tmp_path: Path) -> None:
    target = tmp_path / "larger.html"
    target.write_text("".join(html(documents.large(12_000))), encoding="utf-8")
    page = browser.new_page()
    page.goto(target.as_uri())
    note = page.locator("#samples > .note").first.inner_text()
    assert note.startswith("10,000 of 12,000 samples are in this page: all 252 that failed, were wrong or changed")
    assert page.locator("#result option").all_inner_texts()[:3] == ["all", "error (12)", "wrong (240)"]
    page.close()
