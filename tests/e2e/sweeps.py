"""Running a whole sweep as a person does, through the command line, and reading what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("DELTANN_SHARED", REPOSITORY.parent / "shared"))


@dataclass(frozen=True)
class Swept:
    """A finished sweep: exit code, what was printed, the report and the folder it lies in."""

    exit_code: int
    printed: str
    report: dict[str, Any]
    folder: Path


def sweep(spec: Path, home: Path, out: Path) -> Swept:
    """``deltann sweep run`` with a home of its own; the report must be there unless the exit code is 2 or 3."""
    done = subprocess.run(
        [Path(sys.executable).with_name("deltann"), "sweep", "run", spec, "--home", home, "--out", out],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DELTANN_SHARED": str(SHARED)},
    )
    printed = done.stderr + done.stdout  # progress, then what the sweep found
    path = out / "report.json"
    assert path.is_file(), f"no report; exit code {done.returncode}:\n{printed}"
    return Swept(done.returncode, printed, json.loads(path.read_text()), out)
