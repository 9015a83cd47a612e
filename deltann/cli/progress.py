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

from deltann.cli.counts import clock, failed, failures_in, new_failures, stages, total
from deltann.cli.pace import Pace
from deltann.sweep import SweepStatus

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
    pace = Pace()
    with Live(console=console, refresh_per_second=4, transient=False) as live:

        def show(status: SweepStatus) -> None:
            pace.see(status)
            live.update(picture(status, pace))

        yield show


class Lines:
    """Plain lines: every failure as it comes, and the counts whenever the stage changes or some time has passed."""

    def __init__(self) -> None:
        self._failures = 0
        self._pace = Pace()
        self._said: object = None
        self._when = 0.0

    def __call__(self, status: SweepStatus) -> None:
        """Say what is new."""
        self._pace.see(status)
        for failure in new_failures(status, self._failures):
            print(f"  {failure}", file=sys.stderr, flush=True)
        self._failures = max(self._failures, failed(status))
        now = time.monotonic()
        if status.ended or status.state != self._said or now - self._when > _LINE_S:
            told = self._pace.told(status)
            print(line(status) + (f"; {told}" if told else ""), file=sys.stderr, flush=True)
            self._said, self._when = status.state, now


def line(status: SweepStatus) -> str:
    """A status in one line."""
    parts = [f"{name} {counts.done}/{total(counts)}" for name, counts in stages(status)]
    lost = failed(status)
    return f"{status.name} {status.state}: {', '.join(parts) or 'waiting for a worker'}" + (
        f"; {lost} failed" if lost else ""
    )


def picture(status: SweepStatus, pace: Pace) -> RenderableType:
    """A status as a table with its pace above and its latest failures below."""
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
    told = pace.told(status)
    head = f"{status.name}  {status.state}  {clock(pace.seconds)}" + (f"  {told}" if told else "")
    failures = [Text(f"  {text}", style="red") for text in new_failures(status, failed(status) - _KEPT_FAILURES)]
    return Group(Text(head, style="bold"), table, *failures)
