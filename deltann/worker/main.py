"""Runs one worker: one service (and pool), one queue, one job at a time."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

from deltann.errors import DeltannError, WorkError
from deltann.fleet.pools import admit, read_pools
from deltann.kinds.queues import POOL_QUEUE
from deltann.queue import TASK, connect, make_app
from deltann.queue.connection import explained
from deltann.service import Service, find_service
from deltann.store import open_store
from deltann.worker.children import Children
from deltann.worker.hostlock import HostLock
from deltann.worker.registration import Registration
from deltann.worker.settle import Settler, describe_host
from deltann.worker.task import JobTask
from deltann.worker.watch import Watch


def queue_of(service: Service, pool: str | None) -> str:
    """The queue that a worker listens on: ``exec.<pool>`` with a device pool, else the service's name."""
    return POOL_QUEUE + pool if pool else service.name


def run(
    service: str,
    pool: str | None = None,
    *,
    redis_url: str,
    store_url: str,
    cache: Path | None = None,
    device: str = "",
    threads: int = 1,
    idle_s: float = 60.0,
    pools: Path | None = None,
) -> None:
    """Work until told to stop: SIGTERM ends after the job in hand, SIGQUIT at once.

    Args:
        service: name of an installed service, or ``module:ATTRIBUTE``.
        pool: device pool, for services whose jobs are bound to a device.
        redis_url: of the queue.
        store_url: of the artifact store.
        cache: folder for verified local copies.
        device: what the device is called in results; the processor's name where it is not given.
        threads: of a child whose job does not say how many it wants.
        idle_s: after so long without a job, a warm child is let go.
        pools: the file that defines pools; this device has to be what it says of ``pool``.

    Raises:
        InputError: if this device does not fit its pool.
        QueueError: if Redis is not there.
        StoreError: if the store is not there.
        NotFoundError: if there is no such service.
    """
    found = find_service(service)
    queue = queue_of(found, pool)
    store = open_store(store_url)
    client = connect(redis_url)
    with explained(redis_url):
        client.ping()
    worker = describe_host(pool, device)
    registration = Registration(client, found, queue, worker)
    if pools is not None:
        admit(registration.record, read_pools(pools))
    home = cache or Path(tempfile.gettempdir(), f"deltann-cache-{os.getuid()}")
    app = make_app(redis_url)
    with Children(service, store.url, home, pool) as children:
        task = JobTask(client, store, Settler(found, store, children, HostLock(), worker, threads))

        @app.task(name=TASK)  # type: ignore[untyped-decorator]
        def settle(body: dict[str, Any]) -> None:
            task(body)

        watch = Watch(client, registration, task, children, idle_s)
        watch.start()
        worker_ready.connect(_die_on_sigquit)
        worker_shutting_down.connect(watch.drain)
        consumer = app.Worker(
            queues=[queue],
            hostname=f"{queue}.{os.getpid()}@{worker.host}",
            pool="threads",
            concurrency=1,
            loglevel="WARNING",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            quiet=True,
        )
        consumer.start()
        watch.end()
    if consumer.exitcode:
        raise WorkError(f"The worker of {queue} stopped with exit code {consumer.exitcode}; its log says why.")


def _die_on_sigquit(**_: object) -> None:
    """SIGQUIT ends this process at once; the reaper ends its child and the dispatcher sends the job again."""
    signal.signal(signal.SIGQUIT, lambda number, frame: os._exit(128 + number))


def main() -> None:
    """The command line of ``python -m deltann.worker``."""
    parser = argparse.ArgumentParser(prog="deltann.worker", description=__doc__)
    parser.add_argument("service", help="name of an installed service, or module:ATTRIBUTE")
    parser.add_argument("--pool")
    parser.add_argument(
        "--redis", dest="redis_url", default=os.environ.get("DELTANN_REDIS", "redis://127.0.0.1:6379/0")
    )
    parser.add_argument("--store", dest="store_url", default=os.environ.get("DELTANN_STORE"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--device", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pools", type=Path, help="file that defines the pools")
    parser.add_argument("--idle", dest="idle_s", type=float, default=60.0)
    options = vars(parser.parse_args())
    if not options["store_url"]:
        parser.error("name the store: --store URL, or DELTANN_STORE")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        run(options.pop("service"), options.pop("pool"), **options)
    except DeltannError as error:
        parser.exit(error.exit_code, f"{error}\n")
