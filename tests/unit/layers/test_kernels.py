"""The map from kernels to nodes, on a residual block that a compiler fuses in several ways."""

import numpy as np

from deltann.layers.graph import Node, behind
from deltann.layers.kernels import kernel_map
from deltann.layers.match import match_values
from deltann.layers.signature import Signature, signature

RANDOM = np.random.default_rng(0)


def held(**shapes: tuple[int, ...]) -> dict[str, Signature]:
    return {name: signature(RANDOM.standard_normal(shape)) for name, shape in shapes.items()}


MODEL = [
    Node("conv1", "Conv", ("x",), ("c1",)),
    Node("norm1", "BatchNormalization", ("c1",), ("n1",)),
    Node("relu1", "Relu", ("n1",), ("r1",)),
    Node("conv2", "Conv", ("r1",), ("c2",)),
    Node("add", "Add", ("c2", "x"), ("a",)),
    Node("flat", "Flatten", ("a",), ("f",)),
    Node("dead", "Neg", ("r1",), ("d",)),
    Node("dense", "Gemm", ("f",), ("y",)),
]
VALUES = held(c1=(8, 4, 4), n1=(8, 4, 4), r1=(8, 4, 4), c2=(8, 4, 4), a=(8, 4, 4), d=(8, 4, 4), y=(10,))
VALUES["f"] = VALUES["a"]
ORDERED = {name: VALUES[name] for name in ("c1", "n1", "r1", "c2", "a", "f", "d", "y")}


def test_what_is_behind_a_value() -> None:
    assert behind(MODEL, ["r1"]) == {"conv1", "norm1", "relu1"}
    assert behind(MODEL, ["a", "d"]) == {"conv1", "norm1", "relu1", "conv2", "add", "dead"}
    assert behind(MODEL, ["x"]) == set()


def test_fused_kernels_lead_back_to_all_their_nodes() -> None:
    kernels = [
        Node("pad", "pad", ("x",), ("k0",)),
        Node("fused_conv_relu", "…", ("k0",), ("k1",)),
        Node("fused_conv_add", "…", ("k1", "x"), ("k2",)),
        Node("fused_dense", "…", ("k2",), ("k3",)),
    ]
    padded = held(k0=(3, 6, 6))
    target = {**padded, "k1": VALUES["r1"], "k2": VALUES["a"], "k3": VALUES["y"]}
    found = kernel_map(MODEL, kernels, match_values(ORDERED, target))
    assert [(one.kernel, one.nodes, one.towards) for one in found.kernels] == [
        ("pad", (), "fused_conv_relu"),
        ("fused_conv_relu", ("conv1", "norm1", "relu1"), "fused_conv_relu"),
        ("fused_conv_add", ("conv2", "add", "flat"), "fused_conv_add"),
        ("fused_dense", ("dense",), "fused_dense"),
    ]
    assert found.folded == ("dead",)


def test_values_that_are_held_twice_are_told_apart_by_their_order() -> None:
    target = {"k1": VALUES["a"], "k2": VALUES["a"], "k3": VALUES["y"]}
    matches = match_values(ORDERED, target)
    assert (matches["k1"].source, matches["k2"].source) == ("a", "f")
    alone = match_values(ORDERED, {"k1": VALUES["a"]})
    assert alone["k1"].source == "f", "one kernel for both ends with the last"


def test_a_match_says_how_sure_it_is_and_nothing_is_matched_by_size_alone() -> None:
    near = signature(RANDOM.standard_normal((8, 4, 4)))
    assert match_values(ORDERED, {"k": near}) == {}
    (match,) = match_values(ORDERED, {"k": VALUES["c1"]}).values()
    assert match.apart == 0.0
    assert match.runner_up > 0.05
