"""The run as OpenTelemetry: one trace, with a span for each suite, and its measurements as metrics, over OTLP.

An extra (`pip install 'yb-eval-core[otel]'`). Where it goes is what the standard variables say -
`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and their kin; nothing is sent where no
endpoint is set. Attribute names under `test.` and `vcs.` are OpenTelemetry's semantic conventions, the rest are ours.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from yb_eval.errors import StoreError, UsageError
from yb_eval.reports import findings
from yb_eval.reports.view import Json, RunView
from yb_eval.reports.wording import plural, shown

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricsData
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.id_generator import IdGenerator

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_SIGNALS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
_TEXT = 1_000
_STATUS = {"pass": "success", "fail": "failure", "unmeasured": "aborted"}


def otel(view: RunView) -> Iterator[str]:
    """Sends the run and yields one line that names the trace.

    Raises `UsageError` if the extra is not installed or no endpoint is set, `StoreError` if the collector did not take
    both the trace and the metrics. The report knows no time of a single suite: each span covers the whole run.
    """
    where = _destination()
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics.export import MetricExportResult
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError as error:
        raise UsageError("the report otel needs OpenTelemetry", hint="pip install 'yb-eval-core[otel]'") from error
    # The exporter logs each attempt; what matters of it is told below, in one line.
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    resource = Resource.create(_resource(view.document))
    spans = _spans(view.document, resource)
    metrics = _metrics(view.document, resource)
    traces, measures = OTLPSpanExporter(), OTLPMetricExporter()
    try:
        if traces.export(spans) is not SpanExportResult.SUCCESS:
            raise StoreError(f"{where} did not take the trace")
        if measures.export(metrics) is not MetricExportResult.SUCCESS:
            raise StoreError(f"{where} did not take the metrics")
    finally:
        traces.shutdown()  # type: ignore[no-untyped-call]
        measures.shutdown()
    trace = format(spans[-1].context.trace_id, "032x")
    measured = [entry for suite in view.document["suites"] for entry in suite["measurements"].values()]
    count = sum(entry["value"] is not None for entry in measured)
    yield f"otel: sent trace {trace} and {plural(count, 'measurement')} to {where}\n"


def _destination() -> str:
    """The collector's address without what may be secret in it."""
    address = next((os.environ[name] for name in (_ENDPOINT, *_SIGNALS) if os.environ.get(name)), None)
    if address is None:
        raise UsageError(f"the report otel has nowhere to go: {_ENDPOINT} is not set")
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"


def _resource(document: Json) -> dict[str, str]:
    envelope = document.get("envelope") or {}
    known = {
        "service.name": os.environ.get("OTEL_SERVICE_NAME") or "yb-eval",
        "service.version": envelope.get("yb_eval"),
        "host.name": envelope.get("host"),
        "vcs.ref.head.revision": (envelope.get("git") or {}).get("commit"),
    }
    return {key: shown(value, _TEXT) for key, value in known.items() if value}


