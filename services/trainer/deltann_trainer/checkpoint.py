"""Checkpoints in the store: one per training, the last, found again by whoever takes the job up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deltann.base import Data
from deltann.digest import digest_file
from deltann.kinds.train import Epoch
from deltann.store import ArtifactStore
from deltann_trainer.learner import Learner

_WEIGHTS, _SLOTS = "weights/", "optimiser/"


class Mark(Data):
    """Where a checkpoint is, and how far the training was."""

    object: str
    digest: str
    curves: tuple[Epoch, ...]
    memory_peak_bytes: int


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one training.

    Args:
        store: where they lie.
        key: what says which training it is.
        folder: for files on their way.
    """

    store: ArtifactStore
    key: str
    folder: Path

    @property
    def _last(self) -> str:
        return f"checkpoints/{self.key}/last"

    def write(self, learner: Learner, curves: tuple[Epoch, ...], memory_peak_bytes: int) -> None:
        """Keep weights and optimiser after so many epochs, and forget the checkpoint before."""
        before = self._mark()
        path = self.folder / "checkpoint.npz"
        arrays = {f"{_WEIGHTS}{name}": value for name, value in learner.weights().items()}
        np.savez(path, **arrays, **{f"{_SLOTS}{name}": value for name, value in learner.slots().items()})  # type: ignore[arg-type]
        digest = digest_file(path)
        mark = Mark(
            object=f"checkpoints/{self.key}/{digest}",
            digest=digest,
            curves=curves,
            memory_peak_bytes=memory_peak_bytes,
        )
        self.store.upload(mark.object, path)
        self.store.put(self._last, mark.model_dump_json().encode())
        if before is not None and before.object != mark.object:
            self.store.delete(before.object)

    def resume(self, learner: Learner) -> Mark | None:
        """Lay the last checkpoint into a learner; None where there is none that is whole."""
        mark = self._mark()
        if mark is None:
            return None
        path = self.folder / "resumed.npz"
        with path.open("wb") as file:
            found = self.store.download(mark.object, file)
        if not found or digest_file(path) != mark.digest:
            return None
        with np.load(path, allow_pickle=False) as arrays:
            learner.load({name.removeprefix(_WEIGHTS): arrays[name] for name in arrays if name.startswith(_WEIGHTS)})
            learner.restore({name.removeprefix(_SLOTS): arrays[name] for name in arrays if name.startswith(_SLOTS)})
        return mark

    def clear(self) -> None:
        """The training is done: nobody will take it up again."""
        for name in list(self.store.list(f"checkpoints/{self.key}/")):
            self.store.delete(name)

    def _mark(self) -> Mark | None:
        data = self.store.get(self._last)
        return None if data is None else Mark.model_validate_json(data)
