"""Which spans a sweep's trace has, and that nothing happens where nobody asked for one."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from deltann import tracing
from deltann.store.layout import resolve_graph

pytest.importorskip("opentelemetry.sdk", reason="the extra `tracing` is not installed")

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    found = InMemorySpanExporter()
    tracing.start("converter", "cpu", SimpleSpanProcessor(found))
    yield found
    tracing.stop()


def tree(spans: tuple[ReadableSpan, ...]) -> dict[str, str | None]:
    names = {span.context.span_id: span.name for span in spans}
    return {span.name: names[span.parent.span_id] if span.parent else None for span in spans}


def test_everything_done_for_a_sweep_is_one_tree(exporter: InMemorySpanExporter) -> None:
    with tracing.span("submit", sweep="s-1", study="x"):
        pass
    header = tracing.headers("s-1")["traceparent"]
    tracing.past("queue", 10.0, 12.5, header)
    with tracing.span("job", sweep="s-1", header=header, job="s-1#0"):
        with tracing.span("child", kind="add"):
            pass
        tracing.note(outcome="ok", reused=False)
    tracing.ended("s-1", 9.0, 20.0, state="done")
    spans = exporter.get_finished_spans()
    assert tree(spans) == {"submit": "sweep", "queue": "sweep", "job": "sweep", "child": "job", "sweep": None}
    assert len({span.context.trace_id for span in spans}) == 1
    named = {span.name: span for span in spans}
    assert (named["queue"].start_time, named["queue"].end_time) == (10_000_000_000, 12_500_000_000)
    assert (named["sweep"].start_time, named["sweep"].end_time) == (9_000_000_000, 20_000_000_000)
    assert named["job"].attributes == {"deltann.job": "s-1#0", "deltann.outcome": "ok", "deltann.reused": False}
    about = named["job"].resource.attributes
    assert (about["service.name"], about["deltann.pool"]) == ("deltann-converter", "cpu")


def test_a_trace_is_the_sweeps_own_and_the_same_in_every_process(exporter: InMemorySpanExporter) -> None:
    first, second, resolve = (tracing.headers(graph)["traceparent"] for graph in ("s-1", "s-2", resolve_graph("s-1")))
    assert first != second
    assert tracing.headers("s-1")["traceparent"] == first
    with tracing.span("submit", sweep="s-1"), tracing.span("job", header=second):
        pass
    job, submit = exporter.get_finished_spans()
    assert f"{submit.context.trace_id:032x}" == first.split("-")[1] == resolve.split("-")[1]
    assert f"{job.context.trace_id:032x}" == second.split("-")[1]


@pytest.mark.parametrize("header", ["", "nonsense", "00-0-0-00"])
def test_a_header_that_is_none_begins_a_trace_of_its_own(exporter: InMemorySpanExporter, header: str) -> None:
    with tracing.span("job", header=header):
        pass
    (span,) = exporter.get_finished_spans()
    assert span.parent is None


def test_an_error_is_in_its_span(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(KeyError), tracing.span("plan", sweep="s"):
        raise KeyError("x")
    (span,) = exporter.get_finished_spans()
    assert [event.name for event in span.events] == ["exception"]
    assert not span.status.is_ok


def test_off_there_are_no_headers_and_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in tracing.ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    tracing.setup("gateway")
    assert tracing.headers("s-1") == {}
    with tracing.span("job", sweep="s-1"):
        tracing.note(outcome="ok")
    tracing.past("queue", 1.0, 2.0, "00-1-1-01")
    tracing.ended("s-1", 1.0, 2.0)
    assert tracing._tracer is None


def test_asked_for_and_not_installed_is_said(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv(tracing.ENDPOINTS[0], "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    tracing.setup("gateway")
    assert tracing._tracer is None
    assert "Install it with deltann[tracing]" in caplog.text
