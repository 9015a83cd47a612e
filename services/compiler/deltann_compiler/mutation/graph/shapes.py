"""Shapes that ONNX's inference leaves open, because the graph computes them: seen by running it once."""

from __future__ import annotations

from typing import Any

import numpy as np

Shape = tuple[int | None, ...]


def run_shapes(model: Any) -> dict[str, Shape]:
    """The shape of every tensor that a node gives, for a batch of 1; nothing where the graph does not run so.

    Free sides of the inputs are taken for 1, which is right of a batch.
    """
    import onnxruntime

    probe = type(model)()
    probe.CopyFrom(model)
    known = {value.name for value in probe.graph.output}
    names = [name for node in probe.graph.node for name in node.output if name and name not in known]
    probe.graph.output.extend(type(model.graph.output[0])(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(probe.SerializeToString(), options, providers=["CPUExecutionProvider"])
        answers = session.run(None, {one.name: _zeros(one) for one in session.get_inputs()})
    except Exception:
        return {}
    return {
        told.name: tuple(answer.shape)
        for told, answer in zip(session.get_outputs(), answers, strict=True)
        if isinstance(answer, np.ndarray)
    }


_TYPES = {"float": "float32", "double": "float64"}
"""Where ONNX Runtime's names of types are not NumPy's."""


def _zeros(value: Any) -> np.ndarray:
    kind = value.type.removeprefix("tensor(").removesuffix(")")
    shape = [side if isinstance(side, int) and side > 0 else 1 for side in value.shape]
    return np.zeros(shape, _TYPES.get(kind, kind))
