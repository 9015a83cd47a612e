"""A sweep's trace as a collector gets it: from this process, which submits and dispatches, and from real workers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import deltann_arithmetic as arithmetic
import pytest
from stacks import until

from deltann import tracing
from deltann.embedded import EmbeddedStack, WorkerSpec

trace_service = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="the extra `tracing` is not installed"
)


class Spans(dict[bytes, tuple[str, str, bytes, bytes]]):
    """Of each span by its id: service, name, trace and parent."""

    def named(self, name: str) -> list[tuple[str, str, bytes, bytes]]:
        return [span for span in self.values() if span[1] == name]


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spans]:
    """What a collector on this machine receives; tracing is on, for every process that starts."""
    spans = Spans()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            for resource in trace_service.ExportTraceServiceRequest.FromString(body).resource_spans:
                about = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        spans[span.span_id] = (about["service.name"], span.name, span.trace_id, span.parent_span_id)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    yield spans
    tracing.stop()
    server.shutdown()
    server.server_close()


def test_a_sweep_is_one_trace_from_submit_to_result(collected: Spans, tmp_path: Path) -> None:
    workers = [WorkerSpec(service=arithmetic.NAME)]
    with EmbeddedStack(tmp_path / "home", workers, planner=arithmetic.ArithmeticPlanner()) as stack:
        sid = stack.backend.submit(arithmetic.study("traced", sweep=[["add", 1], ["add", 2, 0]]))
        *_, last = stack.backend.watch(sid)
        assert last.state == "done"
        jobs = sum(counts.done for counts in last.counts.values())
        until(lambda: collected.named("sweep") and len(collected.named("job")) == jobs)
    ((service, _, trace, parent),) = collected.named("sweep")
    assert (service, parent) == ("deltann-stack", b"")
    assert {span[2] for span in collected.values()} == {trace}
    (root,) = (key for key, span in collected.items() if span[1] == "sweep")
    assert {span[1] for span in collected.values() if span[3] == root} == {"submit", "plan", "queue", "job"}
    assert len(collected.named("queue")) == jobs
    held = {key for key, span in collected.items() if span[1] == "job"}
    children = collected.named("child")
    assert children
    assert {span[3] for span in children} <= held
    assert {span[0] for span in (*children, *collected.named("job"))} == {"deltann-arithmetic"}
