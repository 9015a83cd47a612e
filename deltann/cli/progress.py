"""A sweep as it runs: a live table on a terminal, plain lines anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from deltann.sweep import KindCounts, SweepStatus

STAGES = {
    "resolve_model": "resolve models",
    "resolve_data": "resolve data",
    "convert": "convert",
    "import": "import into compiler",
    "compile": "compile",
    "execute": "run",
    "time": "time",
    "analyze": "analyse",
}
"""Job kinds in the order in which they come, and what a person calls them. Others follow under their own names."""

_LINE_S = 10.0
_KEPT_FAILURES = 5
Show = Callable[[SweepStatus], None]


@contextmanager
def progress() -> Iterator[Show]:
    """Give a function that shows a status. What is shown goes to stderr: stdout is for results."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines()
        return
    began = time.monotonic()
    at_first: list[int] = []
    with Live(console=console, refresh_per_second=4, transient=False) as live:

        def show(status: SweepStatus) -> None:
            at_first.append(done(status))
            live.update(picture(status, time.monotonic() - began, at_first[0]))

        yield show


class Lines:
    """Plain lines: every failure as it comes, and the counts whenever the stage changes or some time has passed."""

    def __init__(self) -> None:
        self._failures = 0
        self._said: object = None
        self._when = 0.0

    def __call__(self, status: SweepStatus) -> None:
        """Say what is new."""
        for failure in new_failures(status, self._failures):
            print(f"  {failure}", file=sys.stderr, flush=True)
        self._failures = max(self._failures, failed(status))
        now = time.monotonic()
        if status.ended or status.state != self._said or now - self._when > _LINE_S:
            print(line(status), file=sys.stderr, flush=True)
            self._said, self._when = status.state, now


def line(status: SweepStatus) -> str:
    """A status in one line."""
    parts = [f"{name} {counts.done}/{total(counts)}" for name, counts in stages(status)]
    lost = failed(status)
    return f"{status.name} {status.state}: {', '.join(parts) or 'waiting for a worker'}" + (
        f"; {lost} failed" if lost else ""
    )


def picture(status: SweepStatus, seconds: float, before: int = 0) -> RenderableType:
    """A status as a table with its failures below, after so many seconds, at whose start ``before`` jobs were done."""
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for heading in ("stage", "done", "of", "running", "queued", "failed"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for name, counts in stages(status):
        lost = failures_in(counts)
        finished = counts.done == total(counts)
        table.add_row(
            Text(name, style="green" if finished and not lost else ""),
            str(counts.done),
            str(total(counts)),
            str(counts.running or ""),
            str(counts.queued or ""),
            Text(str(lost or ""), style="red"),
        )
    left = remaining(status, seconds, before)
    head = f"{status.name}  {status.state}  {clock(seconds)}" + (
        f", about {clock(left)} left" if left is not None else ""
    )
    failures = [Text(f"  {text}", style="red") for text in new_failures(status, failed(status) - _KEPT_FAILURES)]
    return Group(Text(head, style="bold"), table, *failures)


def stages(status: SweepStatus) -> list[tuple[str, KindCounts]]:
    """The stages that have jobs, in order."""
    known = [(name, status.counts[kind]) for kind, name in STAGES.items() if kind in status.counts]
    return known + [(kind, counts) for kind, counts in status.counts.items() if kind not in STAGES]


def total(counts: KindCounts) -> int:
    """All jobs of a kind."""
    return counts.waiting + counts.queued + counts.running + counts.done


def failures_in(counts: KindCounts) -> int:
    """How many failed or were skipped because of one that did."""
    return sum(number for outcome, number in counts.outcomes.items() if outcome != "ok")


def failed(status: SweepStatus) -> int:
    """Jobs that did not end well, those that were skipped for it left out."""
    return sum(failures_in(counts) - counts.outcomes.get("skipped", 0) for counts in status.counts.values())


def new_failures(status: SweepStatus, known: int) -> list[str]:
    """The latest failures beyond the first ``known``, each in one line. Old ones may have been dropped already."""
    fresh = min(len(status.failures), max(0, failed(status) - max(0, known)))
    latest = status.failures[len(status.failures) - fresh :]
    return [f"{failure.label}: {failure.outcome}: {' '.join(failure.message.split())[:200]}" for failure in latest]


def done(status: SweepStatus) -> int:
    """Jobs that have ended."""
    return sum(counts.done for counts in status.counts.values())


def remaining(status: SweepStatus, seconds: float, before: int = 0) -> float | None:
    """Seconds that are left if jobs go on as they did; None before there is anything to go by.

    Jobs that an earlier run had done (``before``) say nothing about speed.
    """
    fresh = done(status) - before
    every = sum(total(counts) for counts in status.counts.values())
    if status.ended or status.state in ("queued", "resolving", "planning") or fresh < 3 or seconds < 5:
        return None
    return seconds / fresh * (every - done(status))


def clock(seconds: float) -> str:
    """Seconds as m:ss or h:mm:ss."""
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"
