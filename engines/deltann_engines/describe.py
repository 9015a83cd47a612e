"""A model file's description: what can be read off it, what running it shows, and what a person declared."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.digest import digest_bytes, digest_value
from deltann.errors import DeltannError, ModelError, first_line
from deltann.model import ENGINE_OF, Format, Layout, ModelInfo, OutputKind, TensorSpec
from deltann_engines import anatomy, parity
from deltann_engines.base import load

_CHANNELS = (1, 3, 4)
_BACKGROUND_CLASSES = 1001
"""ImageNet's 1,000 classes behind a background class 0, as the TensorFlow models of its time have it."""


def describe(
    path: Path,
    fmt: Format,
    *,
    input_layout: Layout | None = None,
    output: OutputKind | None = None,
    classes: int | None = None,
    class_offset: int | None = None,
) -> ModelInfo:
    """Describe a model file or folder. What is declared is believed; the rest is detected.

    The output kind is detected by running two seeded inputs: rows that are non-negative and sum to 1 are
    probabilities, other outputs [batch, classes] logits, anything else values.

    Raises:
        ModelError: if the file is missing, truncated or of another format.
    """
    try:
        parts = anatomy.read(path, fmt)
    except DeltannError:
        raise
    except Exception as error:
        raise ModelError(
            f"{path.name} cannot be read as a {fmt} model: {first_line(error).rstrip('.')}. "
            "It may be truncated or of another format: save it again, or declare its format."
        ) from error
    layout = input_layout or _layout(parts.input.shape)
    found = _classes(parts.output)
    info = ModelInfo(
        format=fmt,
        input=parts.input.model_copy(update={"layout": layout}),
        output=parts.output,
        output_kind=output or "values",
        classes=classes or found,
        class_offset=class_offset if class_offset is not None else int(found == _BACKGROUND_CLASSES),
        opset=parts.opset,
        size_bytes=_size(path),
        graph_fingerprint=digest_value(parts.operators),
        weights_fingerprint=_weights(parts.classifier),
    )
    if output is None:
        info = info.model_copy(update={"output_kind": _output_kind(path, info)})
    return info


def _layout(shape: tuple[int | None, ...]) -> Layout:
    if len(shape) != 4:
        return "none"
    if shape[1] in _CHANNELS and shape[3] not in _CHANNELS:
        return "NCHW"
    return "NHWC" if shape[3] in _CHANNELS else "none"


def _output_kind(path: Path, info: ModelInfo) -> OutputKind:
    if _classes(info.output) is None:
        return "values"
    quantisation = info.output.quantisation
    if quantisation is not None and quantisation.scale == 1 / 256:
        return "probabilities"  # TFLite's specification fixes this scale for a quantised softmax
    with load(ENGINE_OF[info.framework], path, info) as session:
        rows = parity.outputs(session, parity.seeded_inputs(info, 2, seed=0))
    sums_to_one = bool(np.all(np.abs(rows.sum(axis=1) - 1) < 1e-3))
    return "probabilities" if sums_to_one and bool(np.all(rows >= -1e-6)) else "logits"


def _classes(output: TensorSpec) -> int | None:
    """The number of classes of an output [batch, classes], give or take sides of 1; None for any other."""
    sides = [side for side in output.shape[1:] if side != 1]
    return sides[0] if len(sides) == 1 else None


def _weights(classifier: np.ndarray | None) -> str:
    if classifier is None:
        return ""
    return digest_bytes(np.sort(classifier.astype(np.float32), axis=None).tobytes())


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size
