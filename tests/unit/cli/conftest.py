from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deltann.cli.main import app

Command = Callable[..., Result]


@pytest.fixture
def deltann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line in an empty folder with a home of its own."""
    for name in ("DELTANN_GATEWAY", "DELTANN_STORE", "DELTANN_REDIS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DELTANN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke
