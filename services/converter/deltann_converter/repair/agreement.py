"""A target's answers against the source's, over all inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.base import load
from deltann_engines.parity import comparable

from deltann.align import dequantise
from deltann.kinds.repair import Disagreement
from deltann.model import ENGINE_OF, ModelInfo

SOUND = 1e-5
"""Errors of outputs up to this are rounding: nothing is left to repair."""
_FLOOR = 1e-6
_LESS = 1e-3
"""An error has to fall by this share to count as smaller: a kernel in another order moves the last digits."""


@dataclass(frozen=True)
class Judged:
    """Errors of all inputs, infinite where there is no valid output, and those whose labels differ."""

    errors: np.ndarray
    differing: frozenset[int]

    @property
    def worst(self) -> list[int]:
        """Positions, those that differ first, then by error."""
        return sorted(range(len(self.errors)), key=lambda one: (one not in self.differing, -self.errors[one]))

    @property
    def error(self) -> float:
        """The mean over inputs."""
        return float(np.mean(self.errors))

    def better(self, other: Judged) -> bool:
        """Whether fewer differ, or as many by a smaller error, and none that did not differ there."""
        if not self.differing <= other.differing:
            return False
        return len(self.differing) < len(other.differing) or self.error < other.error * (1 - _LESS)

    def told(self) -> Disagreement:
        """As data."""
        error = self.error if np.isfinite(self.error) else None
        return Disagreement(n=len(self.errors), differing=tuple(sorted(self.differing)), error=error)


def answers(path: Path, info: ModelInfo, inputs: Sequence[np.ndarray]) -> np.ndarray:
    """float32 [n, C]: what a model says in its own engine, dequantised.

    Raises:
        Exception: whatever the engine raises.
    """
    with load(ENGINE_OF[info.framework], path, info) as session:
        return dequantise(np.stack([session.run(x).reshape(-1) for x in inputs]), info)


class Judge:
    """Holds targets against the source's answers, which are computed once."""

    def __init__(
        self, expected: np.ndarray, source: ModelInfo, target: ModelInfo, inputs: Sequence[np.ndarray]
    ) -> None:
        self._expected, self._source, self._target, self._inputs = expected, source, target, inputs

    def of(self, path: Path) -> Judged:
        """A target file; one that cannot be run is wrong on every input."""
        n = len(self._inputs)
        try:
            found = answers(path, self._target, self._inputs)
        except Exception:
            found = None
        if found is None or found.shape[0] != n:
            return Judged(np.full(n, np.inf), frozenset(range(n)))
        a, b = comparable(self._expected, self._source, found, self._target)
        if a.shape != b.shape:
            return Judged(np.full(n, np.inf), frozenset(range(n)))
        valid = np.isfinite(b).all(axis=1)
        errors = np.full(n, np.inf)
        far = np.abs(a[valid].astype(np.float64) - b[valid]).max(axis=1)
        errors[valid] = far / np.maximum(np.abs(a[valid]).max(axis=1), _FLOOR)
        same = valid & (a.argmax(axis=1) == np.where(valid[:, None], b, 0).argmax(axis=1))
        values = self._source.output_kind == "values"
        return Judged(errors, frozenset() if values and valid.all() else frozenset(np.flatnonzero(~same).tolist()))


def save(model: Any, path: Path) -> Path:
    """Write an ``onnx.ModelProto``."""
    import onnx

    onnx.save(model, path)
    return path