def _spans(document: Json, resource: Resource) -> list[ReadableSpan]:
    """The finished spans, the run's last."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import set_span_in_context

    start, end = _times(document)
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=resource, id_generator=_ids(document), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("yb_eval")
    attributes = {
        "yb_eval.plan_id": document["plan_id"],
        "yb_eval.run_id": document["run_id"],
        "yb_eval.verdict": document["verdict"],
        "yb_eval.exit_code": document["exit_code"],
        "test.suite.run.status": _STATUS[document["verdict"]],
    }
    run = tracer.start_span("yb-eval run", start_time=start, attributes=_present(attributes))
    for suite in document["suites"]:
        name = shown(findings.name_of(suite), _TEXT)
        span = tracer.start_span(
            f"suite {name}", context=set_span_in_context(run), start_time=start, attributes=_present(_suite(suite))
        )
        for gate in suite["gates"]:
            told = {f"yb_eval.gate.{key}": gate[key] for key in ("gate", "severity", "verdict", "reason")}
            span.add_event("gate", _present(told), timestamp=end)
        _close(span, suite["verdict"], end)
    _close(run, document["verdict"], end)
    return list(kept.get_finished_spans())


def _suite(suite: Json) -> dict[str, Any]:
    return {
        "test.suite.name": findings.name_of(suite),
        "test.suite.run.status": _STATUS[suite["verdict"]],
        "yb_eval.verdict": suite["verdict"],
        "yb_eval.plan_id": suite["plan_id"],
        "yb_eval.run_id": suite["run_id"],
        "yb_eval.target": suite["target"]["spec"],
        "yb_eval.plugin": f"{suite['plugin']['distribution']} {suite['plugin']['version']}",
        "yb_eval.dataset": ", ".join(f"{dataset['id']}@{dataset['revision_id']}" for dataset in suite["datasets"]),
        **{f"yb_eval.samples.{name}": count for name, count in suite["counts"].items()},
    }


def _close(span: Any, verdict: str, end: int) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.OK) if verdict == "pass" else Status(StatusCode.ERROR, verdict))
    span.end(end)


def _present(attributes: Mapping[str, Any]) -> dict[str, str | int | float]:
    """Attributes that have a value; text is made safe and short."""
    return {
        key: value if isinstance(value, int | float) else shown(value, _TEXT)
        for key, value in attributes.items()
        if value is not None
    }


def _metrics(document: Json, resource: Resource) -> MetricsData:
    """Gauges: each measurement with its ends and its n, the samples by status, and 1 for each gate that passed.

    A measurement without a value is not sent: there is no number for it.
    """
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)
    meter = provider.get_meter("yb_eval")
    value = meter.create_gauge("yb_eval.measurement", description="a measurement's value")
    lower = meter.create_gauge("yb_eval.measurement.lower", description="the lower end of its 95 % interval")
    upper = meter.create_gauge("yb_eval.measurement.upper", description="the upper end of its 95 % interval")
    n = meter.create_gauge("yb_eval.measurement.n", description="its denominator")
    samples = meter.create_gauge("yb_eval.samples", unit="{sample}", description="samples by status")
    gates = meter.create_gauge("yb_eval.gate.passed", description="1 if the gate passed, else 0")
    for suite in document["suites"]:
        common = {"test.suite.name": findings.name_of(suite), "yb_eval.target": suite["target"]["spec"]}
        for name, measurement in suite["measurements"].items():
            base, key = findings.split_slice(name)
            labels = _present(common | {"yb_eval.measurement.name": base, "yb_eval.slice": key})
            if measurement["value"] is None:
                continue
            value.set(measurement["value"], labels)
            n.set(measurement["n"], labels)
            if measurement.get("interval"):
                lower.set(measurement["interval"][0], labels)
                upper.set(measurement["interval"][1], labels)
        for status in ("scored", "error", "skipped"):
            samples.set(suite["counts"][status], _present(common | {"yb_eval.status": status}))
        for gate in suite["gates"]:
            labels = _present(common | {"yb_eval.gate.gate": gate["gate"], "yb_eval.gate.severity": gate["severity"]})
            gates.set(int(gate["verdict"] == "pass"), labels)
    data = reader.get_metrics_data()
    provider.shutdown()
    if data is None:
        raise StoreError("OpenTelemetry collected no metrics")
    return data


def _times(document: Json) -> tuple[int, int]:
    """When the run began and ended, in nanoseconds since 1970."""
    envelope = document.get("envelope") or {}
    started, seconds = envelope.get("started"), envelope.get("seconds")
    start = int(datetime.fromisoformat(started).timestamp() * 1000) * 1_000_000 if started else 0
    return start, start + int((seconds or 0) * 1e9)


def _ids(document: Json) -> IdGenerator:
    """Ids drawn from the run's own id and start: sending a run again names the same trace, another run another."""
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    started = (document.get("envelope") or {}).get("started")
    seed = f"{document['plan_id']} {document['run_id']} {started}"
    drawn = itertools.count()

    def draw(kind: str, size: int) -> int:
        return int.from_bytes(hashlib.sha256(f"yb-eval/1/otel {kind} {seed}".encode()).digest()[:size]) or 1

    class Ids(IdGenerator):
        def generate_trace_id(self) -> int:
            return draw("trace", 16)

        def generate_span_id(self) -> int:
            return draw(f"span {next(drawn)}", 8)

    return Ids()
