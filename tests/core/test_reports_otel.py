"""The otel report against a collector on loopback that decodes what it is sent."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import ModuleType
from typing import Any

import pytest
from attrs import define, field

from yb_eval.errors import StoreError, UsageError
from yb_eval.reports import RunView
from yb_eval.reports.otel import otel

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otel is not installed")

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")


@define
class Collector:
    """What arrived, by path; `status` is what the next requests are answered."""

    address: str = ""
    status: int = 200
    bodies: dict[str, bytes] = field(factory=dict)
    headers: dict[str, str] = field(factory=dict)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    seen = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.bodies[self.path] = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            seen.headers = dict(self.headers)
            self.send_response(seen.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        seen.address = f"http://127.0.0.1:{server.server_port}"
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", seen.address)
        yield seen
        server.shutdown()
        thread.join()


def plain(attributes: Any) -> dict[str, Any]:
    return {entry.key: getattr(entry.value, entry.value.WhichOneof("value")) for entry in attributes}


def spans(collector: Collector) -> list[Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest.FromString(collector.bodies["/v1/traces"])
    return [span for part in request.resource_spans for scope in part.scope_spans for span in scope.spans]


def points(collector: Collector, name: str) -> list[tuple[dict[str, Any], float]]:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    request = ExportMetricsServiceRequest.FromString(collector.bodies["/v1/metrics"])
    (metric,) = [
        m for part in request.resource_metrics for s in part.scope_metrics for m in s.metrics if m.name == name
    ]
    return [(plain(p.attributes), getattr(p, p.WhichOneof("value"))) for p in metric.gauge.data_points]


def test_a_run_is_one_trace_with_its_suites_as_children(documents: ModuleType, collector: Collector) -> None:
    (line,) = otel(documents.everything())
    sent = spans(collector)
    run = sent[-1]
    assert [span.name for span in sent] == ["suite guards", "suite triage", "suite decision", "yb-eval run"]
    assert {span.trace_id for span in sent} == {run.trace_id} and run.parent_span_id == b""
    assert {span.parent_span_id for span in sent[:-1]} == {run.span_id}
    assert len({span.span_id for span in sent}) == 4
    assert line == f"otel: sent trace {run.trace_id.hex()} and 31 measurements to {collector.address}\n"


def test_a_span_says_the_verdict_and_when(documents: ModuleType, collector: Collector) -> None:
    view = documents.everything()
    list(otel(view))
    run, guards = spans(collector)[-1], spans(collector)[0]
    assert plain(run.attributes)["yb_eval.run_id"] == view.document["run_id"]
    assert plain(run.attributes)["yb_eval.exit_code"] == 1
    assert (run.status.code, run.status.message) == (2, "fail")
    assert run.start_time_unix_nano == 1_796_040_000_000_000_000
    assert run.end_time_unix_nano - run.start_time_unix_nano == 1_834_200_000
    told = plain(guards.attributes)
    assert (told["test.suite.name"], told["yb_eval.samples.error"], told["yb_eval.target"]) == ("guards", 2, "builtin")
    gates = [plain(event.attributes) for event in guards.events]
    assert gates[0]["yb_eval.gate.gate"] == "precision >= 0.98" and gates[0]["yb_eval.gate.verdict"] == "fail"


def test_measurements_are_gauges_in_full_and_a_missing_one_is_not_sent(
    documents: ModuleType, collector: Collector
) -> None:
    view = documents.everything()
    list(otel(view))
    values = {
        (labels["test.suite.name"], labels["yb_eval.measurement.name"], labels.get("yb_eval.slice")): value
        for labels, value in points(collector, "yb_eval.measurement")
    }
    measured = view.document["suites"][0]["measurements"]
    assert values["guards", "precision", None] == measured["precision"]["value"]
    assert values["guards", "recall", "lang:ru"] == measured["recall[lang:ru]"]["value"]
    assert ("decision", "regret", None) not in values
    assert measured["precision"]["interval"][0] in [
        value for _, value in points(collector, "yb_eval.measurement.lower")
    ]
    passed = {labels["yb_eval.gate.gate"]: value for labels, value in points(collector, "yb_eval.gate.passed")}
    assert passed["precision >= 0.98"] == 0 and passed["recall >= 0.9"] == 1


def test_sending_a_run_again_names_the_same_trace_and_another_run_another(
    documents: ModuleType, collector: Collector
) -> None:
    view = documents.passing()
    first, again = list(otel(view)), list(otel(view))
    view.document["envelope"]["started"] = "2026-11-30T12:00:01Z"
    assert first == again != list(otel(view))


def test_hostile_text_is_sent_escaped(documents: ModuleType, collector: Collector) -> None:
    list(otel(documents.hostile(["\ud800\x1b[31m\u202e", "x" * 1_000_000])))
    assert all(len(body) < 200_000 for body in collector.bodies.values())
    assert "\\ud800\\x1b[31m\\u202e" in spans(collector)[0].name


def test_a_collector_that_refuses_is_an_error_without_what_is_secret(
    documents: ModuleType, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.status = 400
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-token=sesame-open")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.replace("//", "//user:secret-word@"))
    with pytest.raises(StoreError) as caught:
        list(otel(documents.passing()))
    assert collector.headers["x-token"] == "sesame-open"
    assert str(caught.value) == f"{collector.address} did not take the trace"


def test_nothing_is_sent_where_no_endpoint_is_set(documents: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="OTEL_EXPORTER_OTLP_ENDPOINT is not set"):
        list(otel(documents.passing()))


def test_a_run_without_an_envelope_is_sent_too(documents: ModuleType, collector: Collector) -> None:
    view = documents.passing()
    document = {**view.document, "envelope": {}}
    list(otel(RunView(document=document)))
    assert spans(collector)[-1].name == "yb-eval run"
