"""What stands between the commands and the shell: every error is one paragraph on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import textwrap
import time
import traceback
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from deltann.cli.home import default_home
from deltann.errors import DeltannError

_TYPERS_OWN = (typer.Exit, typer.Abort, TyperException)
"""Typer turns these into exit codes itself: a wrong option is 2."""

INTERRUPTED = 130
"""What shells expect of a program that Ctrl-C ended."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what the person should know: what was kept, and how to go on."""


class GuardedGroup(TyperGroup):
    """The root command. It turns exceptions into exit codes, however deep the command they come from."""

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
        except BrokenPipeError:
            # The reader of our output is gone (`| head`): nothing is wrong, and nothing more can be said.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except Exception as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
                where = "The traceback is above."
            else:
                where = f"The traceback is in {_keep_traceback()}; --debug shows it here."
            say(f"Error: something in DeltaNN itself went wrong ({type(error).__name__}: {_one_line(error)}). {where}")
            raise typer.Exit(3) from None


def say(message: str) -> None:
    """One paragraph to stderr, whatever line breaks the message came with."""
    text = " ".join(message.split())
    width = int(os.environ.get("COLUMNS") or 0)
    print(textwrap.fill(text, width) if width and sys.stderr.isatty() else text, file=sys.stderr)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:200] + "…"


def _keep_traceback() -> Path | str:
    path = default_home() / "logs" / time.strftime("error-%Y%m%d-%H%M%S.log")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            print(time.strftime("%Y-%m-%dT%H:%M:%S%z"), sys.argv, file=file)
            traceback.print_exc(file=file)
    except OSError as error:
        return f"no file ({error})"
    return path
