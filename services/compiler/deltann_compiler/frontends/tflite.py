"""TFLite flatbuffers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    with _mended():
        module = from_tflite(tflite.Model.GetRootAs(path.read_bytes(), 0))
    return _batch_of_one(module, info)


@contextmanager
def _mended() -> Iterator[None]:
    """Around a plain slip of TVM 0.27: its EXPAND_DIMS passes an argument too many and stops with a TypeError.

    Models that onnx2keras and the TFLite converter make hold this operator, and the slip says nothing about them.
    """
    from tvm.relax.frontend.tflite import tflite_frontend

    converter = tflite_frontend.OperatorConverter
    theirs = converter.convert_expand_dims

    def convert_expand_dims(self: Any, op: Any) -> Any:
        from tvm import relax

        data, axis = self.get_input_tensors(op)
        return relax.op.expand_dims(self.get_tensor_expr(data), int(self.get_tensor_value(axis).flat[0]))

    converter.convert_expand_dims = convert_expand_dims
    try:
        yield
    finally:
        converter.convert_expand_dims = theirs


def _batch_of_one(module: Any, info: ModelInfo) -> Any:
    """TFLite files state a batch of 1 in their shapes, even where their signature leaves it free."""
    shape = tuple(int(side) for side in module["main"].params[0].ty.shape)
    wanted = tuple(1 if side is None else side for side in info.input.shape)
    if shape != wanted:
        raise JobFailure(
            Outcome.COMPILE_FAILED, "import", f"the imported graph takes {shape}, the model is described with {wanted}"
        )
    return module
