"""TorchScript. A script does not state its shapes: the input is that of an image classifier unless it says more."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.model import Format, TensorSpec
from deltann_engines.anatomy import Anatomy, is_matrix

ASSUMED_INPUT = (1, 3, 224, 224)


def read(path: Path, fmt: Format) -> Anatomy:
    """Read a TorchScript file; the output's shape is found by running it once."""
    import torch

    module = torch.jit.load(path, map_location="cpu").eval()  # type: ignore[no-untyped-call]
    tensors = [tensor for tensor in module.state_dict().values() if is_matrix(tensor.shape)]
    with torch.inference_mode():
        output = module(torch.zeros(ASSUMED_INPUT))
    output = output[0] if isinstance(output, list | tuple) else output
    graph = module.inlined_graph
    return Anatomy(
        input=TensorSpec(name="x", shape=(None, *ASSUMED_INPUT[1:]), dtype="float32"),
        output=TensorSpec(name="output", shape=(None, *output.shape[1:]), dtype=str(np.dtype(output.numpy().dtype))),
        operators=[node.kind() for node in graph.nodes() if not node.kind().startswith("prim::")],
        classifier=tensors[-1].numpy() if tensors else None,
    )
