"""Exported programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.model import Format, TensorSpec
from deltann_engines.anatomy import Anatomy, is_matrix
from deltann_engines.torch_engine import load_program


def _spec(node: Any) -> TensorSpec:
    value = node.meta["val"]
    shape = tuple(int(side) if isinstance(side, int) else None for side in value.shape)
    return TensorSpec(name=node.name, shape=shape, dtype=str(value.dtype).removeprefix("torch."))


def read(path: Path, fmt: Format) -> Anatomy:
    """Read a .pt2 file."""
    program = load_program(path)
    signature = program.graph_signature
    held = {**program.state_dict, **program.constants}
    names = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    nodes = list(program.graph.nodes)
    classifier = None
    for node in nodes:
        for used in node.all_input_nodes:
            tensor = held.get(names.get(used.name, ""))
            if tensor is not None and is_matrix(tensor.shape):
                classifier = tensor
    first = next(node for node in nodes if node.name in signature.user_inputs)
    result = next(node for node in nodes if node.name in signature.user_outputs)
    operators = [
        f"{node.target}{[arg for arg in node.args if isinstance(arg, int | float | list | tuple)]}"
        for node in nodes
        if node.op == "call_function"
    ]
    return Anatomy(
        input=_spec(first),
        output=_spec(result),
        operators=operators,
        classifier=None if classifier is None else classifier.detach().numpy(),
    )
