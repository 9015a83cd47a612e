"""Versions of what is installed here: Python's distributions, npm's modules (``npm:NAME``), and ``chromium``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NPM = "npm:"
CHROMIUM = "chromium"
WEB = "DELTANN_WEB"
"""The variable that names the folder that ``tools/web.sh`` installed npm's modules into, where it is another."""


def modules() -> Path:
    """The folder of npm's modules: of the environment, where none is named."""
    return Path(os.environ.get(WEB) or Path(sys.prefix, "share", "deltann-web")) / "node_modules"


def find_chromium() -> str | None:
    """The browser's program; None where there is none on the PATH."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@cache
def installed(name: str) -> str:
    """The version of a distribution, of an npm module, or of the browser.

    Raises:
        PackageNotFoundError: where it is not installed.
    """
    if name.startswith(NPM):
        try:
            return str(json.loads((modules() / name.removeprefix(NPM) / "package.json").read_text())["version"])
        except OSError as error:
            raise PackageNotFoundError(name) from error
    if name == CHROMIUM:
        return _chromium()
    return version(name)


def _chromium() -> str:
    program = find_chromium()
    try:
        asked = subprocess.run([program or "", "--version"], capture_output=True, text=True, timeout=30, check=True)
        return next(word for word in asked.stdout.split() if word[0].isdigit())
    except (OSError, subprocess.SubprocessError, StopIteration) as error:
        raise PackageNotFoundError(CHROMIUM) from error
