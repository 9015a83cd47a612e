"""Keeps a folder of local copies within bounds: what was used longest ago goes first."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

KEPT_S = 2 * 3600.0
"""What was used within this time stays: a job that runs may still read it."""


def trim(cache: Path, limit_bytes: int, kept_s: float = KEPT_S) -> int:
    """Remove copies until the rest fits; the bytes that are left. Workers that share a cache may all do so.

    Args:
        cache: as given to :meth:`deltann.store.base.ArtifactStore.materialise`.
        limit_bytes: of all copies together; more stays where all of it was used a short while ago.
        kept_s: seconds since its last use for which a copy is not removed.
    """
    copies = sorted(_copies(cache))
    total = sum(size for _, size, _ in copies)
    for used, size, home in copies:
        if total <= limit_bytes or used > time.time() - kept_s:
            break
        doomed = home.with_name(f"old-{home.name}")
        try:
            home.rename(doomed)  # at once gone for others, who fetch it anew
        except OSError:
            continue  # another worker was first
        shutil.rmtree(doomed, ignore_errors=True)
        total -= size
    return total


def _copies(cache: Path) -> Iterator[tuple[float, int, Path]]:
    """When each copy was used last, its bytes and its folder."""
    for home in cache.glob("[0-9a-f][0-9a-f]/" + "[0-9a-f]" * 64):
        try:
            used = home.stat().st_mtime
            yield used, sum(path.stat().st_size for path in home.rglob("*") if path.is_file()), home
        except OSError:
            continue  # it went meanwhile
