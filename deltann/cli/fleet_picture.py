"""The fleet as an operator reads it: what is wrong first, then sweeps, pools, services and workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from deltann.cli.counts import clock, done, failed, new_failures, total
from deltann.cli.pace import Pace
from deltann.fleet import FleetView, WorkerRecord
from deltann.fleet.view import QueueView
from deltann.kinds.queues import POOL_QUEUE
from deltann.sweep import SweepStatus

_FAILURES = 6
_MUCH = 0.8
"""Share of Redis' memory from which on it is shown as a danger."""
_STATES = {"busy": "green", "draining": "yellow"}


def picture(
    view: FleetView,
    per_second: float | None = None,
    sweeps: Sequence[tuple[SweepStatus, Pace | None]] = (),
    height: int | None = None,
    trouble: str = "",
) -> RenderableType:
    """The fleet in as many lines as there are, or as fit.

    Args:
        view: of the fleet.
        per_second: jobs settled; None where that is not known yet.
        sweeps: that run, each with its pace where that is known.
        height: lines that there is room for; workers that do not fit are counted.
        trouble: why this is not how it is now.
    """
    warnings = [Text(f"! {text}", "bold red") for text in (*filter(None, [trouble]), *troubles(view))]
    failures = [_line(f"  {text}", "red") for status, _ in sweeps for text in new_failures(status, 0)][-_FAILURES:]
    queues = _queues(view)
    parts: list[RenderableType] = [_head(view, per_second), *warnings, Text()]
    parts += [*(_sweep(status, pace) for status, pace in sweeps), *failures]
    parts += [Text()] if sweeps else []
    parts += [queues, Text()]
    taken = len(parts) + queues.row_count + 2  # the headings of both tables
    return Group(*parts, _workers(view, None if height is None else max(1, height - taken)))


def troubles(view: FleetView) -> list[str]:
    """What an operator has to do something about, each in a sentence or two."""
    found = [
        f"Pool {pool.name}: {_jobs(pool.queue)} for a worker. Start one: deltann worker executor --pool {pool.name}"
        for pool in view.pools
        if pool.queue.stranded
    ]
    found += [
        f"{queue.name}: {_jobs(queue)} for a worker. Start one: deltann worker {queue.name}"
        for queue in view.services
        if queue.stranded
    ]
    versions: dict[str, set[str]] = defaultdict(set)
    for worker in view.workers:
        versions[worker.queue].add(worker.code)
    found += [
        f"{_called(queue)}: its workers are of {len(codes)} versions, {', '.join(sorted(codes))}. "
        "Install one everywhere."
        for queue, codes in sorted(versions.items())
        if len(codes) > 1
    ]
    if view.redis_limit_bytes and view.redis_used_bytes > _MUCH * view.redis_limit_bytes:
        found.append("Redis' memory is nearly full. Raise its maxmemory, or submit less at a time.")
    return found


def _head(view: FleetView, per_second: float | None) -> Text:
    busy = sum(bool(worker.job) for worker in view.workers)
    draining = sum(worker.state == "draining" for worker in view.workers)
    lost = sum(count.jobs for count in view.counts if count.outcome != "ok")
    parts = [f"{len(view.workers)} workers, {busy} busy" + (f", {draining} draining" if draining else "")]
    parts.append("– jobs/s" if per_second is None else f"{per_second:.1f} jobs/s")
    parts.append(f"{view.jobs_done} done" + (f", {lost} failed" if lost else ""))
    limit = f" of {view.redis_limit_bytes / 1e6:.0f}" if view.redis_limit_bytes else ""
    parts.append(f"Redis {view.redis_used_bytes / 1e6:.0f}{limit} MB")
    return _line("   ".join(parts), "bold")


def _sweep(status: SweepStatus, pace: Pace | None) -> Text:
    jobs = sum(total(counts) for counts in status.counts.values())
    running = sum(counts.running for counts in status.counts.values())
    lost = failed(status)
    parts = [status.name, status.state, f"{done(status)}/{jobs} jobs" + (f", {running} running" if running else "")]
    if lost:
        parts.append(f"{lost} failed")
    told = pace.told(status) if pace is not None else ""
    return _line("  ".join([*parts, *filter(None, [told])]), "bold")


def _queues(view: FleetView) -> Table:
    table = _table("queue", "waiting", "oldest", "workers", "busy", "")
    named = [(f"pool {pool.name}", pool.queue, pool.about if pool.defined else "not defined") for pool in view.pools]
    named += [(queue.name, queue, "") for queue in view.services]
    for name, queue, about in named:
        style = "bold red" if queue.stranded else ""
        table.add_row(
            Text(_short(name, 24), style=style),
            _waiting(queue),
            clock(queue.oldest_s) if queue.oldest_s is not None else "",
            Text(str(queue.workers or ("none" if queue.stranded else "")), style=style),
            str(queue.busy or ""),
            Text("waits for a worker", style=style) if queue.stranded else Text(about, style="dim"),
        )
    return table


def _waiting(queue: QueueView) -> str:
    urgent = sum(number for priority, number in queue.depth.items() if priority == 0)
    return (f"{queue.waiting}" + (f" ({urgent} urgent)" if urgent else "")) if queue.waiting else ""


def _workers(view: FleetView, rows: int | None) -> RenderableType:
    order = sorted(view.workers, key=lambda worker: (worker.pool is None, not worker.job, worker.queue, worker.id))
    shown = order if rows is None or len(order) <= rows else order[: max(0, rows - 1)]
    table = _table("worker", "on", "state", "for", "°C", "jobs", "job", "device")
    for worker in shown:
        heat = worker.now.temperature_c
        table.add_row(
            _short(worker.pool or worker.service, 14),
            f"{_short(worker.host.partition('.')[0], 16)}:{worker.pid}",
            Text(worker.state, style=_STATES.get(worker.state, "")),
            clock(max(0.0, view.time - worker.since)),
            "" if heat is None else f"{heat:.0f}",
            str(worker.jobs_done),
            worker.job,
            Text(_device(worker), style="dim"),
        )
    left = order[len(shown) :]
    if not left:
        return table
    idle = sum(not worker.job for worker in left)
    return Group(table, _line(f"… and {len(left)} more, {idle} of them idle", "dim"))


def _called(queue: str) -> str:
    pool = queue.removeprefix(POOL_QUEUE)
    return queue if pool == queue else f"Pool {pool}"


def _jobs(queue: QueueView) -> str:
    return "1 job waits" if queue.waiting == 1 else f"{queue.waiting} jobs wait"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _device(worker: WorkerRecord) -> str:
    device = worker.device
    return ", ".join(filter(None, (device.board or worker.name or device.cpu, *device.gpus)))


_LEFT = ("queue", "worker", "on", "state", "job", "device", "")
_SHARES = {"job": 3, "device": 2, "": 1}
"""Columns that share the width that the others leave, and are cut where it is too little."""


def _table(*headings: str) -> Table:
    """A table whose rows are one line each."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False, expand=True)
    for heading in headings:
        table.add_column(
            heading,
            justify="left" if heading in _LEFT else "right",
            ratio=_SHARES.get(heading),
            no_wrap=True,
            overflow="ellipsis",
        )
    return table


def _line(text: str, style: str) -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")
