"""The pages of a store, without a server: what they show, what damage does to them, how little they read."""

from __future__ import annotations

import importlib.util
import shutil
import threading
from pathlib import Path
from types import ModuleType

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as parser

from yb_eval.digest import sha256_hex
from yb_eval.errors import StoreError, UsageError
from yb_eval.record import Store
from yb_eval.record.manifest import run_id
from yb_eval.view import index
from yb_eval.view.site import Page, Problem, Site

Busy = tuple[Store, dict[str, str]]


@pytest.fixture(scope="session")
def stores() -> ModuleType:
    spec = importlib.util.spec_from_file_location("view_stores", Path(__file__).with_name("view_stores.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def kept(stores: ModuleType, documents: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Busy:
    made: Busy = stores.busy(tmp_path_factory.mktemp("busy") / "store", documents)
    return made


@pytest.fixture
def own(kept: Busy, tmp_path: Path) -> Busy:
    """A copy of the store, to be damaged."""
    shutil.copytree(kept[0].root, tmp_path / "store")
    return Store(tmp_path / "store"), kept[1]


def text(page: Page) -> str:
    return " ".join(parser.fromstring(page.text).xpath("//main")[0].text_content().split())


def hrefs(page: Page) -> list[str]:
    return list(parser.fromstring(page.text).xpath("//main//a/@href"))


def rows(page: Page) -> list[str]:
    return [" ".join(row.text_content().split()) for row in parser.fromstring(page.text).xpath("//tbody/tr")]


def row_of(page: Page, name: str) -> str:
    """The row of a measurement."""
    (row,) = [row for row in rows(page) if row.startswith(name)]
    return row


def manifest_path(store: Store, run: str) -> Path:
    return store.object_path(store.find(run).sha256)


def test_the_list_tells_suite_verdict_time_target_data_and_key_measurements_newest_first(kept: Busy) -> None:
    store, ids = kept
    listed = rows(Site(store).runs())
    assert len(listed) == 15
    (row,) = [row for row in listed if ids["guards 8"][:12] in row]
    for said in ("fail", "guards", "2026-11-08 09:30", "builtin", "guards_labeled", "fail: 0.969 precision"):
        assert said in row
    times = [row.partition("2026-11-")[2][:2] for row in listed]
    assert times == sorted(times, reverse=True)


def test_a_run_of_a_part_of_the_data_and_a_composed_run_say_so(kept: Busy) -> None:
    store, ids = kept
    listed = rows(Site(store).runs())
    assert "part: --limit 100" in next(row for row in listed if ids["part"][:12] in row)
    (composed,) = [row for row in listed if ids["composed"][:12] in row]
    assert "guards + triage" in composed and "2 suites as one gated run" in composed


def test_a_suite_s_card_has_its_newest_whole_run_and_leads_to_its_trends(kept: Busy) -> None:
    cards = parser.fromstring(Site(kept[0]).runs().text).xpath("//a[contains(@class, 'overview-card')]")
    said = {card.get("href"): " ".join(card.text_content().split()) for card in cards}
    assert list(said) == [f"/trends?suite={suite}" for suite in ("hostile", "triage", "guards")]
    assert said["/trends?suite=triage"] == "triage pass 0.875 label.accuracy 2 runs, the last 2026-11-11 09:30"
    assert said["/trends?suite=guards"] == "guards pass 1.000 precision 10 runs, the last 2026-11-09 08:00"


def test_runs_are_filtered_by_suite_and_verdict(kept: Busy) -> None:
    site = Site(kept[0])
    assert len(rows(site.runs(suite="triage"))) == 3
    passed = rows(site.runs(suite="guards", verdict="pass"))
    assert len(passed) == 2 and all("pass" in row for row in passed)
    assert "No stored run is one." in text(site.runs(suite="nothing"))


def test_a_run_that_was_made_again_stands_once_with_its_count(own: Busy) -> None:
    store, ids = own
    manifest = orjson.loads(store.get(store.find(ids["passing"]).sha256))
    manifest["envelope"]["started"] = "2026-11-20T00:00:00.000+00:00"
    store.record(manifest)
    first = rows(Site(store).runs())[0]
    assert ids["passing"][:12] in first and "made 2 times" in first


def test_a_large_store_is_read_a_page_at_a_time(
    stores: ModuleType, documents: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    made, outcomes = documents.decision(size=3)
    for minute in range(120):
        stores.keep(store, made, outcomes, started=f"2026-11-01T{minute // 60:02}:{minute % 60:02}:00.000+00:00")
    monkeypatch.setattr(index, "SCAN", 60)
    read: list[str] = []
    real = index._manifest
    monkeypatch.setattr(index, "_manifest", lambda store, name: (read.append(name), real(store, name))[1])
    site = Site(store)
    listing = site.index.listing(site.index.refs())
    assert len(listing.entries) == len(read) == index.PER_PAGE == 50 and listing.total == 120
    seen = [entry.ref.run_id for entry in listing.entries]
    assert f"/?after={seen[-1]}" in hrefs(site.runs()) and "Newest" in text(site.runs(after=seen[-1]))
    read.clear()
    site = Site(store)
    listing = site.index.listing(site.index.refs())
    while listing.older:
        listing = site.index.listing(site.index.refs(), after=listing.older)
        seen += [entry.ref.run_id for entry in listing.entries]
    assert seen == [ref.run_id for ref in site.index.refs()] and len(set(seen)) == 120
    assert len(read) == 120
    rare = site.index.listing(site.index.refs(), verdict="pass")
    assert rare.entries == () and rare.older == seen[59]


def test_trends_have_a_series_for_each_target_and_break_where_the_data_changed(kept: Busy) -> None:
    page = Site(kept[0]).trends(suite="guards")
    tree = parser.fromstring(page.text)
    assert [" ".join(h.text_content().split()) for h in tree.xpath("//main//h2")] == ["guards builtin", "Other targets"]
    figure = tree.xpath("//figure[figcaption//bdi[text()='precision']]")[0]
    assert [len(line.get("points").split()) for line in figure.xpath(".//polyline")] == [2, 6]
    assert len(figure.xpath(".//g")) == 8 and figure.xpath(".//line[@class='threshold']")
    said = text(page)
    assert (
        "broken where the dataset's revision changed" in said and "1 run of a part of the dataset is left out" in said
    )
    assert "python:mine:guard" in said


def test_a_trend_leads_to_its_runs_and_to_their_comparison_with_the_one_before(kept: Busy) -> None:
    store, ids = kept
    found = hrefs(Site(store).trends(suite="guards"))
    assert f"/runs/{ids['guards 5']}" in found
    assert f"/compare?before={ids['guards 4']}&after={ids['guards 5']}&suite=guards" in found


def test_an_unknown_suite_has_no_trend(kept: Busy) -> None:
    with pytest.raises(Problem, match="No run of the suite 'nothing'"):
        Site(kept[0]).trends(suite="nothing")


def test_a_run_is_the_html_report_with_the_history_before_it(kept: Busy) -> None:
    store, ids = kept
    tree = parser.fromstring(Site(store).run(ids["guards 8"]).text)
    assert tree.xpath("//section[@id='gates']") and tree.xpath("//table[@id='table']")
    label = tree.xpath("//svg[contains(@class, 'trend')]/@aria-label")[0]
    assert label.startswith("precision: 8 runs, from ")
    assert "recomputed just now" in tree.xpath("//p[@class='ways']")[0].text_content()
    first = parser.fromstring(Site(store).run(ids["guards 1"]).text)
    assert first.xpath("//svg[contains(@class, 'trend')]") == []


@pytest.mark.parametrize("name", ["latest-like prefix", "composed"])
def test_a_run_is_found_by_its_first_characters_and_a_composed_one_shows_its_suites(kept: Busy, name: str) -> None:
    store, ids = kept
    wanted = ids["composed"]
    page = Site(store).run(wanted if name == "composed" else wanted[:12])
    heads = [" ".join(head.text_content().split()) for head in parser.fromstring(page.text).xpath("//h2")]
    assert heads == ["Gates", "guards", "triage", "Samples"]


def test_two_runs_are_compared_sample_by_sample(kept: Busy) -> None:
    store, ids = kept
    page = Site(store).compare(before=ids["guards 4"], after=ids["guards 8"])
    tree = parser.fromstring(page.text)
    tiles = [" ".join(tile.text_content().split()) for tile in tree.xpath("//p[contains(@class, 'tile')]")]
    assert [tile.split()[0] for tile in tiles] == ["0", "8", "8", "0"]
    assert [head.text_content() for head in tree.xpath("//section[contains(@class, 'side')]//h2")] == [
        "Before",
        "After",
    ]
    assert "+0.012" in row_of(page, "precision")
    links = [link for link in hrefs(page) if "#sample=" in link]
    assert len(links) == 8 and links[0].startswith(f"/runs/{ids['guards 8']}#sample=g-")


def test_a_change_has_the_paired_interval_where_its_metric_declares_one(
    own: Busy, stores: ModuleType, documents: ModuleType
) -> None:
    store, ids = own
    made, outcomes = stores.guards(documents, fixed=14)
    made["declared"]["recall"] |= {"pairing": "correct", "judgement": None}
    later = stores.keep(store, made, outcomes, started="2026-11-21T00:00:00.000+00:00")
    found = Site(store).compare(before=ids["guards 4"], after=later)
    assert "0 [0.0" in row_of(found, "recall") and row_of(found, "precision").endswith("+0.012")


def test_runs_of_different_revisions_are_compared_over_what_they_share_and_say_so(kept: Busy) -> None:
    store, ids = kept
    said = text(Site(store).compare(before=ids["guards 1"], after=ids["guards 8"]))
    assert "The run before is of another dataset revision: 400 samples shared, 0 added, 0 removed." in said


def test_runs_without_a_suite_in_common_are_not_comparable(kept: Busy) -> None:
    store, ids = kept
    with pytest.raises(Problem, match="no suite in common: triage and guards"):
        Site(store).compare(before=ids["triage 10"], after=ids["guards 8"])


def test_of_a_composed_run_the_common_suite_is_compared_and_of_several_one_is_asked_for(kept: Busy) -> None:
    store, ids = kept
    assert "Compare triage" in text(Site(store).compare(before=ids["triage 10"], after=ids["composed"]))
    both = Site(store).compare(before=ids["composed"], after=ids["composed"])
    assert "Choose the one to compare" in text(both)
    assert sum("&suite=" in link for link in hrefs(both)) == 2
    one = Site(store).compare(before=ids["composed"], after=ids["composed"], suite="triage")
    assert "0 broken" in text(one)


def test_of_two_chosen_runs_the_one_that_began_first_is_before(kept: Busy) -> None:
    store, ids = kept
    pair = ids["guards 3"], ids["guards 6"]
    assert Site(store).chosen(list(pair)) == Site(store).chosen(list(pair[::-1])) == pair
    with pytest.raises(Problem, match="of two runs, not of 1"):
        Site(store).chosen([pair[0]])


@pytest.mark.parametrize(
    "text", ["../../etc/passwd", "..", "", "zz", "%2e%2e", "a" * 65, "0000\n", "abc", "ABCD", "\x00" * 64]
)
def test_what_is_no_run_id_reaches_no_file(kept: Busy, text: str) -> None:
    with pytest.raises(UsageError):
        Site(kept[0]).run(text)


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_text_for_a_run_is_refused_or_a_run(kept: Busy, text: str) -> None:
    site = Site(kept[0])
    try:
        page = site.run(text)
    except UsageError as error:
        page = site.problem(error)
        assert page.status == 404
    assert page.text.startswith("<!doctype html>") or page.text.lstrip().startswith("<!doctype html>")


def test_a_damaged_manifest_is_a_line_in_the_list_and_a_page_that_names_it(own: Busy) -> None:
    store, ids = own
    path = manifest_path(store, ids["guards 5"])
    site = Site(store)
    before = rows(site.runs())
    path.write_bytes(path.read_bytes().replace(b"builtin", b"BUILTIN", 1))
    after = rows(site.runs())
    assert len(after) == len(before)
    (damaged,) = [row for row in after if "damaged" in row]
    assert ids["guards 5"][:12] in damaged and path.name in damaged and "do not match its name" in damaged
    with pytest.raises(StoreError) as caught:
        site.run(ids["guards 5"])
    page = site.problem(caught.value)
    assert page.status == 500 and path.name in text(page) and "It does not verify" in text(page)
    assert site.run(ids["guards 6"]).status == 200


def test_a_damaged_outcome_log_is_named_by_the_run_and_by_a_comparison(own: Busy) -> None:
    store, ids = own
    log = store.object_path(store.find(ids["guards 5"]).manifest["report"]["outcomes"]["sha256"])
    log.write_bytes(log.read_bytes()[:-200])
    site = Site(store)
    for ask in (lambda: site.run(ids["guards 5"]), lambda: site.compare(before=ids["guards 4"], after=ids["guards 5"])):
        with pytest.raises(StoreError, match=log.name):
            ask()


@pytest.mark.parametrize("ref", ["not hex\n", "\xff", "../../../../etc/passwd\n", "0" * 64 + "\n"])
def test_a_damaged_ref_is_a_line_in_the_list(own: Busy, ref: str) -> None:
    store, ids = own
    (path,) = (store.root / "refs" / "runs" / ids["guards 5"]).iterdir()
    path.write_text(ref, encoding="latin-1")
    listed = rows(Site(store).runs())
    assert len(listed) == 15 and sum("damaged" in row for row in listed) == 1


def forged(store: Store, run: str, change: object) -> str:
    """Makes a ref lead to a changed manifest whose digest holds."""
    manifest = orjson.loads(store.get(store.find(run).sha256))
    change(manifest)  # type: ignore[operator]
    data = orjson.dumps(manifest)
    (path,) = (store.root / "refs" / "runs" / run).iterdir()
    path.write_text(store.put(data) + "\n", encoding="ascii")
    return sha256_hex(data)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["report"].pop("target"),
        lambda m: m["report"].update(measurements=[]),
        lambda m: m["report"]["measurements"].update(precision={"value": "NaN"}),
        lambda m: m.update(envelope=None),
        lambda m: m["report"].update(verdict="<b>splendid</b>"),
        lambda m: m.pop("plan"),
        lambda m: m.update(schema="yb-eval/manifest/9"),
        lambda m: m.update(run_id="0" * 64),
        lambda m: m["report"]["datasets"].append(7),
    ],
)
def test_a_manifest_of_another_shape_spoils_its_own_row_only(own: Busy, change: object) -> None:
    store, ids = own
    forged(store, ids["guards 5"], change)
    site = Site(store)
    listed = rows(site.runs())
    assert len(listed) == 15 and sum("damaged" in row for row in listed) == 1
    site.trends(suite="guards")
    try:
        status = site.run(ids["guards 5"]).status
    except Exception as error:
        status = site.problem(error).status
    assert status == 500


def test_a_manifest_cannot_make_a_page_show_a_file_outside_the_store(own: Busy, tmp_path: Path) -> None:
    store, ids = own
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"id": "hunter2", "status": "scored", "correct": true}\n', encoding="utf-8")

    def lead_away(manifest: dict) -> None:  # type: ignore[type-arg]
        report = manifest["report"]
        report["outcomes"]["sha256"] = f"xx{secret}"  # two characters, then what becomes an absolute path

    forged(store, ids["guards 5"], lead_away)
    with pytest.raises(StoreError) as caught:
        Site(store).run(ids["guards 5"])
    assert "hunter2" not in Site(store).problem(caught.value).text


