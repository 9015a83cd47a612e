from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from deltann.cli.guard import GuardedGroup, Interrupted
from deltann.errors import DataError, QueueError, StoreError

RAISES = {
    "bad": DataError("The folder photos\nis empty."),
    "queue": QueueError("Redis is not there."),
    "store": StoreError("The disk is full."),
    "bug": RuntimeError("unforeseen"),
    "ctrl-c": KeyboardInterrupt(),
    "ctrl-c-told": Interrupted("Stopped; run it again to go on."),
}


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setenv("DELTANN_HOME", str(tmp_path))
    app = typer.Typer(cls=GuardedGroup, pretty_exceptions_enable=False)
    nested = typer.Typer()

    @app.callback()
    def root(debug: bool = False) -> None: ...

    @nested.command()
    def fail(how: str) -> None:
        raise RAISES[how]

    @nested.command()
    def succeed() -> None:
        typer.echo("fine")

    app.add_typer(nested, name="group")
    return app


@pytest.mark.parametrize(("how", "code"), [("bad", 2), ("queue", 3), ("store", 3), ("bug", 3), ("ctrl-c", 130)])
def test_exit_code_follows_the_exception(app: typer.Typer, how: str, code: int) -> None:
    assert CliRunner().invoke(app, ["group", "fail", how]).exit_code == code


def test_success_is_zero(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["group", "succeed"])
    assert (done.exit_code, done.stdout) == (0, "fine\n")


def test_usage_error_is_two(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["group", "fail"]).exit_code == 2


@pytest.mark.parametrize("how", ["bad", "queue", "store", "bug"])
def test_error_is_one_paragraph_on_stderr(app: typer.Typer, how: str) -> None:
    done = CliRunner().invoke(app, ["group", "fail", how])
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_line_breaks_of_a_message_are_joined(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["group", "fail", "bad"]).stderr == "Error: The folder photos is empty.\n"


def test_bug_leaves_its_traceback_in_a_log(app: typer.Typer, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["group", "fail", "bug"])
    (log,) = (tmp_path / "logs").iterdir()
    assert str(log) in done.stderr
    assert "RuntimeError: unforeseen" in log.read_text()


def test_debug_shows_the_traceback(app: typer.Typer) -> None:
    assert "Traceback (most recent call last)" in CliRunner().invoke(app, ["--debug", "group", "fail", "bug"]).stderr


def test_interrupt_says_how_to_go_on(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["group", "fail", "ctrl-c-told"])
    assert done.stderr == "Stopped; run it again to go on.\n"
