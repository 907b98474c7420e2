"""Who may ask the server of `yb-eval view`, what it answers with, and which address shows what: over ASGI, without a
socket."""

from __future__ import annotations

import html
import importlib.util
from collections.abc import Callable, Collection
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import frozen

pytest.importorskip("starlette", reason="yb-eval view is an extra")

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.record import Store
from yb_eval.view import application
from yb_eval.view.guard import LOOPBACK


@frozen
class Answer:
    status: int
    headers: dict[str, str]
    body: str


Ask = Callable[..., Answer]


def request(app: Any, path: str, method: str, headers: list[tuple[bytes, bytes]]) -> Answer:
    address, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": address,
        "raw_path": address.encode("utf-8", "surrogatepass"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8790),
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    anyio.run(app, scope, receive, send)
    head = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], head, b"".join(part.get("body", b"") for part in sent[1:]).decode())


@pytest.fixture(scope="session")
def stores() -> ModuleType:
    spec = importlib.util.spec_from_file_location("view_stores", Path(__file__).with_name("view_stores.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def kept(
    stores: ModuleType, documents: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Store, dict[str, str]]:
    made: tuple[Store, dict[str, str]] = stores.busy(tmp_path_factory.mktemp("guarded") / "store", documents)
    return made


@pytest.fixture
def noted() -> list[str]:
    return []


@pytest.fixture
def ask(kept: tuple[Store, dict[str, str]], noted: list[str]) -> Ask:
    def asked(
        path: str = "/",
        *,
        method: str = "GET",
        host: str | None = "127.0.0.1:8790",
        hosts: Collection[str] = LOOPBACK,
        **headers: str,
    ) -> Answer:
        listed = [(b"host", host.encode("latin-1"))] if host is not None else []
        listed += [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
        return request(application(kept[0], hosts=hosts, note=noted.append), path, method, listed)

    return asked


@pytest.mark.parametrize("host", ["127.0.0.1:8790", "localhost:8790", "LocalHost", "[::1]:8790", "127.0.0.1"])
def test_loopback_names_are_answered(ask: Ask, host: str) -> None:
    assert ask(host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8790",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.2",
        "0.0.0.0",
        "[::]",
    ],
)
def test_a_name_that_was_rebound_to_loopback_is_refused(ask: Ask, host: str) -> None:
    refused = ask(host=host)
    assert refused.status == 421 and "guards" not in refused.body


@pytest.mark.parametrize(
    "host", [None, "", "a b", "127.0.0.1:8790/", "127.0.0.1@evil.example", "127.0.0.1:port", "\xff"]
)
def test_a_host_that_is_none_is_refused(ask: Ask, host: str | None) -> None:
    assert ask(host=host).status == 400


def test_two_hosts_are_refused(kept: tuple[Store, dict[str, str]]) -> None:
    headers = [(b"host", b"127.0.0.1"), (b"host", b"evil.example")]
    assert request(application(kept[0]), "/", "GET", headers).status == 400


def test_the_address_that_was_asked_for_is_answered_and_no_other(ask: Ask) -> None:
    hosts = LOOPBACK | {"192.0.2.7"}
    assert ask(host="192.0.2.7:8790", hosts=hosts).status == 200
    assert ask(host="192.0.2.8:8790", hosts=hosts).status == 421


def test_bound_to_everything_it_answers_numeric_addresses_which_cannot_be_rebound(ask: Ask) -> None:
    hosts = LOOPBACK | {"0.0.0.0"}
    assert ask(host="192.0.2.7:8790", hosts=hosts).status == 200
    assert ask(host="[2001:db8::1]:8790", hosts=hosts).status == 200
    assert ask(host="evil.example:8790", hosts=hosts).status == 421


@given(st.text(st.characters(max_codepoint=255), max_size=40))
@settings(max_examples=80, deadline=None)
def test_no_other_host_is_ever_answered(kept: tuple[Store, dict[str, str]], host: str) -> None:
    answer = request(application(kept[0]), "/nothing", "GET", [(b"host", host.encode("latin-1"))])
    assert answer.status in (400, 421) or host.lower().rpartition(":")[0] or host.lower() in LOOPBACK | {"[::1]"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"])
@pytest.mark.parametrize("path", ["/", "/compare", "/nothing"])
def test_nothing_but_get_and_head_is_answered(ask: Ask, method: str, path: str) -> None:
    refused = ask(path, method=method)
    assert refused.status == 405 and refused.headers["allow"] == "GET, HEAD"


def test_head_is_answered_like_get(ask: Ask) -> None:
    assert ask(method="HEAD").status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9", "http://127.0.0.1:8790.evil.example"]
)
def test_a_request_of_another_origin_is_refused(ask: Ask, origin: str) -> None:
    assert ask(origin=origin).status == 403


def test_a_request_of_its_own_origin_is_answered(ask: Ask) -> None:
    assert ask(origin="http://127.0.0.1:8790", sec_fetch_site="same-origin", sec_fetch_mode="cors").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_may_link_but_not_embed(ask: Ask, site: str) -> None:
    assert ask(sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document").status == 200
    assert ask(sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="iframe").status == 403
    assert ask(sec_fetch_site=site, sec_fetch_mode="no-cors", sec_fetch_dest="image").status == 403


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("/", {}),
        ("/trends", {}),
        ("/runs/latest", {}),
        ("/nothing", {}),
        ("/", {"host": "evil.example"}),
        ("/", {"method": "POST"}),
        ("/", {"origin": "null"}),
    ],
)
def test_every_answer_has_the_headers_that_keep_it_to_itself(ask: Ask, path: str, options: dict[str, Any]) -> None:
    headers = ask(path, **options).headers
    assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY" and headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy and "access-control-allow-origin" not in headers


