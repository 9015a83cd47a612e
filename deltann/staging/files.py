"""What models and data sets have in common while they are looked for on this machine."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Protocol

from deltann.artifact import ArtifactRef
from deltann.errors import InputError

_LOOKED_AT = 1000
"""Names of a folder that are compared with a mistyped one at most."""


class Uploader(Protocol):
    """What takes files: a store, or a gateway's client."""

    def put_path(self, path: Path, name: str | None = None) -> ArtifactRef:
        """Store a file, or a folder packed as a tar."""


def is_there(path: Path) -> bool:
    """Whether a file or folder has that name.

    Raises:
        InputError: if the system does not say, or it is a device or a pipe.
    """
    try:
        there = path.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{str(path)[:200]} cannot be looked at ({reason}). Check its name and permissions."
        ) from error
    if there and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is neither a file nor a folder. Name one of these.")
    return there


def name_of(path: Path) -> str:
    """The name of a file or folder, also where it is written as ``.`` or ``..``."""
    return path.name if path.name not in ("", "..") else path.resolve().name or "root"


def meant(path: Path, known: Collection[str] = ()) -> str:
    """A question that names what there is in place of a path that is not there; empty where nothing is like it."""
    beside: list[str] = []
    with suppress(OSError):
        beside = [other.name for other in islice(path.parent.iterdir(), _LOOKED_AT)]
    whole = [name for name in sorted(beside) if name.startswith(f"{path.name}.")]
    close = whole or difflib.get_close_matches(path.name, sorted({*known, *beside}))
    return f"Did you mean {' or '.join(close[:3])}? " if close else ""
