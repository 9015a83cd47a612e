"""Who does the work: a gateway that is named, the stack that runs in this home, or one for as long as the command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deltann.client import GatewayClient
from deltann.embedded import EmbeddedStack, running_stack
from deltann.errors import StackError
from deltann.store import ArtifactStore, open_store
from deltann.store.layout import sweep_key
from deltann.sweep import LocalBackend, SweepBackend

_NOWHERE = "unix:///nonexistent/deltann.sock"


@dataclass(frozen=True)
class Work:
    """Who takes sweeps, and the store that their files are staged to."""

    backend: SweepBackend
    store: ArtifactStore


class Resting(LocalBackend):
    """A home's sweeps while no stack runs in it: they can be looked at, fetched and cancelled."""

    def __init__(self, store: ArtifactStore) -> None:
        super().__init__(store, _NOWHERE)
        self._resting = store

    def cancel(self, sid: str) -> None:
        """Note the cancellation: nobody has to be told."""
        if not self.status(sid).ended:
            self._resting.put_if_absent(sweep_key(sid, "cancelled"), b"{}")


@contextmanager
def working(home: Path, gateway: str | None, pools: Sequence[str] = ("cpu",)) -> Iterator[Work]:
    """Somebody who works: the embedded stack is started where neither a gateway is named nor a stack runs."""
    if gateway is not None or running_stack(home) is not None:
        with reading(home, gateway) as work:
            yield work
        return
    # What this command is to do comes first: another sweep that was left unfinished would compete with it.
    with EmbeddedStack(home, pools=pools, resumes=False) as stack:
        yield Work(stack.backend, stack.store)


@contextmanager
def reading(home: Path, gateway: str | None, *, running: bool = False) -> Iterator[Work]:
    """Somebody who knows of sweeps.

    Args:
        home: folder of the embedded stack.
        gateway: ``HOST:PORT``, asked instead of the home.
        running: whether work is to be taken too.

    Raises:
        StackError: if ``running`` and nobody would work.
    """
    if gateway is not None:
        with GatewayClient(gateway) as client:
            yield Work(client, client.store)
        return
    info = running_stack(home)
    if info is not None:
        store = open_store(info.store_url)
        yield Work(LocalBackend(store, info.redis_url), store)
        return
    if running:
        raise StackError(
            f"Nothing works in {home}: start a stack there with `deltann stack up`, name a gateway with --gateway "
            "HOST:PORT, or use `deltann sweep run`, which starts what it needs."
        )
    store = open_store(str(home / "store"))
    yield Work(Resting(store), store)
