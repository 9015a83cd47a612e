"""Conversions that are sound come out as sound: no suspects, no edits."""

from itertools import product

import onnx
import onnxruntime
import pytest
import torch
from deltann_converter.repair.localising import localise
from deltann_engines.graphs.onnx import OnnxGraph
from onnx import version_converter

from bench.faults.nets import NETS


def optimised(level):
    def convert(model, folder):
        """What ONNX Runtime makes of it: batch norms folded, nodes fused, constants folded."""
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.optimized_model_filepath = str(folder / "optimised.onnx")
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return onnx.load(folder / "optimised.onnx")

    return convert


def later_opset(model, folder):
    return version_converter.convert_version(model, 21)


def through_torch(model, folder):
    """As the converter does it: onnx2torch, and PyTorch's own export."""
    from onnx2torch import convert

    shape = [side.dim_value for side in model.graph.input[0].type.tensor_type.shape.dim]
    torch.onnx.export(
        convert(model).eval(), (torch.zeros(shape),), folder / "again.onnx", dynamo=False, opset_version=17
    )
    return onnx.load(folder / "again.onnx")


WAYS = {
    "basic": optimised(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC),
    "extended": optimised(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED),
    "opset 21": later_opset,
    "through PyTorch": through_torch,
}


NOT_CONVERTED = {("branches", "through PyTorch")}
"""onnx2torch has no GlobalMaxPool."""


@pytest.mark.parametrize(("net", "way"), [pair for pair in product(NETS, WAYS) if pair not in NOT_CONVERTED])
@pytest.mark.parametrize("seed", [0, 5])
def test_a_sound_conversion_has_no_suspects(net, way, seed, faulty, tmp_path):
    case = faulty(net)
    source = NETS[net](seed)
    target = WAYS[way](source, tmp_path)
    assert len(target.graph.node) >= 3
    assert localise(OnnxGraph(source), case.x, target, case.x, tmp_path / "values") == []
