"""When a sweep ran, on what, how long each stage took, and what share of it was overhead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from deltann.job import Done
from deltann.report.models import SweepFacts
from deltann_analyzer.overhead import Span, overhead_share
from deltann_analyzer.records import EXCLUSIVE_KINDS, Graph, Records

_STAGES = {"resolve_model": "resolve", "resolve_data": "resolve"}


def sweep_facts(records: Records, name: str, now: float) -> SweepFacts:
    """The facts of a sweep up to now, its analysis not included."""
    graphs = [graph for graph in (records.resolve, records.graph) if graph is not None]
    every = [done for graph in graphs for done in graph.done.values() if done.started]
    return SweepFacts(
        id=records.context.sweep,
        name=name,
        started=min((done.started for done in every), default=None),
        finished=now,
        toolchain=_toolchain(graphs),
        seconds_by_stage=_seconds(graphs),
        overhead_share=overhead_share(list(_spans(records))),
    )


def _toolchain(graphs: list[Graph]) -> dict[str, str]:
    """Every tool with its version; several versions of one tool are all named."""
    found: dict[str, set[str]] = defaultdict(set)
    for graph in graphs:
        for result in graph.results.values():
            for tool, version in result.toolchain.items():
                found[tool].add(version)
    return {tool: ", ".join(sorted(versions)) for tool, versions in sorted(found.items())}


def _seconds(graphs: list[Graph]) -> dict[str, float]:
    """Seconds inside the handlers of this sweep, by stage; what was reused took none."""
    seconds: dict[str, float] = defaultdict(float)
    for graph in graphs:
        for index, result in graph.results.items():
            kind = graph.job(index).kind
            seconds[_STAGES.get(kind, kind)] += 0.0 if graph.done[index].reused else result.work_seconds
    return {stage: round(value, 3) for stage, value in seconds.items()}


def _spans(records: Records) -> Iterator[Span]:
    """The settled jobs of both graphs; the main graph's first jobs are ready when the last resolve job has ended."""
    if records.resolve is not None:
        begin = min((done.started for done in records.resolve.done.values() if done.started), default=0.0)
        yield from _of_graph(records.resolve, begin)
        begin = max((done.finished for done in records.resolve.done.values()), default=0.0)
    else:
        begin = min((done.started for done in records.graph.done.values() if done.started), default=0.0)
    yield from _of_graph(records.graph, begin)


def _of_graph(graph: Graph, begin: float) -> Iterator[Span]:
    for index, done in graph.done.items():
        job, result = graph.job(index), graph.result(index)
        if result is None or not _ran(done):
            continue
        earlier = [graph.done[other].finished for other in (*job.needs.values(), *job.after) if other in graph.done]
        yield Span(
            queue=job.queue,
            ready=max([begin, *earlier]),
            started=done.started,
            finished=done.finished,
            work=0.0 if done.reused else result.work_seconds,
            phase=job.phase,
            exclusive=job.kind in EXCLUSIVE_KINDS,
        )


def _ran(done: Done) -> bool:
    return done.finished > done.started > 0
