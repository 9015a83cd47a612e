"""``deltann-gateway``: the gRPC front door, the dispatcher beside it, and the depths of the queues in its log."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from deltann.dispatcher.dispatcher import Dispatcher
from deltann.errors import DeltannError, InputError, WorkError
from deltann.queue import connect
from deltann.queue.connection import explained
from deltann.store import open_store
from deltann.sweep import LocalBackend
from deltann_gateway.metrics import log_queues
from deltann_gateway.server import Server

LOOPBACK = "127.0.0.1:50051"
LOOPBACK_REDIS = "redis://127.0.0.1:6379/0"
MAX_ARTIFACT_MB = 4096
METRICS_S = 30.0
log = logging.getLogger(__name__)


def serve(
    listen: str = LOOPBACK,
    *,
    redis_url: str,
    store_url: str,
    max_artifact_mb: int = MAX_ARTIFACT_MB,
    dispatch: bool = True,
    metrics_s: float = METRICS_S,
    ready: Callable[[int], None] = lambda port: None,
    stop: threading.Event | None = None,
) -> None:
    """Serve until SIGTERM, SIGINT or ``stop``.

    Args:
        listen: ``HOST:PORT``; port 0 takes a free one.
        redis_url: of the queue.
        store_url: of the artifact store.
        max_artifact_mb: largest upload, 10^6 bytes.
        dispatch: whether to run a dispatcher too; one of several is active.
        metrics_s: seconds between two lines about the queues.
        ready: called with the port once calls are answered.
        stop: ends the server from another thread, where there are no signals.

    Raises:
        QueueError: if Redis is not there.
        StoreError: if the store is not there.
        StackError: if the address cannot be had.
    """
    store = open_store(store_url)
    store.exists("ready")
    with explained(redis_url):
        connect(redis_url).ping()
    ended = stop or threading.Event()
    threads = [threading.Thread(target=log_queues, args=(redis_url, ended, metrics_s), name="metrics", daemon=True)]
    if dispatch:
        dispatcher = Dispatcher(store, redis_url)
        threads.append(threading.Thread(target=dispatcher.run, args=(ended,), name="dispatcher", daemon=True))
    for thread in threads:
        thread.start()
    server = Server(LocalBackend(store, redis_url), store, redis_url, listen, max_artifact_mb * 1_000_000)
    try:
        asyncio.run(_until(ended, server, ready))
    finally:
        ended.set()
        for thread in threads:
            thread.join(timeout=5)


async def _until(ended: threading.Event, server: Server, ready: Callable[[int], None]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)

    async def listen() -> None:
        while not ended.is_set() and not stop.is_set():
            await asyncio.sleep(0.2)
        stop.set()

    waiting = asyncio.create_task(listen())
    try:
        await server.serve(stop, ready)
    finally:
        stop.set()
        await waiting


def check(address: str) -> None:
    """Ask a gateway whether it serves.

    Raises:
        WorkError: if it does not.
    """
    with grpc.insecure_channel(address) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=3)
        except grpc.RpcError as error:
            raise WorkError(f"No gateway answers at {address} ({error.code().name}).") from error
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        raise WorkError(f"The gateway at {address} does not serve at the moment.")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="deltann-gateway", description=__doc__)
    parser.add_argument("--listen", default=os.environ.get("DELTANN_LISTEN", LOOPBACK), metavar="HOST:PORT")
    parser.add_argument("--redis", default=os.environ.get("DELTANN_REDIS", LOOPBACK_REDIS), metavar="URL")
    parser.add_argument("--store", default=os.environ.get("DELTANN_STORE"), metavar="URL")
    parser.add_argument("--max-artifact-mb", type=int, default=MAX_ARTIFACT_MB, help="largest upload")
    parser.add_argument("--no-dispatcher", action="store_true", help="only answer calls")
    parser.add_argument("--metrics-s", type=float, default=METRICS_S, help="seconds between two lines about the queues")
    parser.add_argument("--check", metavar="HOST:PORT", help="only ask the gateway there whether it serves")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        if options.check:
            check(options.check)
            return
        if not options.store:
            raise InputError("Name the artifact store: --store URL, or DELTANN_STORE.")
        serve(
            options.listen,
            redis_url=options.redis,
            store_url=options.store,
            max_artifact_mb=options.max_artifact_mb,
            dispatch=not options.no_dispatcher,
            metrics_s=options.metrics_s,
        )
    except DeltannError as error:
        parser.exit(error.exit_code, f"Error: {error}\n")


if __name__ == "__main__":
    main()
