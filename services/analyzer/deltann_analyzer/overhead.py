"""What share of the workers' usable time was not work: queueing, storing, planning, waiting. Pure.

Definition. A slot of a queue is *in use* while it settles a job (``Done.started`` to ``Done.finished``) and *usable*
while it is free although a job of that queue could run: all that the job needs or comes after has ended, no job of a
lower phase runs or could run, and no exclusive job runs on the host (nor, for an exclusive job, anything else). With
u(t) slots in use and i(t) = Σ over queues of min(free slots, jobs that could run),

    overhead = (∫ i(t) dt + Σ over jobs of (time in the slot − time in the handler)) / ∫ (u(t) + i(t)) dt.

How many slots a queue has is not recorded: it is taken to be the most that were ever in use at once. A stretch of more
than ``PAUSE`` seconds in which nothing at all runs is a pause (the sweep was stopped and resumed) and not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

PAUSE = 60.0
"""Seconds without any running job after which a sweep counts as having been stopped."""


@dataclass(frozen=True)
class Span:
    """One settled job on the time line, seconds.

    Args:
        queue: whose slot it took.
        ready: when the last job that it needs or comes after had ended.
        started: when a worker took it.
        finished: when it was settled.
        work: seconds inside the handler; 0 for a reused result.
        phase: as in :class:`deltann.job.Job`.
        exclusive: nothing else may run meanwhile.
    """

    queue: str
    ready: float
    started: float
    finished: float
    work: float
    phase: int = 0
    exclusive: bool = False


def overhead_share(spans: Sequence[Span]) -> float | None:
    """The overhead as defined above, 0..1; None where nothing was run."""
    spans = [span for span in spans if span.finished > span.started]
    if not spans:
        return None
    slots = _most_at_once(spans)
    in_use = sum(span.finished - span.started for span in spans)
    inside = sum(max(0.0, span.finished - span.started - span.work) for span in spans)
    idle = _idle(spans, slots)
    return (idle + inside) / (in_use + idle)


def _most_at_once(spans: Sequence[Span]) -> Counter[str]:
    edges = sorted([(s.finished, 0, s.queue) for s in spans] + [(s.started, 1, s.queue) for s in spans])
    now: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for _, begins, queue in edges:
        now[queue] += 1 if begins else -1
        most[queue] = max(most[queue], now[queue])
    return most


def _idle(spans: Sequence[Span], slots: Counter[str]) -> float:
    """∫ Σ min(free slots, jobs that could run) dt, by walking over every moment at which something changes."""
    edges: list[tuple[float, int, Span]] = []
    for span in spans:
        edges += [(min(span.ready, span.started), 0, span), (span.started, 1, span), (span.finished, 2, span)]
    edges.sort(key=lambda edge: edge[:2])
    waiting: Counter[tuple[str, int, bool]] = Counter()
    running: Counter[str] = Counter()
    phases: Counter[int] = Counter()
    exclusive = 0
    total = 0.0
    last = edges[0][0]
    for moment, what, span in edges:
        if moment > last:
            paused = not running.total() and moment - last > PAUSE
            total += 0.0 if paused else (moment - last) * _could_run(waiting, running, phases, slots, exclusive)
            last = moment
        key = (span.queue, span.phase, span.exclusive)
        if what == 0:
            waiting[key] += 1
            phases[span.phase] += 1
        elif what == 1:
            waiting[key] -= 1
            running[span.queue] += 1
            exclusive += span.exclusive
        else:
            running[span.queue] -= 1
            phases[span.phase] -= 1
            exclusive -= span.exclusive
    return total


def _could_run(
    waiting: Counter[tuple[str, int, bool]],
    running: Counter[str],
    phases: Counter[int],
    slots: Counter[str],
    exclusive: int,
) -> int:
    lowest = min((phase for phase, number in phases.items() if number > 0), default=None)
    if lowest is None or exclusive:
        return 0
    busy = running.total() > 0
    shared: Counter[str] = Counter()
    alone: set[str] = set()
    for (queue, phase, is_exclusive), number in waiting.items():
        if phase != lowest or number <= 0:
            continue
        if is_exclusive:
            alone.add(queue)
        else:
            shared[queue] += number
    idle = sum(min(slots[queue] - running[queue], number) for queue, number in shared.items())
    return idle if idle or busy or not alone else 1
