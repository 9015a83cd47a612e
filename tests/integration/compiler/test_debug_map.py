"""The debug map on six models: every node in exactly one kernel, or named as folded away. ``make test-bisect``."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest
from deltann_engines import parity
from deltann_engines.graphs import open_graph
from deltann_engines.kernel_nodes import map_kernels
from six_models import MODELS

from deltann.layers.graph import behind

pytestmark = pytest.mark.bisect
HEAVY = {"Conv", "Gemm", "MatMul", "MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean"}
"""No two of these are ever computed by one kernel."""


@pytest.fixture
def onnx_of(tmp_path):
    """The file of a model as ONNX, by the converter, and its description with a batch of 1."""
    path = Path(__file__).parents[1] / "converter" / "conftest.py"
    spec = importlib.util.spec_from_file_location("deltann_debug_map_converter", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    converter = module.Converter(tmp_path / "converter")

    def made(source):
        import torchvision  # noqa: F401  (before TensorFlow)

        native = converter.call("resolve_model", {"source": source})
        model = converter.step(native, "onnx", parity_inputs=1)
        return converter.store.materialise(model.artifacts["model"], converter.cache), model.data.info

    return made


@pytest.mark.parametrize("name", MODELS)
def test_every_node_is_in_exactly_one_kernel_or_folded(compiler, onnx_of, tmp_path, name):
    path, info = onnx_of(MODELS[name])
    named = tmp_path / "model.onnx"
    named.write_bytes(path.read_bytes())
    imported = compiler.imported(named, parity_inputs=1)
    graph = open_graph(named, info)
    kinds = {node.name: node.kind for node in graph.nodes}
    x = parity.seeded_inputs(imported.data.info, 1, 3)
    for level in (0, 2, 4):
        _, module = compiler.compiled(imported, level=level)
        found = map_kernels(graph, module, imported.data.info, x)
        print(f"{name} level {level}: {len(graph.nodes)} nodes, {len(found.kernels)} kernels, folded {found.folded}")

        places = Counter(node for kernel in found.kernels for node in kernel.nodes) + Counter(found.folded)
        assert places == Counter(dict.fromkeys(kinds, 1))
        assert set(found.folded) == set(kinds) - behind(graph.nodes, [graph.result]), "no output depends on them"
        assert all(kernel.towards is not None for kernel in found.kernels), "every kernel leads to nodes"
        for kernel in found.kernels:
            heavy = [kinds[node] for node in kernel.nodes if kinds[node] in HEAVY]
            assert len(heavy) <= 1, f"{kernel.kernel} is said to compute {', '.join(heavy)}"
        _check_convolutions(found, kinds, level)


def _check_convolutions(found, kinds, level):
    """A kernel that convolves leads to a Conv, and up to level 3 to one of its own."""
    leads = Counter(kernel.towards for kernel in found.kernels if "conv2d" in kernel.kernel)
    nodes = Counter(kernel.kernel for kernel in found.kernels for node in kernel.nodes if kinds[node] == "Conv")
    assert leads.keys() <= nodes.keys()
    if level < 4:
        assert leads == nodes, "each Conv is computed where it is said to be"
