"""``deltann stack``: Redis, workers, dispatcher and gateway on this machine, until they are told to go."""

from __future__ import annotations

import json as jsonlib
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from deltann import logs
from deltann.cli.home import Home, Json, print_json, resolve_home
from deltann.embedded import EmbeddedStack, running_stack, stop_stack
from deltann.embedded.supervise import Program, Supervisor
from deltann.errors import InputError, StackError
from deltann.fleet.pools import check_pool_name

app = typer.Typer(help="Everything on this machine: up, status, down.", no_args_is_help=True)

LOOPBACK = "127.0.0.1:50051"
_STARTS_S = 60.0


@app.command()
def up(
    home: Home = None,
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where the gateway listens")] = LOOPBACK,
    pool: Annotated[list[str] | None, typer.Option(help="A pool to start an executor for; may be repeated")] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Leave it running and return once it serves")] = False,
    json: Json = False,
) -> None:
    """Start the stack; it runs until Ctrl-C or `deltann stack down`."""
    place = resolve_home(home)
    pools = pool or ["cpu"]
    host, _, port = listen.rpartition(":")
    if not host or not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        raise InputError(f"--listen takes HOST:PORT with a port of its own, 1 to 65535, not {listen!r}.")
    for name in pools:
        check_pool_name(name)
    if detach:
        pid = _detach(place, listen, pools)
        _tell(place, listen, json, f" (process {pid});")
        return
    if _answers(listen):
        raise StackError(f"Something listens on {listen} already: name another address with --listen.")
    logs.setup("stack")
    with EmbeddedStack(place, pools=pools) as stack:
        supervisor = Supervisor()
        try:
            supervisor.start(Program("Gateway", _gateway(listen, stack), place / "logs" / "gateway.log"))
            _await_gateway(listen, stack, supervisor)
            state = _state_file(place)
            state.write_text(jsonlib.dumps({"gateway": listen}))
            _tell(place, listen, json, "; Ctrl-C or")
            while True:
                _check(stack, supervisor)
                time.sleep(0.5)
        except KeyboardInterrupt:
            typer.echo("The stack is going down; what was computed is kept.", err=True)
        finally:
            supervisor.close()
            _state_file(place).unlink(missing_ok=True)


@app.command()
def status(home: Home = None, json: Json = False) -> None:
    """Say what runs; exit code 3 where nothing does."""
    place = resolve_home(home)
    found = describe(place)
    if json:
        print_json(found)
    elif found["running"]:
        typer.echo(f"A stack runs in {place} (process {found['pid']}), gateway {found['gateway'] or 'none'}")
    if not found["running"]:
        raise StackError(f"No stack runs in {place}; `deltann stack up` starts one.")


@app.command()
def down(home: Home = None, json: Json = False) -> None:
    """Stop the stack. Nothing computed is lost, and unfinished sweeps go on when it is up again."""
    place = resolve_home(home)
    stopped = stop_stack(place)
    if json:
        print_json({"home": place, "stopped": stopped})
    else:
        typer.echo("The stack is down." if stopped else f"No stack runs in {place}.")


def describe(home: Path) -> dict[str, Any]:
    """What is known of the stack that runs in a home."""
    info = running_stack(home)
    if info is None:
        return {"running": False, "home": str(home)}
    try:
        gateway = jsonlib.loads(_state_file(home).read_text())["gateway"]
    except (OSError, ValueError, KeyError):
        gateway = None
    return {"running": True, "home": str(home), "gateway": gateway, **info.model_dump()}


def _gateway(listen: str, stack: EmbeddedStack) -> list[str]:
    # The stack has a dispatcher already, in this process.
    command = [sys.executable, "-m", "deltann_gateway.main", "--no-dispatcher", "--listen", listen]
    return [*command, "--redis", stack.redis_url, "--store", stack.store.url]


def _await_gateway(listen: str, stack: EmbeddedStack, supervisor: Supervisor) -> None:
    deadline = time.monotonic() + _STARTS_S
    while not _answers(listen):
        _check(stack, supervisor)
        if time.monotonic() > deadline:
            raise StackError(
                f"The gateway did not answer at {listen} within {_STARTS_S:.0f} s; its log is "
                f"{stack.home / 'logs' / 'gateway.log'}."
            )


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:  # no more than a connection: the gateway may ask for TLS
        socket.create_connection((host.strip("[]"), int(port)), timeout=0.5).close()
    except OSError:
        return False
    return True


def _check(stack: EmbeddedStack, supervisor: Supervisor) -> None:
    stack.check()
    if supervisor.failure is not None:
        raise supervisor.failure


def _detach(home: Path, listen: str, pools: list[str]) -> int:
    if running_stack(home) is not None:
        raise StackError(f"A stack runs in {home} already; `deltann stack down` stops it.")
    log = home / "logs" / "stack.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "deltann.cli.main", "stack", "up", "--home", str(home), "--listen", listen]
    command += [part for pool in pools for part in ("--pool", pool)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    deadline = time.monotonic() + _STARTS_S
    while describe(home).get("gateway") is None:
        if process.poll() is not None:
            raise StackError(f"The stack did not start: {log.read_text(errors='replace').strip()[-1000:]}")
        if time.monotonic() > deadline:
            process.terminate()
            raise StackError(f"The stack did not start within {_STARTS_S:.0f} s; its log is {log}.")
        time.sleep(0.1)
    return process.pid


def _tell(home: Path, listen: str, json: bool, how: str) -> None:
    if json:
        print_json(describe(home))
    else:
        typer.echo(f"Serving on {listen}{how} `deltann stack down --home {home}` ends it.")


def _state_file(home: Path) -> Path:
    return home / "gateway.json"
