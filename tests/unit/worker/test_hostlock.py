"""The host lock: who may be inside together, and that nobody waits for ever."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deltann.worker.hostlock import HostLock, runtime_dir


def held(lock: HostLock, *, exclusive: bool, seconds: float = 0.1) -> bool:
    """Whether the lock can be had within so long."""
    end = time.monotonic() + seconds
    with lock.hold(exclusive=exclusive, given_up=lambda: time.monotonic() > end) as inside:
        return inside


def test_shared_holders_are_inside_together_and_keep_an_exclusive_one_out(tmp_path: Path) -> None:
    lock = HostLock(tmp_path)
    with lock.hold(exclusive=False) as inside:
        assert inside
        assert held(lock, exclusive=False)
        assert not held(lock, exclusive=True)
    assert held(lock, exclusive=True)


def test_an_exclusive_holder_keeps_everybody_out(tmp_path: Path) -> None:
    lock = HostLock(tmp_path)
    with lock.hold(exclusive=True):
        assert not held(lock, exclusive=False)
        assert not held(lock, exclusive=True)
    assert held(lock, exclusive=False)


def test_a_waiting_timing_lets_no_new_shared_job_pass(tmp_path: Path) -> None:
    lock, order = HostLock(tmp_path), list[str]()
    first = lock.hold(exclusive=False)
    first.__enter__()

    def enter(name: str, exclusive: bool) -> None:
        with lock.hold(exclusive=exclusive):
            order.append(name)

    timing = threading.Thread(target=enter, args=("timing", True))
    timing.start()
    time.sleep(0.1)
    late = threading.Thread(target=enter, args=("late", False))
    late.start()
    time.sleep(0.1)
    assert order == []
    first.__exit__(None, None, None)
    timing.join()
    late.join()
    assert order == ["timing", "late"]


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from deltann.worker.hostlock import HostLock\n"
        "with HostLock(Path(sys.argv[1])).hold(exclusive=True): print('in', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"in\n"
    assert not held(HostLock(tmp_path), exclusive=False)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert held(HostLock(tmp_path), exclusive=True)


def test_the_runtime_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTANN_RUNTIME_DIR", str(tmp_path / "run"))
    assert runtime_dir() == tmp_path / "run"
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