def test_a_forged_value_is_noticed_by_the_page_of_the_run(own: Busy) -> None:
    store, ids = own
    forged(store, ids["guards 5"], lambda m: m["report"]["measurements"]["precision"].update(value=1.0))
    with pytest.raises(StoreError, match="does not follow from the manifest"):
        Site(store).run(ids["guards 5"])


def test_hostile_text_changes_no_page_s_structure(own: Busy, stores: ModuleType, documents: ModuleType) -> None:
    store, ids = own
    site = Site(store)
    pages = [
        site.runs(),
        site.trends(suite="hostile"),
        site.run(ids["hostile 13"]),
        site.compare(before=ids["hostile 12"], after=ids["hostile 13"]),
        site.runs(suite="<script>alert(1)</script>"),
    ]
    for page in pages:
        tree = parser.fromstring(page.text)
        assert len(tree.xpath("//script")) == (2 if tree.xpath("//script[@id='rows']") else 1)
        assert tree.xpath("//img | //iframe | //object | //embed | //*[@style] | //base") == []
        assert [name for element in tree.iter() for name in element.attrib if name.startswith("on")] == []
        links = tree.xpath("//body//@href")
        assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in links)
        assert not set("\x00\x1b\u202e\u2066") & set(page.text)


def test_every_page_stands_under_a_policy_that_names_its_own_style_and_script_only(kept: Busy) -> None:
    site = Site(kept[0])
    for page in (site.runs(), site.trends(), site.run(kept[1]["passing"]), site.problem(UsageError("no"))):
        assert page.policy.startswith("default-src 'none'; style-src 'sha256-")
        assert (
            "unsafe" not in page.policy
            and "http" not in page.policy
            and "'self'" not in page.policy.replace("form-action 'self'", "")
        )


