"""What a worker is told of its OpenCL devices, by a program in place of the runtime's."""

import logging
from pathlib import Path

import pytest

from deltann.fleet import opencl


def installed(folder: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a package of that name, whose main program is given."""
    package = folder / "deltann_tvm_opencl"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(opencl, "version", lambda name: "0.1.0")


def test_they_are_named_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    installed(tmp_path, """print('[{"name": "Mali-G72"}, {"name": "pthread"}]')""", monkeypatch)
    assert opencl.opencl_devices() == ("Mali-G72", "pthread")


def test_without_the_runtime_there_are_none(monkeypatch: pytest.MonkeyPatch):
    def absent(name: str) -> str:
        raise opencl.PackageNotFoundError(name)

    monkeypatch.setattr(opencl, "version", absent)
    assert opencl.opencl_devices() == ()


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import sys; sys.exit('There is no OpenCL on this host.')", "There is no OpenCL on this host."),
        ("import os; os.abort()", f"exit code -{6}"),
    ],
)
def test_a_driver_that_fails_costs_the_devices_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, program: str, told: str
):
    installed(tmp_path, program, monkeypatch)
    with caplog.at_level(logging.WARNING):
        assert opencl.opencl_devices() == ()
    assert told in caplog.text


def test_a_driver_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    installed(tmp_path, "import time; time.sleep(60)", monkeypatch)
    monkeypatch.setattr(opencl, "_ANSWER_S", 0.5)
    with caplog.at_level(logging.WARNING):
        assert opencl.opencl_devices() == ()
    assert "do not answer within 0.5 s" in caplog.text
