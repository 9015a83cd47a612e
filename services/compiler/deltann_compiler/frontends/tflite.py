"""TFLite flatbuffers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.errors import JobFailure
from deltann.model import ModelInfo
from deltann.outcome import Outcome


def load(path: Path, info: ModelInfo) -> Any:
    """Import a .tflite file.

    Raises:
        JobFailure: ``compile_failed`` for a quantised model, which this frontend does not read.
    """
    import tflite
    from tvm.relax.frontend.tflite import from_tflite

    if info.input.quantisation is not None or info.output.quantisation is not None:
        raise JobFailure(
            Outcome.COMPILE_FAILED,
            "import",
            "TVM's TFLite frontend reads float models only, and this one is quantised: convert the float model, or run "
            "this one in its own engine.",
        )
    module = from_tflite(tflite.Model.GetRootAs(path.read_bytes(), 0))
    return _batch_of_one(module, info)


def _batch_of_one(module: Any, info: ModelInfo) -> Any:
    """TFLite files state a batch of 1 in their shapes, even where their signature leaves it free."""
    shape = tuple(int(side) for side in module["main"].params[0].ty.shape)
    wanted = tuple(1 if side is None else side for side in info.input.shape)
    if shape != wanted:
        raise JobFailure(
            Outcome.COMPILE_FAILED, "import", f"the imported graph takes {shape}, the model is described with {wanted}"
        )
    return module
