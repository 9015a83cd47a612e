"""``deltann-gateway``: the gRPC front door, the dispatcher beside it, and the fleet's metrics for Prometheus."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from deltann import logs, tracing
from deltann.client.channel import connect as connect_gateway
from deltann.dispatcher.dispatcher import Dispatcher
from deltann.errors import DeltannError, InputError, WorkError
from deltann.fleet import read_pools
from deltann.queue import connect
from deltann.queue.connection import explained
from deltann.store import open_store
from deltann.sweep import LocalBackend
from deltann_gateway.door import Door, add_options, door_of
from deltann_gateway.metrics import serve_metrics
from deltann_gateway.server import Server
from deltann_gateway.tokens import new_token

LOOPBACK_REDIS = "redis://127.0.0.1:6379/0"
log = logging.getLogger(__name__)


def serve(
    door: Door,
    *,
    redis_url: str,
    store_url: str,
    dispatch: bool = True,
    metrics: str | None = None,
    pools: Path | None = None,
    ready: Callable[[int], None] = lambda port: None,
    stop: threading.Event | None = None,
) -> None:
    """Serve until SIGTERM, SIGINT or ``stop``.

    Args:
        door: where it listens, whom it lets in, and what.
        redis_url: of the queue.
        store_url: of the artifact store.
        dispatch: whether to run a dispatcher too; one of several is active.
        metrics: ``HOST:PORT`` of the metrics; none are served where it is not given.
        pools: the file that defines pools.
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
    defined = {} if pools is None else read_pools(pools)
    server = Server(LocalBackend(store, redis_url), store, redis_url, door, defined)
    with ExitStack() as stack:
        if metrics is not None:
            stack.callback(serve_metrics(metrics, redis_url, defined, store).shutdown)
        if dispatch:
            dispatcher = Dispatcher(store, redis_url)
            thread = threading.Thread(target=dispatcher.run, args=(ended,), name="dispatcher", daemon=True)
            thread.start()
            stack.callback(thread.join, timeout=5)
        stack.callback(ended.set)
        asyncio.run(_until(ended, server, ready))


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
    """Ask a gateway whether it serves, with TLS as of :class:`deltann.client.Credentials`.

    Raises:
        WorkError: if it does not.
    """
    with connect_gateway(address) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=3)
        except grpc.RpcError as error:
            raise WorkError(f"No gateway answers at {address} ({error.code().name}).") from error
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        raise WorkError(f"The gateway at {address} does not serve at the moment.")


def make_token(name: str, role: str, file: Path | None) -> None:
    """Make a token and print it, this once; its line goes to the file of tokens, or is printed too.

    Raises:
        InputError: if name or role cannot be, or the file cannot be written.
    """
    token, line = new_token(name, role)
    if file is None:
        print(f"Token, shown this once: {token}\nLine for the file of tokens: {line}")
        return
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w") as out:
            out.write(f"{line}\n")
    except OSError as error:
        raise InputError(f"The token was not made: {file} cannot be written ({error.strerror}).") from error
    print(token)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="deltann-gateway", description=__doc__)
    add_options(parser)
    parser.add_argument("--redis", default=os.environ.get("DELTANN_REDIS", LOOPBACK_REDIS), metavar="URL")
    parser.add_argument("--store", default=os.environ.get("DELTANN_STORE"), metavar="URL")
    parser.add_argument("--no-dispatcher", action="store_true", help="only answer calls")
    parser.add_argument("--metrics", default=os.environ.get("DELTANN_METRICS"), metavar="HOST:PORT")
    parser.add_argument("--pools", type=Path, help="file that defines the device pools")
    parser.add_argument("--check", metavar="HOST:PORT", help="only ask the gateway there whether it serves")
    token = parser.add_subparsers(dest="command", metavar="token").add_parser("token", help="make a token")
    token.add_argument("--name", required=True, help="whose it is")
    token.add_argument("--role", required=True, help="read, submit or admin; each may do what those before it may")
    token.add_argument("--file", type=Path, help="file of tokens to append its line to")
    options = parser.parse_args()
    try:
        logs.setup("gateway", urls=(options.redis, options.store or ""))
        if options.command == "token":
            make_token(options.name, options.role, options.file)
            return
        if options.check:
            check(options.check)
            return
        tracing.setup("gateway")
        if not options.store:
            raise InputError("Name the artifact store: --store URL, or DELTANN_STORE.")
        serve(
            door_of(options),
            redis_url=options.redis,
            store_url=options.store,
            dispatch=not options.no_dispatcher,
            metrics=options.metrics,
            pools=options.pools,
        )
    except DeltannError as error:
        parser.exit(error.exit_code, f"Error: {error}\n")


if __name__ == "__main__":
    main()
