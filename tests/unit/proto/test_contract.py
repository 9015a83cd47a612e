"""``buf breaking`` against the contract that landed: it passes as it is, and finds what would break a client."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUF = Path(sys.executable).with_name("buf")


def breaks(folder: Path) -> str:
    command = [BUF, "breaking", "--against", ROOT / "proto" / "landed.json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    shutil.copytree(ROOT / "proto" / "deltann", tmp_path / "proto" / "deltann")
    return tmp_path


def test_the_contract_goes_on_as_it_landed(contract: Path) -> None:
    assert breaks(contract) == ""


@pytest.mark.parametrize(
    ("file", "pattern", "instead"),
    [
        ("sweep", r"  string study = 1;\n", ""),
        ("sweep", r"string study = 1;", "string study = 12;"),
        ("sweep", r"string study = 1;", "bytes study = 1;"),
        ("sweep", r"  rpc CancelSweep.*\n", ""),
        ("artifact", r"  PACKING_TAR = 2;\n", ""),
        ("artifact", r"returns \(stream DownloadArtifactResponse\)", "returns (DownloadArtifactResponse)"),
    ],
)
def test_what_would_break_a_client_is_found(contract: Path, file: str, pattern: str, instead: str) -> None:
    path = contract / "proto" / "deltann" / "v1" / f"{file}.proto"
    text, number = re.subn(pattern, instead, path.read_text(), count=1)
    assert number == 1
    path.write_text(text)
    assert f"{file}.proto" in breaks(contract)


def test_an_addition_breaks_nothing(contract: Path) -> None:
    path = contract / "proto" / "deltann" / "v1" / "sweep.proto"
    path.write_text(
        path.read_text().replace("  string study = 1;\n", "  string study = 1;\n  string extra = 100;\n", 1)
    )
    assert breaks(contract) == ""
