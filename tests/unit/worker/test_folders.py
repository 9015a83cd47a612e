from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from deltann.store import LocalStore
from deltann.store.layout import lost_key
from deltann.worker.folders import KEPT_LOG, Home, clear_work, tail, work_folder

DIES = """
import os, sys
from pathlib import Path
from deltann.worker.folders import Home
home = Home(Path(sys.argv[1]))
log = home.path / "child-0.log"
log.write_text("the last words")
workdir = home.begin("s", 7, log)
if sys.argv[2] == "idle":
    home.end(workdir)
os._exit(9)
"""


def dies(cache: Path, how: str) -> Path:
    subprocess.run([sys.executable, "-c", DIES, str(cache), how], check=False)
    (left,) = work_folder(cache).glob("*-*")
    return left


def test_the_folder_of_a_dead_worker_goes_and_its_jobs_log_is_kept(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store")
    left = dies(tmp_path / "cache", "busy")
    clear_work(tmp_path / "cache", store)
    assert not left.exists()
    assert store.get(lost_key("s", 7)) == b"the last words"


def test_an_idle_worker_leaves_no_log(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store")
    left = dies(tmp_path / "cache", "idle")
    clear_work(tmp_path / "cache", store)
    assert not left.exists()
    assert list(store.list("")) == []


def test_the_folder_of_a_dead_worker_whose_process_id_lives_on_goes_too(tmp_path: Path) -> None:
    """As in a container, where every worker is process 1."""
    left = dies(tmp_path / "cache", "busy")
    left = left.rename(left.with_name(f"{os.getpid()}-abc"))
    clear_work(tmp_path / "cache")
    assert not left.exists()


def test_the_folder_of_a_living_worker_stays(tmp_path: Path) -> None:
    home = Home(tmp_path)
    fresh = work_folder(tmp_path) / f"{os.getpid()}-new"
    fresh.mkdir()
    clear_work(tmp_path)
    assert home.path.exists()
    assert fresh.exists(), "one that is being made has no lock yet"
    home.close()
    assert not home.path.exists()


def test_a_job_gets_a_folder_of_its_own_and_leaves_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    log = home.path / "child-0.log"
    first = Path(home.begin("a-long-name/resolve", 123, log))
    (first / "deep").mkdir()
    (first / "deep" / "file").write_text("left behind")
    home.end(str(first))
    second = Path(home.begin("s", 7, log))
    assert second != first
    assert list(second.iterdir()) == []
    assert (home.path / "job").read_text() == "s\n7\nchild-0.log"
    home.end(str(second))
    assert sorted(path.name for path in home.path.iterdir()) == ["job", "lock"]
    home.close()


def test_the_end_of_a_log_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * KEPT_LOG + b"end")
    assert len(tail(log)) == KEPT_LOG
    assert tail(log).endswith(b"end")
