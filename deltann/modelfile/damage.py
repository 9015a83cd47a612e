"""What a reader of one format raises, and how files are mapped for them."""

from __future__ import annotations

import mmap
from pathlib import Path


class Damaged(ValueError):  # noqa: N818  (a state of the file, not an error of the reader)
    """A file that is not what it begins as; the text completes "FILE is …"."""


class Refused(ValueError):  # noqa: N818
    """A whole file that is not read, with why and what to do, as whole sentences."""


def mapped(path: Path) -> mmap.mmap:
    """A file's bytes, read as they are touched."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
