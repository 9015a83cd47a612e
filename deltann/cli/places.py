"""Where a command puts what it makes: refused before the work if it cannot, replaced as a whole after."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from deltann.errors import InputError, WorkError

Made = Literal["file", "folder"]


def check_out(out: Path, force: bool, made: Made = "file") -> None:
    """Refuse a place that cannot be written to, or that has something else in it.

    Raises:
        InputError: in a paragraph that says why.
    """
    check_writable(out)
    if not os.path.lexists(out):
        return
    if not out.is_file() and not out.is_dir():
        raise InputError(f"{out} is neither a file nor a folder, so nothing can be kept there: name another --out.")
    there: Made = "folder" if out.is_dir() else "file"
    if there != made:
        raise InputError(f"{out} is a {there}, and a {made} is written: name another --out.")
    if there == "folder" and not _replaceable(out):
        raise InputError(f"{out} is a folder with other things in it, which are kept: name another --out.")
    if not force:
        raise InputError(f"{out} is there already: name another --out, or say --force to replace it.")


def check_writable(out: Path) -> None:
    """Refuse a place in a folder that neither is there nor can be made, or where this user may not write.

    Raises:
        InputError: in a paragraph that says why.
    """
    try:
        home = next(folder for folder in out.absolute().parents if os.path.lexists(folder))
        reason = None if home.is_dir() else f"{home} is no folder"
        if reason is None and not os.access(home, os.W_OK | os.X_OK):
            reason = f"this user may not write in {home}"
        with suppress(FileNotFoundError, NotADirectoryError):
            out.lstat()
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error)
    if reason is not None:
        raise InputError(f"{str(out)[:200]} cannot be written: {reason}. Name another --out.")


@contextmanager
def written(out: Path) -> Iterator[Path]:
    """A new place to write to, which takes the place of ``out`` once all is written.

    Raises:
        WorkError: if the system refuses.
    """
    out = out.resolve()
    with explained(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".deltann-") as folder:
            new = Path(folder, "new")
            yield new
            if out.is_dir():
                out.rename(Path(folder, "old"))
            new.replace(out)


@contextmanager
def explained(out: Path) -> Iterator[None]:
    """What the system refuses while a result is written, as one paragraph.

    Raises:
        WorkError: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise WorkError(
            f"Could not write {out}: {error.strerror or error}. What was computed is kept: free some space there or "
            "name another --out, and run the same command again."
        ) from error
    except shutil.Error as error:  # of a folder's copy: all that went wrong, in a list
        raise WorkError(
            f"Could not write {out}: {error.args[0][0][2]}. What was computed is kept: free some space there or "
            "name another --out, and run the same command again."
        ) from error


def _replaceable(folder: Path) -> bool:
    """Whether a folder is empty or what is written as one: a SavedModel."""
    return (folder / "saved_model.pb").is_file() or not any(folder.iterdir())
