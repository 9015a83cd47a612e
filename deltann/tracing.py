"""Opt-in OpenTelemetry traces, one a sweep: submit, plan, and of each job its wait in the queue, its run and its child.

They are on where ``OTEL_EXPORTER_OTLP_ENDPOINT`` names a collector and ``deltann[tracing]`` is installed. The ids of a
sweep's trace and of its root follow from the sweep's id, so that whoever works on it, after whatever restart,
adds to the same trace; the root itself is written when the sweep has ended.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from deltann import __version__
from deltann.store.layout import sweep_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.trace import Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
HEADER = "traceparent"
"""Of a job's message: what W3C Trace Context calls it."""

Value = str | int | float | bool
_log = logging.getLogger(__name__)
_tracer: Tracer | None = None
_provider: TracerProvider | None = None
_WANTED: ContextVar[tuple[int, int] | None] = ContextVar("wanted", default=None)


def setup(service: str, pool: str | None = None) -> None:
    """Trace from now on, where the environment asks for it.

    Args:
        service: of this process.
        pool: that it works for.
    """
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        _log.warning("No traces are written: OpenTelemetry is not installed. Install it with deltann[tracing].")
        return
    start(service, pool, BatchSpanProcessor(OTLPSpanExporter()))


def start(service: str, pool: str | None, processor: SpanProcessor) -> None:
    """Hand every span to a processor from now on."""
    global _tracer, _provider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        """Random, but for the root of a sweep's trace."""

        def generate_trace_id(self) -> int:
            return (_WANTED.get() or (super().generate_trace_id(), 0))[0]

        def generate_span_id(self) -> int:
            return (_WANTED.get() or (0, super().generate_span_id()))[1]

    about = {"service.name": f"deltann-{service}", "service.version": __version__}
    resource = Resource.create(about | ({"deltann.pool": pool} if pool else {}))
    _provider = TracerProvider(resource=resource, id_generator=Ids())
    _provider.add_span_processor(processor)
    _tracer = _provider.get_tracer("deltann", __version__)


def stop() -> None:
    """Trace no longer, once what there is is handed over."""
    global _tracer, _provider
    if _provider is not None:
        _provider.shutdown()
    _tracer = _provider = None


@contextmanager
def span(name: str, *, sweep: str | None = None, header: str | None = None, **attributes: Value) -> Iterator[None]:
    """What is done within this is a span.

    Args:
        name: what is done.
        sweep: to whose trace it belongs; that of the span around it where neither this nor a header is given.
        header: of the message that asked for it.
        attributes: what is known beforehand.
    """
    if _tracer is None:
        yield
        return
    header = header or (_header(sweep) if sweep else None)
    context = _from(header) if header else None
    with _tracer.start_as_current_span(name, context, attributes=_named(attributes)):
        yield


def note(**attributes: Value) -> None:
    """Add to the span around this what has come out."""
    if _tracer is not None:
        from opentelemetry import trace

        trace.get_current_span().set_attributes(_named(attributes))


def past(name: str, started: float | None, ended: float, header: str | None) -> None:
    """A span of the trace that a header names, which is over; times are seconds since the epoch, as they came."""
    if _tracer is not None and header and isinstance(started, int | float):
        _tracer.start_span(name, _from(header), start_time=_nanoseconds(started)).end(_nanoseconds(ended))


def headers(graph: str) -> dict[str, str]:
    """What a message of a graph carries so that its job is in the sweep's trace."""
    if _tracer is None:
        return {}
    return {HEADER: _header(sweep_of(graph))}


def ended(sweep: str, started: float, finished: float, **attributes: Value) -> None:
    """Write the span at the root of a sweep's trace; times are seconds since the epoch."""
    if _tracer is None:
        return
    from opentelemetry.context import Context

    token = _WANTED.set(_ids(sweep))
    try:
        root = _tracer.start_span("sweep", Context(), attributes=_named(attributes), start_time=_nanoseconds(started))
    finally:
        _WANTED.reset(token)
    root.end(_nanoseconds(finished))


def _ids(sweep: str) -> tuple[int, int]:
    """Of a sweep's trace, and of the span at its root."""
    digest = hashlib.sha256(sweep.encode()).digest()
    return int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])


def _header(sweep: str) -> str:
    trace_id, span_id = _ids(sweep)
    return f"00-{trace_id:032x}-{span_id:016x}-01"


def _from(header: str) -> Context:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({HEADER: header})


def _named(attributes: dict[str, Value]) -> dict[str, Value]:
    return {f"deltann.{name}": value for name, value in attributes.items()}


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
