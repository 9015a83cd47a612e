"""Runs one worker: one service (and pool), one queue, one job at a time."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import celery.apps.worker
from celery.signals import setup_logging, worker_ready, worker_shutting_down

from deltann import logs, tracing
from deltann.errors import InputError, WorkError
from deltann.fleet.board import NAME, RPC, describe_board, read_address
from deltann.fleet.pools import admit, check_pool_name, read_pools
from deltann.kinds.queues import POOL_QUEUE
from deltann.queue import TASK, connect, make_app
from deltann.queue.connection import explained
from deltann.service import Service, find_service
from deltann.signing import MODULE_KEYS, SIGNING_KEY, Keys, read_keys
from deltann.store import open_store
from deltann.store.cache import trim
from deltann.worker.children import Children
from deltann.worker.folders import clear_work
from deltann.worker.hostlock import HostLock
from deltann.worker.registration import Registration
from deltann.worker.settle import Settler, describe_host
from deltann.worker.task import JobTask
from deltann.worker.watch import Watch

CACHE_GB = 20.0
_log = logging.getLogger(__name__)


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
    cache_gb: float = CACHE_GB,
    rpc: str | None = None,
    signing_key: Path | None = None,
    module_keys: Path | None = None,
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
        cache_gb: what the local copies may take, 10^9 bytes; those used longest ago are removed.
        rpc: ``HOST:PORT`` of the TVM RPC server of a board that this worker drives; then ``device`` is its name.
        signing_key: file of the private key that a compiler signs with; no other service reads it.
        module_keys: file of the compilers' public keys: nothing is executed then that none of them has signed.

    Raises:
        InputError: if the pool's name cannot be, this device does not fit it, a board has no name or no address, or a
            file holds no key.
        QueueError: if Redis is not there.
        StoreError: if the store is not there.
        NotFoundError: if there is no such service.
    """
    found = find_service(service)
    if pool is not None:
        check_pool_name(pool)
    if rpc:
        _name_board(found, rpc, device)
    logs.setup(found.name, pool, urls=(redis_url, store_url))
    tracing.setup(found.name, pool)
    keys = keys_of(found, signing_key, module_keys)
    setup_logging.connect(_keep_logging)
    celery.apps.worker.safe_say = lambda *_: None  # it would write lines of its own among those of the log
    queue = queue_of(found, pool)
    store = open_store(store_url)
    client = connect(redis_url)
    with explained(redis_url):
        client.ping()
    worker = describe_host(pool, device)
    registration = Registration(client, found, queue, worker, describe_board(device) if rpc else None)
    if pools is not None:
        admit(registration.record, read_pools(pools))
    home = cache or Path(tempfile.gettempdir(), f"deltann-cache-{os.getuid()}")
    app = make_app(redis_url)
    clear_work(home, store)
    with Children(service, store.url, home, pool, keys.trusted) as children:
        task = JobTask(client, store, Settler(found, store, children, HostLock(), worker, threads, keys))

        @app.task(name=TASK, bind=True)  # type: ignore[untyped-decorator]
        def settle(this: Any, body: dict[str, Any]) -> None:
            task(body, this.request.get("sent"), this.request.get(tracing.HEADER))

        watch = Watch(client, registration, task, children, idle_s, lambda: trim(home, int(cache_gb * 1e9)))
        watch.start()
        worker_ready.connect(lambda **_: _die_on_sigquit(task), weak=False)
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


def keys_of(service: Service, signing_key: Path | None, module_keys: Path | None) -> Keys:
    """The keys of a worker of that service; an executor without any is told so in its log.

    Raises:
        InputError: for a file that holds no key, and for a compiler that has others' keys and none to sign with.
    """
    signs = any(kind.signed for kind in service.kinds)
    if signs and module_keys is not None and signing_key is None:
        raise InputError(
            f"A {service.name} that is given --module-keys ({MODULE_KEYS}) needs a key to sign with as well, "
            f"--signing-key ({SIGNING_KEY}): else nothing that it makes is executed."
        )
    if service.runtimes and module_keys is None:
        _log.warning(
            "This %s was given no compilers' keys, so it executes whatever the store holds. Where others can write "
            "there, start it with --module-keys (%s).",
            service.name,
            MODULE_KEYS,
        )
    return read_keys(signing_key if signs else None, module_keys)


def _name_board(service: Service, rpc: str, device: str) -> None:
    """Have this process and its children know their board.

    Raises:
        InputError: if that is not told as it has to be.
    """
    if "tvm" not in service.runtimes:
        raise InputError(
            f"--rpc ({RPC}) is for an executor, which runs modules on a board; the {service.name} has none."
        )
    if not device:
        raise InputError(
            f"The board at {rpc} cannot say what it is: name it, for example --device 'Raspberry Pi 4'. "
            "Its results and timings are kept under that name."
        )
    os.environ.update({RPC: str(read_address(rpc)), NAME: device})


def _keep_logging(**_: object) -> None:
    """Celery leaves logging as it is where somebody listens to this."""


def _die_on_sigquit(task: JobTask) -> None:
    """SIGQUIT ends this process at once; the reaper ends its child and the dispatcher sends the job again."""

    def die(number: int, frame: FrameType | None) -> None:
        telling = threading.Thread(target=task.let_go, daemon=True)  # this thread may be in the middle of anything
        telling.start()
        telling.join(timeout=1)
        os._exit(128 + number)

    signal.signal(signal.SIGQUIT, die)
