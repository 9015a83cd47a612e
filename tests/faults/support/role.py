"""One process of a fleet: ``role.py dispatcher|gateway|worker ARGUMENTS…``.

Worker and gateway are the real commands. A worker may be told to kill itself once, at a stage of its work, and the
gateway and the dispatcher plan from files (see :mod:`planner`).
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.pop(0)  # this folder: a test may put other modules of the same names before it
from planner import FilePlanner

STAGES = {
    "before the lease": ("deltann.worker.hold", "Hold", "take"),
    "after the lease": ("deltann.worker.task", "JobTask", "_settle"),
    "after the artifact": ("deltann.worker.settle", "Settler", "_result"),
    "after the result": ("deltann.worker.task", None, "write_done"),
    "before the report": ("deltann.worker.report", "Reporter", "settled"),
}
"""What a worker is about to do when it dies."""


def dies_before(what: Callable[..., Any], mark: Path) -> Callable[..., Any]:
    """``what``, before which the first process that comes to it is killed."""

    def call(*args: Any, **more: Any) -> Any:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return what(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    return call


def worker() -> None:
    stage = os.environ.pop("DELTANN_DIE_BEFORE", "")
    if stage:
        module, owner, name = STAGES[stage]
        place: Any = __import__(module, fromlist=["_"])
        place = getattr(place, owner) if owner else place
        setattr(place, name, dies_before(getattr(place, name), Path(os.environ["DELTANN_DIE_MARK"])))
    skew = float(os.environ.pop("DELTANN_CLOCK_AHEAD", "0"))
    if skew:
        import time

        true = time.time
        time.time = lambda: true() + skew
    from deltann.worker.command import main

    main()


def gateway() -> None:
    import deltann_gateway.main as gateway

    planner = FilePlanner(Path(os.environ["DELTANN_PLANS"]))
    gateway.LocalBackend = partial(gateway.LocalBackend, planner=planner)  # type: ignore[misc,assignment]
    gateway.Dispatcher = partial(gateway.Dispatcher, planner=planner)  # type: ignore[misc,assignment]
    gateway.main()


def dispatcher() -> None:
    from deltann.dispatcher.dispatcher import Dispatcher
    from deltann.store import open_store

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    redis_url, store_url = sys.argv[1:]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    Dispatcher(open_store(store_url), redis_url, FilePlanner(Path(os.environ["DELTANN_PLANS"]))).run(stop)


if __name__ == "__main__":
    faulthandler.register(signal.SIGRTMIN)  # whoever looks into a fleet that hangs sees where
    role = sys.argv.pop(1)
    {"worker": worker, "gateway": gateway, "dispatcher": dispatcher}[role]()