def test_an_empty_store_says_how_to_fill_it(tmp_path: Path) -> None:
    site = Site(Store(tmp_path))
    assert "Nothing has been run yet" in text(site.runs()) and "Nothing has been run yet" in text(site.trends())


def test_pages_can_be_read_while_runs_are_written(stores: ModuleType, documents: ModuleType, tmp_path: Path) -> None:
    store = Store(tmp_path)
    made, outcomes = documents.decision(size=5)
    done = threading.Event()

    def write() -> None:
        for second in range(40):
            stores.keep(store, made, outcomes, started=f"2026-11-01T00:00:{second:02}.000+00:00")
        done.set()

    writer = threading.Thread(target=write)
    site = Site(store)
    counts = []
    writer.start()
    while not done.is_set():
        page = site.runs()
        assert "damaged" not in text(page)
        counts.append(len(rows(page)))
    writer.join()
    assert counts == sorted(counts) and len(rows(site.runs())) == 40


def test_looking_writes_nothing(own: Busy) -> None:
    store, ids = own

    def state() -> dict[str, tuple[int, bytes]]:
        files = (path for path in sorted(store.root.rglob("*")) if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = state()
    site = Site(store)
    site.runs()
    site.trends()
    site.run(ids["composed"])
    site.compare(before=ids["guards 1"], after=ids["guards 2"])
    assert state() == before


def test_the_ids_of_the_helper_s_runs_hold(kept: Busy) -> None:
    store, _ = kept
    assert store.verify_all()
    report = store.find(kept[1]["passing"]).manifest["report"]
    assert (
        run_id(report["plan_id"], report["outcomes"]["sha256"], report["measurements"], report["gates"])
        == kept[1]["passing"]
    )
