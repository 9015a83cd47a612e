"""Small networks, and what localisation says of a changed copy of one."""

import numpy as np
import pytest
from deltann_converter.repair.localising import localise
from deltann_engines.graphs.onnx import OnnxGraph
from onnx import numpy_helper

from bench.faults.nets import NETS


class Faulty:
    """A network and a copy that a test changes."""

    def __init__(self, name, folder):
        self.source, self.target = NETS[name](5), NETS[name](5)
        self._folder = folder
        shape = [side.dim_value for side in self.source.graph.input[0].type.tensor_type.shape.dim]
        self.x = np.random.default_rng(3).normal(size=shape).astype(np.float32)

    def of_kind(self, kind, place=0):
        return [node for node in self.target.graph.node if node.op_type == kind][place]

    def change(self, name, edit):
        """Edit an initializer of the copy."""
        tensor = next(one for one in self.target.graph.initializer if one.name == name)
        values = numpy_helper.to_array(tensor).copy()
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(edit(values)).astype(values.dtype), name))

    def suspects(self):
        return localise(OnnxGraph(self.source), self.x, self.target, self.x, self._folder / "values")


@pytest.fixture
def faulty(tmp_path):
    return lambda name: Faulty(name, tmp_path)
