"""``deltann worker``: one worker in the foreground, for a device of the lab or a container."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from deltann.errors import InputError, QueueError

LOOPBACK_REDIS = "redis://127.0.0.1:6379/0"


def worker(
    service: Annotated[str | None, typer.Argument(help="converter, compiler, executor or analyzer")] = None,
    pool: Annotated[str | None, typer.Option(help="Device pool that an executor belongs to")] = None,
    redis: Annotated[str, typer.Option(envvar="DELTANN_REDIS", help="The queue's Redis")] = LOOPBACK_REDIS,
    store: Annotated[str | None, typer.Option(envvar="DELTANN_STORE", help="The artifact store's URL")] = None,
    device: Annotated[str, typer.Option(help="What the device is called in results")] = "",
    threads: Annotated[int, typer.Option(min=1, help="Threads of jobs that do not say how many")] = 1,
    cache: Annotated[Path | None, typer.Option(help="Folder for local copies of artifacts")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only tell whether a worker of this host is at work")] = False,
) -> None:
    """Work on one queue, one job at a time, until SIGTERM (after the job in hand) or SIGQUIT (at once)."""
    if check:
        _check(redis)
        return
    if service is None:
        raise InputError("Name the service to work for: converter, compiler, executor or analyzer.")
    if store is None:
        raise InputError("Name the artifact store: --store URL, or DELTANN_STORE.")
    if service == "executor" and pool is None:
        raise InputError("An executor works for one pool of devices: name it, for example --pool cpu.")
    from deltann.worker.main import run

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    run(service, pool, redis_url=redis, store_url=store, cache=cache, device=device, threads=threads)


def _check(redis_url: str) -> None:
    from deltann.queue import connect, names
    from deltann.queue.connection import explained

    with explained(redis_url):
        found = next(connect(redis_url).scan_iter(f"{names.WORKERS}{socket.gethostname()}:*"), None)
    if found is None:
        raise QueueError(
            f"No worker of this host ({socket.gethostname()}, process {os.getpid()} asking) has registered within the "
            "last seconds. Its log says why; start one with `deltann worker SERVICE`."
        )
    typer.echo(found)
