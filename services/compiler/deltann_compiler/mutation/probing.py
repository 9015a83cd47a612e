"""Does a mutant ever answer otherwise than its original? Both run on a wide set of seeded inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from deltann_engines import parity

from deltann.kinds.mutate import Equivalence
from deltann.model import ModelInfo

Answer = Callable[[np.ndarray], np.ndarray]
PROBES = 64
_SCALES = (1.0, 0.01, 100.0)


def probes(info: ModelInfo, n: int, seed: int) -> Iterator[np.ndarray]:
    """n inputs, each a batch of 1: by turns images (or what the model takes), and white noise of three sizes.

    Inputs of integers are all as :func:`deltann_engines.parity.seeded_inputs` makes them.
    """
    random = np.random.default_rng(seed)
    for number in range(n):
        usual = parity.seeded_inputs(info, 1, seed + number)
        if number % 2 == 0 or not np.issubdtype(usual.dtype, np.floating):
            yield usual
            continue
        scale = _SCALES[number // 2 % len(_SCALES)]
        yield (scale * random.standard_normal(usual.shape)).astype(usual.dtype)


def compare(original: Answer, mutant: Answer, inputs: Iterable[np.ndarray], known: list[np.ndarray]) -> Equivalence:
    """Run both until an output differs in any bit; two NaN are equal.

    Args:
        original: gives the output for an input.
        mutant: the same of its mutant.
        inputs: to run.
        known: the original's answers to the first of them, which is added to.
    """
    number = 0
    for number, x in enumerate(inputs, 1):
        if number > len(known):
            known.append(original(x))
        if not np.array_equal(known[number - 1], mutant(x), equal_nan=True):
            return Equivalence(label="differs", probes=number)
    return Equivalence(label="equivalent?", probes=number)


def unoptimised(model: Any) -> Answer:
    """What gives the output of an ``onnx.ModelProto``, loaded when it is first asked."""
    loaded: list[Any] = []

    def answer(x: np.ndarray) -> np.ndarray:
        if not loaded:
            loaded.append(_session(model))
        found: np.ndarray = loaded[0].run(None, {loaded[0].get_inputs()[0].name: x})[0]
        return found

    return answer


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    # What the mutation did not touch is computed by the same kernels in the same order, so equal means equal.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
