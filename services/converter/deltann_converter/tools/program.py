"""Tools that are called as programs: their output goes into the job's log, their warnings into the step's record."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

_WARNING = re.compile(r"\bWARN(?:ING)?\b[\s:\-]*(.+)")
_NOISE = ("absl::InitializeLog", "unable to initialize logging")


def run(name: str, command: list[str], folder: Path) -> None:
    """Run a tool in a folder.

    Raises:
        RuntimeError: with the tool's last line, if it ends with anything but 0.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    print(done.stdout, done.stderr, file=sys.stderr)
    logger = logging.getLogger(name)
    for line in (*done.stdout.splitlines(), *done.stderr.splitlines()):
        found = _WARNING.search(line)
        if found is not None and not any(noise in line for noise in _NOISE):
            logger.warning("%s", found[1])
    if done.returncode != 0:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise RuntimeError(f"{name} ended with {done.returncode}: {lines[-1] if lines else 'no message'}")
