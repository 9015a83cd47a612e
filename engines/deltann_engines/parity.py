"""Do two models answer alike? Seeded inputs, outputs of each side in its own engine, and their differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.align import align, dequantise, softmax
from deltann.kinds.convert import Parity
from deltann.model import ENGINE_OF, ModelInfo
from deltann.preprocess.apply import to_model_input
from deltann_engines.base import Session, load

_DEFAULT_SIDE = 224
_TOKENS = 100
_FLOOR = 1e-6


def seeded_inputs(info: ModelInfo, n: int, seed: int) -> np.ndarray:
    """The same n inputs for every layout and type of one input size.

    Images are smooth random fields in [−1, 1] (blurred noise at several scales, like the spectrum of photos), made as
    NHWC, then brought into the model's own layout and, for integer inputs, quantised (to pixels 0..255 where the model
    states no quantisation). Integer inputs that are no images are tokens in [0, 100).

    Returns:
        [n, …] in the layout and dtype of ``info.input``.
    """
    spec = info.input
    random = np.random.default_rng(seed)
    inner = [side if side is not None else _DEFAULT_SIDE for side in spec.shape[1:]]
    raw = np.issubdtype(np.dtype(spec.dtype), np.integer) and spec.quantisation is None
    if raw and spec.layout == "none":
        return random.integers(0, _TOKENS, (n, *inner)).astype(spec.dtype)
    if spec.layout == "none":
        values = random.uniform(-1, 1, (n, *inner)).astype(np.float32)
        return np.concatenate([to_model_input(value, spec) for value in values])
    channels, height, width = inner if spec.layout == "NCHW" else (inner[2], inner[0], inner[1])
    images = [_smooth(random, height, width, channels) for _ in range(n)]
    if raw:
        images = [np.round((image + 1) * 127.5) for image in images]
    return np.concatenate([to_model_input(image, spec) for image in images])


def _smooth(random: np.random.Generator, height: int, width: int, channels: int) -> np.ndarray:
    """One field [height, width, channels] float32 in [−1, 1]: noise on grids of 4 to 64 cells, coarser weighs more."""
    field = np.zeros((height, width, channels), np.float32)
    for cells in (4, 8, 16, 64):
        grid = random.standard_normal((cells + 1, cells + 1, channels)).astype(np.float32)
        field += _bilinear(grid, height, width) / np.float32(cells**0.5)
    field -= field.mean()
    scaled: np.ndarray = np.clip(field / (2 * field.std() + 1e-9), -1, 1).astype(np.float32)
    return scaled


def _bilinear(grid: np.ndarray, height: int, width: int) -> np.ndarray:
    cells = len(grid) - 1
    y, x = np.linspace(0, cells, height, dtype=np.float32), np.linspace(0, cells, width, dtype=np.float32)
    top, left = np.minimum(y.astype(int), cells - 1), np.minimum(x.astype(int), cells - 1)
    v, u = (y - top)[:, None, None], (x - left)[None, :, None]
    upper = grid[top][:, left] * (1 - u) + grid[top][:, left + 1] * u
    lower = grid[top + 1][:, left] * (1 - u) + grid[top + 1][:, left + 1] * u
    mixed: np.ndarray = upper * (1 - v) + lower * v
    return mixed


def outputs(session: Session, inputs: np.ndarray) -> np.ndarray:
    """float32 [n, C]: the outputs for each input, run one by one as batch of 1, dequantised, not aligned."""
    rows = [session.run(inputs[index : index + 1]).reshape(-1) for index in range(len(inputs))]
    return dequantise(np.stack(rows), session.info)


def compare(a: np.ndarray, b: np.ndarray) -> Parity:
    """How far b's outputs are from a's, as :class:`Parity` defines it; ``n`` counts the inputs sound on both sides.

    Args:
        a: the reference, float [n, C].
        b: float [n, C] in the same space.

    Raises:
        ValueError: if the two have other shapes.
    """
    if a.shape != b.shape:
        raise ValueError(f"outputs of shapes {a.shape} and {b.shape} cannot be compared")
    sound_a, sound_b = np.isfinite(a).all(axis=1), np.isfinite(b).all(axis=1)
    both, invalid = sound_a & sound_b, int((~sound_b).sum())
    if not both.any():
        return Parity(n=0, n_invalid=invalid, max_abs=None, max_rel=None, top1_agreement=None)
    left, right = a[both].astype(np.float64), b[both].astype(np.float64)
    difference = np.abs(left - right).max(axis=1)
    magnitude = np.maximum(np.abs(left).max(axis=1), _FLOOR)
    return Parity(
        n=int(both.sum()),
        n_invalid=invalid,
        max_abs=float(difference.max()),
        max_rel=float((difference / magnitude).max()),
        top1_agreement=float((left.argmax(axis=1) == right.argmax(axis=1)).mean()),
    )


def comparable(a: np.ndarray, info_a: ModelInfo, b: np.ndarray, info_b: ModelInfo) -> tuple[np.ndarray, np.ndarray]:
    """Both outputs without background classes and in one space: probabilities where either side gives them."""
    left, kind_a = align(
        a, info_a.model_copy(update={"output": info_a.output.model_copy(update={"quantisation": None})})
    )
    right, kind_b = align(
        b, info_b.model_copy(update={"output": info_b.output.model_copy(update={"quantisation": None})})
    )
    if {kind_a, kind_b} == {"logits", "probabilities"}:
        left = softmax(left) if kind_a == "logits" else left
        right = softmax(right) if kind_b == "logits" else right
    return left, right


def parity(
    path_a: Path, info_a: ModelInfo, path_b: Path, info_b: ModelInfo, n: int, seed: int, threads: int = 1
) -> Parity:
    """Run both models, each in its own engine, on the same seeded inputs and compare.

    Raises:
        ValueError: if their outputs have other class counts.
        Exception: whatever an engine raises.
    """
    answers = []
    for path, info in ((path_a, info_a), (path_b, info_b)):
        with load(ENGINE_OF[info.framework], path, info, threads) as session:
            answers.append(outputs(session, seeded_inputs(info, n, seed)))
    return compare(*comparable(answers[0], info_a, answers[1], info_b))
