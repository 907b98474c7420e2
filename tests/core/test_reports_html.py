"""The HTML report without a browser: its policy, what it carries, and the geometry of its drawings."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as parser

from yb_eval.reports import REPORTERS, RunView
from yb_eval.reports.findings import Threshold, thresholds
from yb_eval.reports.html import charts, html, samples
from yb_eval.reports.html.heat import MOST_LABELS, heat_map
from yb_eval.reports.html.scales import Scale, tick, window

RATE = {"low": 0.0, "high": 1.0}


def whole(view: RunView) -> str:
    return "".join(html(view))


def rows(page: str) -> list[dict[str, Any]]:
    (text,) = re.findall(r'<script type="application/json" id="rows">(.*?)</script>', page, re.DOTALL)
    found: list[dict[str, Any]] = json.loads(text)
    return found


def test_the_policy_names_the_digests_of_the_page_s_own_style_and_script(documents: ModuleType) -> None:
    page = whole(documents.everything())
    policy = parser.fromstring(page).xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        assert f"{directive} 'sha256-{digest}'" in policy


@pytest.mark.parametrize("make", ["everything", "passing", "hostile"])
def test_the_page_needs_nothing_from_elsewhere_and_holds_no_inline_code(documents: ModuleType, make: str) -> None:
    tree = parser.fromstring(whole(getattr(documents, make)()))
    assert tree.xpath("//@src | //iframe | //object | //embed | //form[@action] | //*[@style]") == []
    assert [link for link in tree.xpath("//@href") if not link.startswith("#")] == [tree.xpath("//link/@href")[0]]
    assert tree.xpath("//link/@href")[0].startswith("data:image/svg+xml,")
    assert [name for element in tree.iter() for name in element.attrib if name.startswith("on")] == []
    assert len(tree.xpath("//script")) == 2 and len(tree.xpath("//style")) == 1


def test_verdict_first_then_gates_then_suites_then_samples(documents: ModuleType) -> None:
    tree = parser.fromstring(whole(documents.everything()))
    assert [heading.text_content().strip() for heading in tree.xpath("//h1 | //h2")] == [
        "Fail", "Gates", "guards", "triage", "decision", "Samples",
    ]  # fmt: skip


def test_the_same_run_gives_the_same_page(documents: ModuleType) -> None:
    assert whole(documents.everything()) == whole(documents.everything())


def test_data_cannot_leave_its_script_element(documents: ModuleType) -> None:
    page = whole(documents.hostile())
    payload = page[page.index('id="rows">') + 10 :]
    payload = payload[: payload.index("</script>")]
    assert not set("<>&\u2028\u2029") & set(payload)
    assert len(json.loads(payload)) == 2 * len(documents.HOSTILE)


# Without the signs that group slices, which rightly change the structure.
@given(st.lists(st.text(alphabet=st.characters(exclude_characters=":[]"), max_size=60), min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_any_text_leaves_the_structure_as_it_is(documents: ModuleType, strings: list[str]) -> None:
    def shape(words: list[str]) -> list[str]:
        tree = parser.fromstring(whole(documents.hostile(words)))
        return [element.tag for element in tree.iter() if isinstance(element.tag, str)]

    plain = [f"w{number}" if word else "" for number, word in enumerate(strings)]
    assert shape([f"{w}{i}" for i, w in enumerate(strings)]) == shape([f"{w}{i}" for i, w in enumerate(plain)])


def test_a_row_carries_what_the_reader_asks_for_and_nothing_empty(documents: ModuleType) -> None:
    found = {row["id"]: row for row in rows(whole(documents.everything()))}
    row = found["g-0003"]
    assert (row["k"], row["e"], row["p"], row["f"], row["b"]) == (
        "wrong",
        "detect",
        "clean",
        "broken",
        "detect -> clean",
    )
    assert row["t"] == ["lang:ru", "kind:secret"] and '"text": "synthetic row 3"' in row["d"]
    assert found["g-0017"]["k"] == "error" and found["g-0017"]["r"] == "timeout after 30 s"
    assert found["t-017"]["e"] == "label: account, severity: 3"
    assert "r" not in found["d-2"] and "j" not in found["d-2"]


def test_beyond_the_limit_what_matters_comes_first_and_the_rest_is_counted(documents: ModuleType) -> None:
    chosen = samples.embed(documents.large(1_000), limit=50)
    found = json.loads(chosen.payload)
    assert (chosen.embedded, chosen.total, chosen.notable, chosen.notable_total) == (50, 1_000, 21, 21)
    assert sum(row["k"] != "right" for row in found) == 21
    assert [row["id"] for row in found] == sorted(row["id"] for row in found)
    less = samples.embed(documents.large(1_000), limit=10)
    assert (less.embedded, less.notable, less.notable_total) == (10, 10, 21)
    assert all(row["k"] == "wrong" for row in json.loads(less.payload))


def test_rows_stay_within_the_budget_of_bytes(documents: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "BUDGET", 20_000)
    big = "x" * 1_000_000
    outcomes = [
        documents.outcome(f"r{n}", "a", "b" if n >= 90 else "a", reason=big, details={"text": big}) for n in range(100)
    ]
    chosen = samples.embed(documents.run((documents.suite("big", outcomes, {}, []), outcomes)))
    assert len(chosen.payload) < 30_000
    assert chosen.embedded < 10 and chosen.total == 100
    assert any(row["k"] == "wrong" for row in json.loads(chosen.payload))


def test_long_text_is_cut_and_the_cut_is_counted(documents: ModuleType) -> None:
    page = whole(documents.hostile(["x" * 1_000_000]))
    assert len(page) < 300_000
    assert re.search(r"\(\+99\d,\d{3} chars\)", page)


def test_a_suite_that_did_not_run_to_its_end_is_shown(documents: ModuleType) -> None:
    gate = documents.gate("the suite runs to its end", "unmeasured", "disk full")
    made = documents.suite("guards", [], {}, [gate]) | {"outcomes": None, "run_id": None}
    view = documents.run((made, []))
    view.document["run_id"] = None
    view.document["envelope"] = {}
    page = whole(view)
    assert "the suite runs to its end" in page and "disk full" in page
    for name in ("text", "json", "markdown", "junit"):
        assert "the suite runs to its end" in "".join(REPORTERS[name](view))


def test_history_of_another_target_is_no_trend(documents: ModuleType) -> None:
    view = documents.everything()
    other = [run | {"target": "http://elsewhere"} for run in view.history(0)]
    page = whole(RunView(document=view.document, outcomes=view.outcomes, history=lambda index: other))
    assert "<h3>History</h3>" in whole(view) and "<h3>History</h3>" not in page


def test_thresholds_are_read_from_gates_that_compare_a_measurement(documents: ModuleType) -> None:
    gates = [
        documents.gate("precision >= 0.98", "fail"),
        documents.gate('lower(recall["lang:ru"]) >= 0.9 and errors == 0'),
        documents.gate("precision - baseline.precision >= -0.01"),
        documents.gate("no_worse(recall)"),
        documents.gate("custom: anything at all"),
    ]
    assert thresholds({"gates": gates}) == {
        "precision": [Threshold(">=", 0.98, "fail")],
        "recall[lang:ru]": [Threshold(">=", 0.9, "pass")],
        "errors": [Threshold("==", 0.0, "pass")],
    }


def test_an_interval_plot_places_value_interval_threshold_and_what_is_refused(documents: ModuleType) -> None:
    measurement = documents.rate(95, 100)
    plot = charts.interval_plot(measurement, RATE, [Threshold(">=", 0.9, "pass")], baseline=0.97)
    assert plot is not None
    (start, width), (threshold,), ((left, refused),) = plot.bar, plot.thresholds, plot.refused  # type: ignore[misc]
    assert (plot.low, plot.high) == ("0.8", "1")
    assert left < threshold == left + refused < start + width and start < plot.dot < plot.baseline < 232  # type: ignore[operator]
    assert plot.label == "0.950; 95 % interval 0.888 to 0.978; gate >= 0.9 pass; baseline 0.970"
    assert charts.interval_plot(documents.rate(0, 0), RATE) is None


def test_a_gate_that_is_not_passed_changes_the_shape_of_the_mark(documents: ModuleType) -> None:
    for verdict in ("fail", "unmeasured", "pass"):
        plot = charts.interval_plot(documents.rate(1, 2), RATE, [Threshold(">=", 0.9, verdict)])
        assert plot is not None and plot.failing == (verdict != "pass")


def test_values_without_interval_or_gate_are_listed_and_not_drawn(documents: ModuleType) -> None:
    tree = parser.fromstring(whole(documents.run(documents.triage())))
    assert tree.xpath("//dl[contains(@class, 'counts')]//dt/bdi/text()") == ["cost_usd"]
    drawn = tree.xpath("//table[contains(@class, 'numbers')]//th[@scope='row']/bdi/text()")
    assert drawn == ["label.accuracy", "severity.mae", "escalate.recall", "label.ece"]


def test_a_run_without_a_value_leaves_a_gap_in_the_trend() -> None:
    runs = [("a", 0.5, False), ("b", 0.6, False), ("c", None, True), ("d", 0.7, False), ("e", 0.8, True)]
    trend = charts.trend("recall", runs, RATE)
    assert trend is not None
    assert len(trend.lines) == 2 and len(trend.points) == 4
    assert [point.failed for point in trend.points] == [False, False, False, True]
    assert charts.trend("recall", runs[:1], RATE) is None


def test_empty_bins_are_left_out_of_the_reliability_diagram() -> None:
    empty = {"low": 0.0, "high": 0.5, "n": 0, "confidence": None, "accuracy": None}
    full = {"low": 0.5, "high": 1.0, "n": 4, "confidence": 0.75, "accuracy": 0.5}
    chart = charts.reliability([empty, full])
    assert chart is not None and len(chart.bins) == 1
    assert chart.bins[0].dot == (chart.frame.left + 0.75 * (chart.frame.right - chart.frame.left), 133.0)
    assert charts.reliability([empty]) is None


def test_a_heat_map_measures_shares_of_rows_and_keeps_the_labels_with_most_mistakes() -> None:
    small = heat_map("m", ["a", "b"], [[9, 1], [0, 0]])
    assert [(cell.count, cell.heat, cell.right) for _, cells in small.rows for cell in cells] == [
        (9, 8, True), (1, 1, False), (0, 0, False), (0, 0, True),
    ]  # fmt: skip
    assert small.confused == (("a", "b", 1),)
    size = MOST_LABELS + 5
    table = [[3 if i == j else 0 for j in range(size)] for i in range(size)]
    table[size - 1][0] = 2
    large = heat_map("m", [f"l{i}" for i in range(size)], table)
    assert large.left_out == 5 and {"l0", f"l{size - 1}"} <= set(large.labels)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_window_of_rates_holds_them_all(values: list[float]) -> None:
    low, high = window(values, low=0.0, high=1.0)
    assert 0 <= low <= min(values) and max(values) <= high <= 1


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=6), st.booleans())
def test_a_window_of_anything_holds_it_and_is_not_empty(values: list[float], bounded: bool) -> None:
    values = [abs(value) for value in values] if bounded else values
    low, high = window(values, low=0.0 if bounded else None, high=None)
    assert low <= min(values) + 1e-6 * abs(min(values)) and max(values) <= high + 1e-6 * abs(max(values))
    assert low < high
    assert not bounded or low >= 0
    assert len(tick(low)) <= 12
    assert Scale(low, high, 0, 100)(high) == 100


def test_a_suite_s_own_table_in_the_details_is_no_heat_map(documents: ModuleType) -> None:
    made, outcomes = documents.guards()
    made["measurements"]["listed"] = documents.count(1, 1) | {"details": {"rows": [{"id": "a", "verdict": "EXACT"}]}}
    assert whole(documents.run((made, outcomes))).count('class="heat') == whole(
        documents.run(documents.guards())
    ).count('class="heat')
