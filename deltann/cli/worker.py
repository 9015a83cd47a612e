"""``deltann worker``: one worker in the foreground, for a device of the lab or a container."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from deltann.cli.home import print_json
from deltann.errors import InputError, QueueError
from deltann.signing import MODULE_KEYS, SIGNING_KEY

LOOPBACK_REDIS = "redis://127.0.0.1:6379/0"


def worker(
    service: Annotated[str | None, typer.Argument(help="converter, compiler, executor or analyzer")] = None,
    pool: Annotated[str | None, typer.Option(help="Device pool that an executor belongs to")] = None,
    redis: Annotated[str, typer.Option(envvar="DELTANN_REDIS", help="The queue's Redis")] = LOOPBACK_REDIS,
    store: Annotated[str | None, typer.Option(envvar="DELTANN_STORE", help="The artifact store's URL")] = None,
    device: Annotated[str, typer.Option(help="What the device is called in results")] = "",
    threads: Annotated[int, typer.Option(min=1, help="Threads of jobs that do not say how many")] = 1,
    pools: Annotated[
        Path | None, typer.Option(help="File that defines the pools; the device has to fit its own")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder for local copies of artifacts")] = None,
    cache_gb: Annotated[float, typer.Option(min=0.1, help="GB that these may take")] = 20.0,
    rpc: Annotated[
        str | None,
        typer.Option(
            envvar="DELTANN_RPC", help="HOST:PORT of the TVM RPC server of a board without Python, which it drives"
        ),
    ] = None,
    signing_key: Annotated[
        Path | None, typer.Option(envvar=SIGNING_KEY, help="File of the private key that a compiler signs modules with")
    ] = None,
    module_keys: Annotated[
        Path | None,
        typer.Option(envvar=MODULE_KEYS, help="File of the compilers' public keys: nothing else is executed then"),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only tell whether a worker of this host is at work")] = False,
    json: Annotated[bool, typer.Option("--json", help="With --check: print one JSON document instead of text")] = False,
) -> None:
    """Work on one queue, one job at a time, until SIGTERM (after the job in hand) or SIGQUIT (at once)."""
    if check:
        found = _check(redis)
        print_json({"worker": found}) if json else typer.echo(found)
        return
    if json:
        raise InputError("--json goes with --check: a worker at work prints its log.")
    if service is None:
        raise InputError("Name the service to work for: converter, compiler, executor or analyzer.")
    if store is None:
        raise InputError("Name the artifact store: --store URL, or DELTANN_STORE.")
    if service == "executor" and pool is None:
        raise InputError("An executor works for one pool of devices: name it, for example --pool cpu.")
    from deltann.worker.main import run

    run(
        service,
        pool,
        redis_url=redis,
        store_url=store,
        cache=cache,
        cache_gb=cache_gb,
        device=device,
        threads=threads,
        pools=pools,
        rpc=rpc,
        signing_key=signing_key,
        module_keys=module_keys,
    )


def _check(redis_url: str) -> str:
    """The key of a worker of this host."""
    from deltann.queue import connect, names
    from deltann.queue.connection import explained

    with explained(redis_url):
        found = next(connect(redis_url).scan_iter(f"{names.WORKERS}{socket.gethostname()}:*"), None)
    if found is None:
        raise QueueError(
            f"No worker of this host ({socket.gethostname()}, process {os.getpid()} asking) has registered within the "
            "last seconds. Its log says why; start one with `deltann worker SERVICE`."
        )
    return str(found)
