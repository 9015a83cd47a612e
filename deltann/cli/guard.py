"""What stands between the commands and the shell: every error is one paragraph on stderr and an exit code."""

from __future__ import annotations

import io
import os
import sys
import textwrap
import time
import traceback
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from deltann.cli.home import default_home
from deltann.errors import DeltannError, InputError, WorkError

_TYPERS_OWN = (typer.Exit, typer.Abort, TyperException)
"""Typer turns these into exit codes itself: a wrong option is 2."""

INTERRUPTED = 130
"""What shells expect of a program that Ctrl-C ended."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what the person should know: what was kept, and how to go on."""


class GuardedGroup(TyperGroup):
    """The root command. It turns exceptions into exit codes, however deep the command they come from."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the program and end it; what its terminal cannot show is escaped."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if any("\udc80" <= letter <= "\udcff" for letter in "".join(sys.argv[1:])):
            say(f"Error: {' '.join(sys.argv[1:])!r} holds a name that is not UTF-8. Rename the file or folder.")
            sys.exit(InputError.exit_code)
        try:
            done = super().main(*args, **extra | {"standalone_mode": False})
        except TyperException as error:
            if _is_help(error):
                typer.echo(error.format_message(), err=True)
                sys.exit(error.exit_code)
            context = getattr(error, "ctx", None)
            more = f" `{context.command_path} -h` shows what it takes." if context else ""
            told = error.format_message().replace("Value error, ", "").rstrip(".")
            say(f"Error: {told}.{more}")
            sys.exit(error.exit_code)
        except SystemExit as ending:
            if isinstance(ending.__context__, BrokenPipeError):  # while the help was printed
                _silence(sys.stdout)
                sys.exit(0)
            raise
        except OSError as error:
            _silence(sys.stdout)
            say(f"Error: the help could not be printed ({error.strerror or error}).")
            sys.exit(WorkError.exit_code)
        sys.exit(done if isinstance(done, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; see :mod:`deltann.errors` for the exit codes."""
        try:
            return super().invoke(ctx)
        except DeltannError as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
            say(f"Error: {error}")
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt as error:
            say(str(error) if isinstance(error, Interrupted) else "Stopped.")
            raise typer.Exit(INTERRUPTED) from None
        except _TYPERS_OWN:
            raise
        except BrokenPipeError:  # the reader of our output is gone (`| head`): nothing is wrong
            _silence(sys.stdout)
            raise typer.Exit(0) from None
        except OSError as error:
            _silence(sys.stdout)
            where = _traceback(ctx)
            what = f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
            say(f"Error: the system refused something that is needed ({what}). Repair that and run it again. {where}")
            raise typer.Exit(3) from None
        except Exception as error:
            where = _traceback(ctx)
            say(f"Error: something in DeltaNN itself went wrong ({type(error).__name__}: {_one_line(error)}). {where}")
            raise typer.Exit(3) from None


def _is_help(error: TyperException) -> bool:
    """Whether an error is the help of a group that was named without a command: Typer has no public class for it."""
    return type(error).__name__ == "NoArgsIsHelpError"


def _silence(stream: TextIO | None) -> None:
    """Drop what a stream that takes nothing more still holds, which would else fail again at the program's end."""
    if stream is not None:
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(message: str) -> None:
    """One paragraph to stderr, whatever line breaks the message came with; nothing where that is closed or full."""
    if sys.stderr is None:
        return
    text = " ".join(message.split())
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else 0
    try:
        print(textwrap.fill(text, width) if width and sys.stderr.isatty() else text, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:200] + "…"


def _traceback(ctx: Any) -> str:
    """Shows or keeps the traceback of the exception in hand, and says where."""
    if ctx.params.get("debug"):
        traceback.print_exc()
        return "The traceback is above."
    return f"The traceback is in {_keep_traceback()}; --debug shows it here."


def _keep_traceback() -> Path | str:
    try:
        path = default_home() / "logs" / time.strftime("error-%Y%m%d-%H%M%S.log")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            print(time.strftime("%Y-%m-%dT%H:%M:%S%z"), sys.argv, file=file)
            traceback.print_exc(file=file)
    except (OSError, DeltannError) as error:
        return f"no file ({error})"
    return path
