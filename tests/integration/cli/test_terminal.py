"""The program as a shell sees it: closed and full streams, languages that cannot show a name, an end by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

DELTANN = str(Path(sys.executable).with_name("deltann"))
STUDY = """\
schema: deltann.study/1
name: small
models:
  - name: net
    natives: [{source: efficientnet_lite0}]
    preprocessing: [efficientnet_lite]
data: {source: "foolbox:imagenet"}
"""


def shell(tmp_path: Path, command: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run what a person types; ``deltann`` is the installed program."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env={
            "PATH": f"{Path(DELTANN).parent}:{os.environ['PATH']}",
            "DELTANN_HOME": str(tmp_path / "home"),
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            **env,
        },
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(STUDY)
    (tmp_path / "schön ☃.yaml").write_text(STUDY)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("deltann --help | true", 0),
        ("deltann spec schema | head -1", 0),
        ("deltann spec check small.yaml <&-", 0),
        ("deltann spec check small.yaml >&-", 0),
        ("deltann spec check small.yaml >&- 2>&-", 0),
        ("deltann spec check none.yaml 2>&-", 2),
        ("deltann spec check none.yaml 2>/dev/full", 2),
        ("deltann spec schema >/dev/full", 3),
        ("deltann --help >/dev/full", 3),
        ("deltann spec check 'schön ☃.yaml'", 0),
        ("deltann spec check $'caf\\xe9.yaml'", 2),
        ("cat small.yaml | deltann spec check /dev/stdin", 0),
        ("COLUMNS=wide deltann spec check none.yaml", 2),
        ("TERM=dumb deltann spec check none.yaml", 2),
        ("mkdir gone; cd gone; rmdir ../gone; deltann sweep list --home relative", 2),
    ],
)
def test_exit_code_and_at_most_one_paragraph(folder: Path, command: str, code: int) -> None:
    done = shell(folder, command)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Error:" not in done.stdout
    told = done.stderr.splitlines()
    assert len(told) == (0 if code == 0 or "2>" in command else 1)
    assert all(line.startswith("Error: ") for line in told)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_cannot_show_a_name_gets_something_of_it(folder: Path, encoding: str) -> None:
    done = shell(folder, "deltann spec check 'schön ☃.yaml'", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stdout.startswith("sch")) == (0, True)
    done = shell(folder, "deltann spec check 'schön ☃.none'", PYTHONIOENCODING=f"{encoding}:backslashreplace")
    assert (done.returncode, done.stderr.startswith("Error: The study sch")) == (2, True)


def test_the_help_can_be_printed_in_any_encoding(folder: Path) -> None:
    for command in ("deltann --help", "deltann convert --help"):
        assert "Usage" in shell(folder, command, PYTHONIOENCODING="ascii").stdout


def test_ctrl_c_in_a_conversion_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\n\ndef make():\n    time.sleep(60)\n")
    process = subprocess.Popen(
        [DELTANN, "convert", "slow:make", "--trust", "--to", "onnx", "--out", "made.onnx", "--home", "home"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while len(children) < 2 and time.monotonic() < deadline:
        children = psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err.splitlines()[-1]) == ("", "Stopped.")
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(children, timeout=10)
    assert len(children) >= 2
    assert alive == []
    assert list((tmp_path / "home/cache/work").iterdir()) == []
    assert not list(tmp_path.glob("*made*"))
