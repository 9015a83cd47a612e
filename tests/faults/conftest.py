"""Fleets of real processes, what an undisturbed one gives, and the times that are measured."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "support"), str(HERE.parent / "integration" / "support"), str(HERE.parent / "integration")]

from disks import small_disk  # noqa: E402
from fleet import Fleet  # noqa: E402
from tables import Tables, graph, nothing_lost_or_doubled, tables  # noqa: E402

__all__ = ["small_disk"]

_MEASURED: list[tuple[str, float]] = []


@pytest.fixture
def measured() -> Callable[[str, float], None]:
    """Keeps a time for the table at the end of the run."""
    return lambda what, seconds: _MEASURED.append((what, seconds))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _MEASURED:
        terminalreporter.section("seconds measured")
        for what, seconds in _MEASURED:
            terminalreporter.line(f"{seconds:7.2f}  {what}")


@pytest.fixture
def new_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Fleet]]:
    """Makes a fleet, and ends it; no process may be left."""
    monkeypatch.setenv("DELTANN_RUNTIME_DIR", "")  # put back afterwards: the fleet sets its own
    made: list[Fleet] = []

    def make(store_url: str = "", tcp: tuple[str, int] | None = None) -> Fleet:
        made.append(Fleet(tmp_path / f"fleet-{len(made)}", store_url, tcp))
        return made[-1]

    yield make
    left = [fleet.close() for fleet in made]
    assert left == [[] for _ in made]


@pytest.fixture
def fleet(new_fleet: Callable[..., Fleet]) -> Fleet:
    """Redis with its file, and a dispatcher over a local store; no worker yet."""
    made = new_fleet()
    made.redis()
    made.dispatcher()
    return made


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """What the usual jobs give where nothing happens."""
    before = os.environ.get("DELTANN_RUNTIME_DIR")
    fleet = Fleet(tmp_path_factory.mktemp("undisturbed") / "fleet")
    try:
        fleet.redis()
        fleet.dispatcher()
        fleet.worker("one")
        fleet.worker("two")
        sid = fleet.submit("sweep", graph(fleet.trace))
        found = tables(fleet, sid)
        nothing_lost_or_doubled(fleet, sid)
    finally:
        left = fleet.close()
        os.environ.pop("DELTANN_RUNTIME_DIR")
        if before is not None:
            os.environ["DELTANN_RUNTIME_DIR"] = before
    assert left == []
    assert found.report["15"] == 128.0 + 128.0 / 1024
    assert found.jobs[16] == ("convert_failed", None, {})
    assert found.jobs[18][:2] == ("skipped", 16)
    return found
