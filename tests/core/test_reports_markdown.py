"""The Markdown report: the verdict first, inert whatever the data says, and never longer than a host accepts."""

from __future__ import annotations

import re
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from yb_eval.reports.markdown import COMMENT_LIMIT, MARKER, code, markdown


def whole(view: object, **options: int) -> str:
    return "".join(markdown(view, **options))  # type: ignore[arg-type]


def rendered(report: str) -> str:
    """The HTML that a host makes of it: GitHub's dialect, raw HTML let through, bare addresses linked."""
    return str(MarkdownIt("gfm-like", {"html": True}).render(report))


def test_the_marker_and_then_the_verdict_come_first(documents: ModuleType) -> None:
    lines = whole(documents.everything()).split("\n")
    assert lines[0] == MARKER
    assert re.fullmatch(r"## \S+ yb-eval: fail", lines[1])
    assert lines[3] == "2 of 8 gates failed in guards; 1 could not be measured in decision; 2 warnings."


def test_failed_gates_and_what_broke_are_open_and_the_rest_is_folded(documents: ModuleType) -> None:
    report = whole(documents.everything())
    assert "<details open><summary><code>guards</code>: gates</summary>" in report
    assert "<details><summary><code>guards</code>: numbers</summary>" in report
    assert "<details><summary><code>triage</code>: gates</summary>" in report
    assert report.count("<details") == report.count("</details>")


def test_values_stand_with_n_interval_and_change(documents: ModuleType) -> None:
    report = whole(documents.everything())
    assert "| <code>precision</code> | **0.948** | 230 | [0.911, 0.970] | -0.021 [-0.037, -0.004] |" in report
    assert "| <code>regret</code> | unmeasured | 0 | <code>no sample has a utility</code> |\n" in report


def test_hostile_text_opens_no_element_and_makes_no_link(documents: ModuleType) -> None:
    html = rendered(whole(documents.hostile(), limit=10**9))
    tags = set(re.findall(r"<\s*/?\s*([a-zA-Z][a-zA-Z0-9-]*)", html))
    ours = "h2 p table thead tbody tr th td code details summary strong sub blockquote ul li"
    assert tags <= set(ours.split())
    assert "href" not in html and "<a" not in html


def test_hostile_text_stays_within_code_so_that_no_host_links_it(documents: ModuleType) -> None:
    html = rendered(whole(documents.hostile(), limit=10**9))
    outside = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    for sign in ("@", "#1", "GH-2", "owner/repo", "pwned", "example.invalid", ":tada:"):
        assert sign not in outside


def test_hostile_text_breaks_no_table(documents: ModuleType) -> None:
    report = whole(documents.hostile(), limit=10**9)
    expected = None
    for line in report.split("\n"):
        cells = line.count("|") if line.startswith("|") else None
        if cells is not None and expected is not None:
            assert cells == expected, line
        expected = cells
    assert all(line.replace("\ufe0f", "").isprintable() for line in report.split("\n"))


@given(st.text(alphabet=st.characters(), max_size=100))
@settings(max_examples=400)
def test_code_of_any_text_is_one_inert_element(text: str) -> None:
    made = code(text, 1_000)
    assert re.fullmatch(r"<code>[^<>|`*_~\[\]\\!#$:\"'@]*</code>", made.replace("&#64;<!-- -->", "").replace("&#", "&"))
    html = rendered(f"| a |\n| --- |\n| {made} |\n")
    assert re.fullmatch(
        r"<table>\s*<thead>\s*<tr>\s*<th>a</th>\s*</tr>\s*</thead>\s*<tbody>\s*<tr>\s*"
        r"<td><code>(?:[^<>]|<!-- -->)*</code></td>\s*</tr>\s*</tbody>\s*</table>\s*",
        html,
    )


@pytest.mark.parametrize("limit", [COMMENT_LIMIT, 20_000, 8_000, 3_000, 1_500])
@pytest.mark.parametrize("make", ["everything", "hostile"])
def test_a_long_report_sheds_whole_sections_and_keeps_marker_and_verdict(
    documents: ModuleType, make: str, limit: int
) -> None:
    report = whole(getattr(documents, make)(), limit=limit)
    assert len(report.encode("utf-16-le")) // 2 <= limit
    assert report.startswith(f"{MARKER}\n## ")
    assert report.count("<details") == report.count("</details>") and report.rstrip().endswith("</sub>")


def test_what_was_left_out_is_said_and_the_least_important_goes_first(documents: ModuleType) -> None:
    view = documents.run(documents.guards())
    full = whole(view)
    assert "_Left out to fit: " not in full
    shortest = whole(view, limit=1_600)
    assert shortest.index("notes of") < shortest.index("fixed and changed of") < shortest.index("numbers of")
    assert "</code>: gates</summary>" in shortest and "gates of" not in shortest


def test_a_limit_that_holds_not_even_the_verdict_is_refused(documents: ModuleType) -> None:
    with pytest.raises(ValueError, match="cannot be shortened to 100 characters"):
        whole(documents.passing(), limit=100)


def test_a_megabyte_is_cut_and_the_cut_is_counted(documents: ModuleType) -> None:
    report = whole(documents.hostile(["x" * 1_000_000, "@" * 1_000_000]))
    assert len(report) < COMMENT_LIMIT
    assert re.search(r"\(\+999,\d{3} chars\)", report)