def test_the_policy_in_the_header_is_the_one_in_the_page(ask: Ask) -> None:
    for path in ("/", "/trends", "/nothing"):
        answer = ask(path)
        policy = answer.headers["content-security-policy"].removesuffix("; frame-ancestors 'none'")
        assert html.escape(policy).replace("&#x27;", "&#39;") in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../../etc/passwd",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/....//....//etc/passwd",
        "/runs/%00",
        "/runs/\x00",
        "/runs/",
        "/../refs/latest",
        "/objects/sha256",
        "//evil.example/",
        "/static/report.css",
        "/runs/\udcff",
    ],
)
def test_no_path_leads_to_a_file(ask: Ask, path: str) -> None:
    answer = ask(path)
    assert answer.status == 404 and "root:" not in answer.body


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/?suite=guards&verdict=pass", 200, "python:mine:guard"),
        ("/?verdict=splendid", 200, "any verdict"),
        ("/?after=nothing", 200, "Newest"),
        ("/trends?suite=%3Cscript%3E", 404, "&lt;script&gt;"),
        ("/runs/0000", 404, "no run 0000"),
        ("/runs/zz", 404, "is not a run"),
        ("/compare", 400, "Choose two runs"),
        ("/compare?run=latest", 400, "not of 1"),
        ("/compare?before=latest&after=../../x", 404, "is not a run"),
        ("/nothing", 404, "There is nothing at /nothing."),
    ],
)
def test_each_address_shows_its_page_or_says_why_not(ask: Ask, path: str, status: int, said: str) -> None:
    answer = ask(path)
    assert answer.status == status and said in answer.body
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_two_ticked_runs_lead_to_their_comparison_the_first_before(
    ask: Ask, kept: tuple[Store, dict[str, str]]
) -> None:
    before, after = kept[1]["guards 2"], kept[1]["guards 7"]
    answer = ask(f"/compare?run={after}&run={before}")
    assert answer.status == 303 and answer.headers["location"] == f"/compare?before={before}&after={after}"
    shown = ask(answer.headers["location"])
    assert shown.status == 200 and "What changed" in shown.body


def test_damage_is_answered_noted_and_survived(
    stores: ModuleType, documents: ModuleType, tmp_path: Path, noted: list[str]
) -> None:
    store, ids = stores.busy(tmp_path / "store", documents)
    path = store.object_path(store.find(ids["guards 5"]).sha256)
    path.write_bytes(b"{}")
    app = application(store, note=noted.append)
    host = [(b"host", b"127.0.0.1")]
    damaged = request(app, f"/runs/{ids['guards 5']}", "GET", host)
    assert damaged.status == 500 and path.name in damaged.body
    assert len(noted) == 1 and path.name in noted[0]
    assert request(app, "/", "GET", host).status == 200
    assert request(app, f"/runs/{ids['guards 6']}", "GET", host).status == 200


def test_a_websocket_is_not_answered(kept: tuple[Store, dict[str, str]]) -> None:
    async def nothing(*arguments: Any) -> None:
        raise AssertionError("nothing is to be sent")

    with pytest.raises(RuntimeError, match="no websocket here"):
        anyio.run(application(kept[0]), {"type": "websocket", "headers": []}, nothing, nothing)
