"""Kind ``quantize``: a model by one scheme, described and held against the model that it was made of."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from itertools import islice

import numpy as np

from deltann.errors import DataError, JobFailure
from deltann.kinds.quantize import QuantizeData, QuantizeParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.preprocess.shards import shard_inputs
from deltann.service import JobContext, Produced
from deltann_converter.convert import collected
from deltann_converter.failure import reason
from deltann_converter.quantize import quantizer


def quantize(params: QuantizeParams, context: JobContext) -> Produced:
    """Quantise role ``model``.

    Raises:
        JobFailure: ``convert_failed`` with the tool's own reason; its traceback is in the job's log.
    """
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    import torchvision  # noqa: F401  (has to come before TensorFlow, which a scheme may import)
    from deltann_engines.describe import describe
    from deltann_engines.parity import parity

    info = params.info or ModelInfo.model_validate(context.inputs["model"].data["info"])
    source, scheme = context.fetch("model"), quantizer(params.scheme)
    began, stage = time.monotonic(), "quantize"
    try:
        with collected() as lines:
            made = scheme.quantize(source, info, context.workdir, lambda model: _inputs(params, model, context))
        seconds, stage = time.monotonic() - began, "describe"
        found = describe(
            made, "onnx" if made.suffix == ".onnx" else "tflite",
            output=info.output_kind, classes=info.classes, class_offset=info.class_offset,
        )  # fmt: skip
        stage = "parity"
        checked = parity(source, info, made, found, params.parity_inputs, params.seed)
    except JobFailure:
        raise
    except Exception as error:
        traceback.print_exception(error)
        said = f"{params.scheme} could not quantise the model: {type(error).__name__}: {reason(error)}."
        raise JobFailure(Outcome.CONVERT_FAILED, stage, said) from error
    data = QuantizeData(
        info=found,
        scheme=params.scheme,
        version=", ".join(f"{name} {version(name)}" for name in scheme.distributions),
        seconds=seconds,
        warnings=lines,
        size_before=info.size_bytes,
        size_after=found.size_bytes,
        calibrated_on=params.inputs,
        parity=checked,
    )
    return Produced(artifacts={"model": context.put_weights(made)}, data=data)


def _inputs(params: QuantizeParams, model: ModelInfo, context: JobContext) -> Sequence[np.ndarray]:
    """The calibration set as the model takes it.

    Raises:
        JobFailure: where there is none, or an input cannot be prepared or is no finite number.
    """
    if params.recipe is None or not params.inputs:
        said = f"{params.scheme} needs a calibration set, and was given none: name inputs that the model will meet."
        raise JobFailure(Outcome.CONVERT_FAILED, "calibrate", said)
    every = shard_inputs(context.fetch("calibration"), params.data_kind, params.recipe, model.input)
    try:
        inputs = list(islice(every, params.inputs))
    except (DataError, ValueError) as error:
        raise JobFailure(
            Outcome.CONVERT_FAILED, "calibrate", f"an input of the calibration set could not be prepared: {error}"
        ) from error
    bad = sum(not np.isfinite(x).all() for x in inputs)
    if bad:
        said = f"{bad} of the {len(inputs)} inputs of the calibration set hold NaN or Inf, which have no range."
        raise JobFailure(Outcome.CONVERT_FAILED, "calibrate", said)
    return inputs
