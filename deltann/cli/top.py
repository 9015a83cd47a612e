"""``deltann top``: the fleet and its sweeps, live in a terminal."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.live import Live

from deltann.cli.fleet_picture import picture
from deltann.cli.home import Gateway, Home, Json, print_json, resolve_home
from deltann.cli.pace import Pace
from deltann.client import GatewayClient
from deltann.embedded import running_stack
from deltann.errors import StackError, WorkError
from deltann.fleet import FleetView, observe
from deltann.fleet.view import rate
from deltann.queue import connect
from deltann.queue.connection import explained
from deltann.store import open_store
from deltann.sweep import LocalBackend, SweepBackend, SweepStatus

_WINDOW = 15
"""Looks over which the rate is taken: half a minute at the usual interval."""
_SWEEPS = 5
Look = Callable[[], FleetView]


def top(
    home: Home = None,
    gateway: Gateway = None,
    every: Annotated[float, typer.Option(min=0.5, max=60, help="Seconds between two looks")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, print and end")] = False,
    json: Json = False,
) -> None:
    """Show queues, pools, workers, rates and running sweeps until Ctrl-C."""
    with _watching(resolve_home(home), gateway) as (look, backend):
        if json:
            print_json(look())
            return
        console, screen = Console(), Screen(look, backend)
        if once or not console.is_terminal:
            console.print(screen.show())
            return
        with Live(screen.show(console.height), console=console, screen=True, auto_refresh=False) as live:
            while True:
                time.sleep(every)
                live.update(screen.again(console.height), refresh=True)


class Screen:
    """What is on the screen: remembers earlier looks, for rates.

    Args:
        look: at the fleet.
        backend: of the sweeps.
    """

    def __init__(self, look: Look, backend: SweepBackend) -> None:
        self._look, self._backend = look, backend
        self._seen: deque[FleetView] = deque(maxlen=_WINDOW)
        self._paces: dict[str, Pace] = {}
        self._sweeps: list[SweepStatus] = []

    def show(self, height: int | None = None) -> RenderableType:
        """Look, and draw what is seen.

        Raises:
            WorkError: if nothing can be seen.
        """
        self._seen.append(self._look())
        self._sweeps = [status for status in self._backend.list_sweeps() if not status.ended][:_SWEEPS]
        for status in self._sweeps:
            self._paces.setdefault(status.id, Pace()).see(status)
        return self._draw(height)

    def again(self, height: int) -> RenderableType:
        """Look again; what cannot be reached for a while is said above what was seen last."""
        try:
            return self.show(height)
        except WorkError as error:
            return self._draw(height, str(error))

    def _draw(self, height: int | None, trouble: str = "") -> RenderableType:
        running = [(status, self._paces[status.id]) for status in self._sweeps]
        return picture(self._seen[-1], rate(self._seen[0], self._seen[-1]), running, height, trouble)


@contextmanager
def _watching(home: Path, gateway: str | None) -> Iterator[tuple[Look, SweepBackend]]:
    if gateway is not None:
        with GatewayClient(gateway) as client:
            yield client.fleet, client
        return
    info = running_stack(home)
    if info is None:
        raise StackError(
            f"Nothing runs in {home}: start a stack there with `deltann stack up` or `deltann sweep run`, or name a "
            "gateway with --gateway HOST:PORT."
        )
    redis = connect(info.redis_url)

    def look() -> FleetView:
        with explained(info.redis_url):
            return observe(redis)

    yield look, LocalBackend(open_store(info.store_url), info.redis_url)
