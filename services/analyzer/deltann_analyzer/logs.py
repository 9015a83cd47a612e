"""The logs of a sweep's failures, laid into the report folder as text files."""

from __future__ import annotations

from pathlib import Path

from deltann.artifact import ArtifactRef
from deltann.errors import StoreError
from deltann.store.base import ArtifactStore

_EXCERPT = 6000


class Logs:
    """Copies each log that is asked for once, and gives back its path in the report folder.

    Args:
        store: where the logs are.
        folder: the report folder; logs go into ``logs/`` in it.
    """

    def __init__(self, store: ArtifactStore, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._paths: dict[str, str | None] = {}

    def path(self, ref: ArtifactRef | None) -> str | None:
        """The relative path of a log; None where there is none, or it is no longer in the store."""
        if ref is None:
            return None
        if ref.digest not in self._paths:
            self._paths[ref.digest] = self._copy(ref)
        return self._paths[ref.digest]

    def excerpt(self, path: str | None) -> str:
        """The end of a copied log, at most 6,000 characters."""
        if path is None:
            return ""
        text = (self._folder / path).read_text(encoding="utf-8", errors="replace")
        return text if len(text) <= _EXCERPT else f"… (the beginning is in {path})\n" + text[-_EXCERPT:]

    def _copy(self, ref: ArtifactRef) -> str | None:
        try:
            text = self._store.read(ref)
        except StoreError:
            return None
        path = Path("logs") / f"{ref.digest[:12]}.txt"
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / path).write_bytes(text)
        return path.as_posix()
