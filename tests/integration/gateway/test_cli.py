"""``deltann sweep`` over a real gateway, as a process of its own, the way scripts call it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deltann.client import GatewayClient

from .conftest import Running

DELTANN = Path(sys.executable).with_name("deltann")
Deltann = Callable[..., subprocess.CompletedProcess[str]]

STUDY = """\
schema: deltann.study/1
name: {name}
models:
  - name: net
    natives: [{{source: efficientnet_lite0}}]
    preprocessing: [efficientnet_lite]
data: {{source: "foolbox:imagenet"}}
"""


def write(folder: Path, name: str) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(STUDY.format(name=name))
    return path


@pytest.fixture
def environment(running: Running, tmp_path: Path) -> dict[str, str]:
    return os.environ | {"DELTANN_GATEWAY": running.address, "DELTANN_HOME": str(tmp_path / "home"), "COLUMNS": ""}


@pytest.fixture
def deltann(environment: dict[str, str], tmp_path: Path) -> Deltann:
    def invoke(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [DELTANN, *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path, timeout=60
        )

    return invoke


def test_run_shows_progress_writes_the_report_and_sums_up(deltann: Deltann, tmp_path: Path) -> None:
    done = deltann("sweep", "run", write(tmp_path, "cli-run"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["3 results", "Report: deltann-report/cli-run/report.json"]
    assert json.loads((tmp_path / "deltann-report/cli-run/report.json").read_text())["2"] == 42.0
    assert "fail 0: convert_failed: The exporter does not know the operator." in done.stderr
    assert "cli-run done:" in done.stderr


def test_run_leaves_with_one_where_a_gate_is_broken(deltann: Deltann, tmp_path: Path) -> None:
    done = deltann("sweep", "run", write(tmp_path, "gate-cli"), "--out", "out", "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["gates_ok"] is False
    assert Path(found["report"]) == tmp_path / "out"
    assert deltann("sweep", "fetch", found["id"], "--out", "again").returncode == 1
    assert (tmp_path / "again/report.json").is_file()


def test_run_leaves_with_two_where_the_input_is_bad(deltann: Deltann, tmp_path: Path) -> None:
    done = deltann("sweep", "run", write(tmp_path, "bad-cli"))
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    assert "The exporter does not know the operator." in done.stderr


def test_submit_list_status_watch_and_fetch_name_the_same_sweep(deltann: Deltann, tmp_path: Path) -> None:
    sid = json.loads(deltann("sweep", "submit", write(tmp_path, "cli-steps"), "--json").stdout)["id"]
    changes = [json.loads(line) for line in deltann("sweep", "watch", sid, "--json").stdout.splitlines()]
    assert {change["id"] for change in changes} == {sid}
    seen = changes[-1]
    assert seen["state"] == "done"
    assert sid in [sweep["id"] for sweep in json.loads(deltann("sweep", "list", "--json").stdout)]
    assert json.loads(deltann("sweep", "status", sid[:-1], "--json").stdout) == seen
    assert "cli-steps done" in deltann("sweep", "status", sid).stdout
    assert deltann("sweep", "fetch", sid, "--out", "there").returncode == 0
    assert (tmp_path / "there/report.json").is_file()


def test_fetching_what_is_not_done_says_so_and_cancelling_stops_it(deltann: Deltann, tmp_path: Path) -> None:
    sid = deltann("sweep", "submit", write(tmp_path, "slow-cli")).stdout.strip()
    early = deltann("sweep", "fetch", sid)
    assert (early.returncode, "no report" in early.stderr) == (2, True)
    assert deltann("sweep", "cancel", sid).returncode == 0
    watched = deltann("sweep", "watch", sid)
    assert (watched.returncode, "was cancelled" in watched.stderr) == (3, True)


def test_ctrl_c_leaves_the_sweep_running_and_says_how_to_go_on(
    environment: dict[str, str], tmp_path: Path, running: Running
) -> None:
    command = [DELTANN, "sweep", "run", write(tmp_path, "slow-ctrl-c")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path)
    with GatewayClient(running.address) as client:
        deadline = time.monotonic() + 30
        while not (found := [s for s in client.list_sweeps() if s.name == "slow-ctrl-c"]):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
        assert process.returncode == 130
        assert f"deltann sweep cancel {found[0].id}" in stderr
        assert "Traceback" not in stderr
        assert not client.status(found[0].id).ended
        client.cancel(found[0].id)
