"""Does a mutant ever answer otherwise than its original? Both run, unoptimised, on a wide set of seeded inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from deltann_engines import parity

from deltann.kinds.mutate import Equivalence
from deltann.model import ModelInfo

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


def compare(original: Any, mutant: Any, info: ModelInfo, n: int, seed: int, known: list[Any]) -> Equivalence:
    """Run both until an output differs in any bit; two NaN are equal.

    Args:
        original: an ``onnx.ModelProto``.
        mutant: the same of its mutant.
        info: of the original.
        n: inputs, at most.
        seed: of these.
        known: the original's answers to the first of them, which is added to.
    """
    ours, theirs = _session(mutant), None
    for number, x in enumerate(probes(info, n, seed)):
        if number == len(known):
            theirs = theirs or _session(original)
            known.append(_answer(theirs, x))
        if not np.array_equal(known[number], _answer(ours, x), equal_nan=True):
            return Equivalence(label="differs", probes=number + 1)
    return Equivalence(label="equivalent?", probes=n)


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    # What the mutation did not touch is computed by the same kernels in the same order, so equal means equal.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _answer(session: Any, x: np.ndarray) -> np.ndarray:
    answer: np.ndarray = session.run(None, {session.get_inputs()[0].name: x})[0]
    return answer
