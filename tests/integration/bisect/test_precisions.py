"""Precisions held against each other, and builds that agree."""

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

from deltann.data import write_image_shard
from deltann.errors import JobFailure
from deltann.kinds.bisect import Setting

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).parents[3].parent / "shared"))
MODEL = SHARED / "data/models/mobilenet_v2/mobilenet_v2.onnx"


@pytest.fixture
def photos(tmp_path):
    folder = SHARED / "data/images"
    found = sorted(folder.rglob("*.jp*g"))[:2] or sorted(folder.rglob("*.JPEG"))[:2]
    shard = tmp_path / "photos.zip"
    write_image_shard(shard, [one.read_bytes() for one in found])
    return shard


@pytest.mark.bisect
@pytest.mark.skipif(
    not MODEL.exists(), reason=f"there is no {MODEL}: set DELTANN_SHARED to the folder with data/models"
)
def test_fp16_on_mobilenet_is_named_with_the_fewest_operators_that_show_it(bisector, photos):
    a, b = Setting(level=3), Setting(level=3, precision="fp16")
    found = bisector(MODEL, photos, a, b, recipe="tf")
    print(found)
    (one,) = found.findings
    assert (one.comparison.a, one.comparison.b) == ("level 3", "level 3 fp16")
    assert [(each.name, each.joins) for each in one.passes] == [("ToMixedPrecision", "fp16")]
    assert one.avoided_by == (), "a precision is no pass that can be left out"
    assert one.minimal
    assert 1 <= len(one.nodes) <= 4
    assert "Conv" in {each.op_type for each in one.nodes}
    assert one.alone > 1e-3
    assert one.reproduced
    part = onnx.load(bisector.reproducers / one.reproducer / "model.onnx")
    assert [each.op_type for each in part.graph.node] == [each.op_type for each in one.nodes]


def test_where_all_agree_nothing_is_found_and_nothing_is_written(bisector, network):
    node = onnx.helper.make_node
    random = np.random.default_rng(3)
    weights = {"w": random.normal(size=(6, 8)).astype(np.float32), "b": random.normal(size=8).astype(np.float32)}
    nodes = [
        node("MatMul", ["x", "w"], ["h"]),
        node("Add", ["h", "b"], ["i"]),
        node("Sigmoid", ["i"], ["y"]),
    ]
    found = bisector(network(nodes, weights, (1, 6), (1, 8)), random.normal(size=(5, 6)).astype(np.float32))
    assert found.findings == ()
    assert bisector.reproducers is None
    assert [(one.b, one.symptom, one.differing) for one in found.comparisons] == [
        ("TVM without passes", None, ()),
        ("level 0", None, ()),
        ("level 4", None, ()),
    ]
    assert all(one.error < 1e-5 for one in found.comparisons)
    assert found.candidates == 3


@pytest.mark.parametrize(
    ("target", "b", "said"),
    [
        ("raspberry-pi-4b", Setting(level=4), "aarch64"),
        ('{"kind": "llvm", "mcpu": "znver99"}', Setting(level=4), "znver99"),
        ("x86-64-v2", Setting(level=0, precision="bf16"), "bf16"),
    ],
)
def test_what_cannot_be_built_or_run_here_is_refused(bisector, network, target, b, said):
    path = network([onnx.helper.make_node("Relu", ["x"], ["y"])], {}, (1, 6), (1, 6))
    with pytest.raises(JobFailure, match=said):
        bisector(path, np.ones((1, 6), np.float32), b=b, target=target)
