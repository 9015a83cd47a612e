"""Every graph operator on a model so small that its answer is computed by hand, which each case states."""

import math
from itertools import pairwise

import numpy as np
import onnx
import onnxruntime
import pytest
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.graph import REGISTERED, mutate
from deltann_compiler.mutation.graph.hashing import ir_hash
from onnx import TensorProto, helper, numpy_helper

from deltann.mutation import OPERATORS, Mutation, Positions

SQUARE = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)  # [[1, 2], [3, 4]]


def net(nodes, weights, shape):
    """A model of one input ``x`` and one output ``y``."""
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    onnx.checker.check_model(model, full_check=True)
    return model


def run(model, x):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.asarray(x, np.float32)})[0]


def conv(weight, bias=None, side=2, **attributes):
    """A convolution of one channel."""
    inputs = ["x", "w"] + (["b"] if bias is not None else [])
    weights = {"w": np.asarray(weight, np.float32).reshape(1, 1, *np.shape(weight))}
    weights |= {"b": [bias]} if bias is not None else {}
    return net([helper.make_node("Conv", inputs, ["y"], **attributes)], weights, (1, 1, side, side))


def gemm(weight, bias=None, rows=1, **attributes):
    inputs = ["x", "w"] + (["b"] if bias is not None else [])
    weights = {"w": weight} | ({"b": bias} if bias is not None else {})
    width = np.shape(weight)[1 if attributes.get("transB") else 0]
    return net([helper.make_node("Gemm", inputs, ["y"], **attributes)], weights, (rows, width))


def norm(side=2, epsilon=0.0, var=1.0):
    """y = 2 · x / √(var + ε) + 1."""
    weights = {"gain": [2], "shift": [1], "mean": [0], "var": [var]}
    node = helper.make_node("BatchNormalization", ["x", *weights], ["y"], epsilon=epsilon)
    return net([node], weights, (1, 1, side, side))


def one(operator, width, **weights):
    attributes = weights.pop("attributes", {})
    return net([helper.make_node(operator, ["x", *weights], ["y"], **attributes)], weights, (1, width))


def pool(operator, **attributes):
    return net([helper.make_node(operator, ["x"], ["y"], **attributes)], {}, (1, 1, 2, 2))


WHOLE = {"kernel_shape": [2, 2]}
E = math.e
SIGMOID = 1 / (1 + E)  # of −1
LOG = np.log(SQUARE)
DOUBLE = [[2.0]]

# operator, its parameters, model, x, y of the model, y of the mutant: both computed by hand
CASES = {
    # The 2 × 2 window times [[1, 10], [100, 1000]]: 1 + 20 + 300 + 4000; transposed, 2 and 3 change places.
    "transpose_conv2d_0_before": (conv([[1, 10], [100, 1000]]), SQUARE, 4321, 4231),
    # [[1, 2], [3, 4]] · [1, 10]ᵀ = [21, 43]; transposed, [[1, 3], [2, 4]] · [1, 10]ᵀ = [31, 42].
    "transpose_dense_0_before": (gemm([[1], [10]], rows=2), [[1, 2], [3, 4]], [[21], [43]], [[31], [42]]),
    "transpose_conv2d_dense_0_before": (conv([[1, 10], [100, 1000]]), SQUARE, 4321, 4231),
    # 1 · [1, 2] + 10 · [3, 4] = [31, 42]; with the weights transposed 1 · [1, 3] + 10 · [2, 4] = [21, 43].
    "transpose_conv2d_dense_1_before": (gemm([[1, 2], [3, 4]]), [[1, 10]], [[31, 42]], [[21, 43]]),
    # 2x + 1, and of the transposed x.
    "transpose_batch_norm_0_before": (norm(), SQUARE, [[[[3, 5], [7, 9]]]], [[[[3, 7], [5, 9]]]]),
    # 2 · ln n; with the exponential before, 2n.
    "exp_conv2d_dense_0_before": (conv(DOUBLE), LOG, 2 * LOG, [[[[2, 4], [6, 8]]]]),
    # n · ln 2 becomes 2ⁿ.
    "exp_conv2d_dense_0_after": (conv([[math.log(2)]]), SQUARE, math.log(2) * SQUARE, [[[[2, 4], [8, 16]]]]),
    # 2 · ln n + 1 becomes 2n + 1.
    "exp_batch_norm_0_before": (norm(), LOG, 2 * LOG + 1, [[[[3, 5], [7, 9]]]]),
    # Halves go to even: 0.5 → 0, 1.5 → 2, 2.5 → 2, 2.6 → 3; then 2x + 1.
    "round_batch_norm_0_before": (norm(), [[[[0.5, 1.5], [2.5, 2.6]]]], [[[[2, 4], [6, 6.2]]]], [[[[1, 5], [5, 7]]]]),
    # 2x of [0.5, 1.5; 2.5, −0.6] and of its rounding.
    "round_conv2d_dense_0_before": (
        conv(DOUBLE),
        [[[[0.5, 1.5], [2.5, -0.6]]]],
        [[[[1, 3], [5, -1.2]]]],
        [[[[0, 4], [4, -2]]]],
    ),
    # x + 10 times 1: 2x + 10 when the input is doubled, 2x + 20 when the output is.
    "scale_conv2d_dense_0_before": (conv([[1]], bias=10), SQUARE, SQUARE + 10, [[[[12, 14], [16, 18]]]]),
    "scale_conv2d_dense_0_after": (conv([[1]], bias=10), SQUARE, SQUARE + 10, [[[[22, 24], [26, 28]]]]),
    # 2x + 1 becomes 4x + 1.
    "scale_batch_norm_0_before": (norm(), SQUARE, [[[[3, 5], [7, 9]]]], [[[[5, 9], [13, 17]]]]),
    "replace_func_add_to_subtract": (one("Add", 2, w=[1, 2]), [[5, 5]], [[6, 7]], [[4, 3]]),
    "replace_func_add_to_multiply": (one("Add", 2, w=[1, 2]), [[5, 5]], [[6, 7]], [[5, 10]]),
    "replace_func_multiply_to_add": (one("Mul", 2, w=[1, 2]), [[5, 5]], [[5, 10]], [[6, 7]]),
    # At −1, 0 and 1: the logistic function is 1/(1 + e), 1/2, e/(1 + e); tanh −0.76159416, 0, 0.76159416.
    "replace_func_relu_to_sigmoid": (one("Relu", 3), [[-1, 0, 1]], [[0, 0, 1]], [[SIGMOID, 0.5, 1 - SIGMOID]]),
    "replace_func_relu_to_tanh": (one("Relu", 3), [[-1, 0, 1]], [[0, 0, 1]], [[-0.76159416, 0, 0.76159416]]),
    "replace_func_relu_to_leaky_relu": (one("Relu", 3), [[-1, 0, 1]], [[0, 0, 1]], [[-0.01, 0, 1]]),
    "replace_func_relu6_to_relu": (one("Clip", 3, low=0, high=6), [[-1, 3, 7]], [[0, 3, 6]], [[0, 3, 7]]),
    "replace_func_relu6_to_sigmoid": (
        one("Clip", 3, low=0, high=6),
        [[-1, 0, 7]],
        [[0, 0, 6]],
        [[SIGMOID, 0.5, 0.99908895]],
    ),
    "replace_func_sigmoid_to_tanh": (
        one("Sigmoid", 3),
        [[-1, 0, 1]],
        [[SIGMOID, 0.5, 1 - SIGMOID]],
        [[-0.76159416, 0, 0.76159416]],
    ),
    # The largest of 1 to 4, and their mean.
    "replace_func_max_pool_to_average_pool": (pool("MaxPool", **WHOLE), SQUARE, 4, 2.5),
    "replace_func_average_pool_to_max_pool": (pool("GlobalAveragePool"), SQUARE, 2.5, 4),
    "drop_layer": (conv(DOUBLE), SQUARE, 2 * SQUARE, SQUARE),
    "duplicate_layer": (conv(DOUBLE), SQUARE, 2 * SQUARE, 4 * SQUARE),
    # Ones over 2 × 2 windows, padded above and on the left: [[1, 3], [4, 10]]; padded below and on the right instead:
    # [[1+2+3+4, 2+4], [3+4, 4]].
    "shift_pads": (conv([[1, 1], [1, 1]], pads=[1, 1, 0, 0]), SQUARE, [[[[1, 3], [4, 10]]]], [[[[10, 6], [7, 4]]]]),
    # 2x + 1 with ε = 3 beside a variance of 1: √4 halves it to x + 1.
    "change_epsilon": (norm(), SQUARE, 2 * SQUARE + 1, SQUARE + 1),
    # Two channels, so the two that are drawn are these: [1·x, 10·x + 100] becomes [10·x, 1·x + 100].
    "swap_weights": (gemm([[1, 10]], bias=[0, 100]), [[3]], [[3, 130]], [[30, 103]]),
    "drop_bias": (gemm([[1, 10]], bias=[7, 100]), [[3]], [[10, 130]], [[3, 30]]),
}
PARAMETERS = {"change_epsilon": {"epsilon": 3}}


@pytest.mark.parametrize("operator", CASES)
def test_operator_gives_what_was_computed_by_hand(operator):
    model, x, before, after = CASES[operator]
    found = mutate(model, Mutation(operator=operator, parameters=PARAMETERS.get(operator, {})))
    assert np.max(np.abs(run(model, x) - before)) < 1e-5
    assert np.max(np.abs(run(found.model, x) - after)) < 1e-5
    assert (found.fits, len(found.places)) == (1, 1)
    assert found.before != found.after


def test_longer_strides_skip_what_lies_between():
    """4 × 4 numbered from 0, every second: [[0, 2], [8, 10]]; every third: [[0, 3], [12, 15]]; then their mean."""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["m"], kernel_shape=[1, 1], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["m"], ["y"]),
    ]
    model, x = net(nodes, {}, (1, 1, 4, 4)), np.arange(16).reshape(1, 1, 4, 4)
    assert (run(model, x).item(), run(mutate(model, Mutation(operator="change_strides")).model, x).item()) == (5, 7.5)


def test_perturbed_weights_move_as_far_as_sigma_says():
    weight = np.random.default_rng(1).standard_normal((200, 50)).astype(np.float32)
    found = mutate(gemm(weight), Mutation(operator="perturb_weights", parameters={"sigma": 0.1}))
    new = next(numpy_helper.to_array(one) for one in found.model.graph.initializer if one.name.startswith("perturbed"))
    assert (new - weight).std() == pytest.approx(0.1 * weight.std(), rel=0.05)
    again = mutate(gemm(weight), Mutation(operator="perturb_weights", parameters={"sigma": 0.1}))
    other = mutate(gemm(weight), Mutation(operator="perturb_weights", parameters={"sigma": 0.1, "seed": 1}))
    assert found.after == again.after != other.after


def test_every_operator_of_the_table_has_a_case_and_an_implementation():
    graph = {name for name, facts in OPERATORS.items() if facts.level == "graph"}
    assert graph == set(REGISTERED) == {*CASES, "change_strides", "perturb_weights"}


def chain(count):
    """count times + 1."""
    names = ["x", *(f"t{place}" for place in range(count - 1)), "y"]
    nodes = [helper.make_node("Add", [a, "one"], [b]) for a, b in pairwise(names)]
    return net(nodes, {"one": [1]}, (1, 1))


@pytest.mark.parametrize(
    ("at", "answer"),
    [({}, -4), ({"occurrence": 2}, 2), ({"start": 1}, -2), ({"every": 2}, 0), ({"random": 3, "seed": 5}, -2)],
)
def test_positions_choose_which_of_four_sums_become_differences(at, answer):
    """0 + 1 + 1 + 1 + 1 = 4, and each difference takes 2 away."""
    found = mutate(chain(4), Mutation(operator="replace_func_add_to_subtract", at=Positions(**at)))
    assert run(found.model, [[0]]).item() == answer == 4 - 2 * len(found.places)
    assert found.fits == 4


def test_operators_that_insert_nodes_may_mutate_several_places_at_once():
    nodes = [helper.make_node("Gemm", ["x", "w"], ["h"]), helper.make_node("Gemm", ["h", "w"], ["y"])]
    model = net(nodes, {"w": [[3]]}, (1, 1))
    found = mutate(model, Mutation(operator="scale_conv2d_dense_0_before"))
    assert (run(model, [[1]]).item(), run(found.model, [[1]]).item()) == (9, 36)
    found = mutate(model, Mutation(operator="duplicate_layer"))
    assert run(found.model, [[1]]).item() == 81


@pytest.mark.parametrize(
    ("mutation", "model", "kind", "said"),
    [
        (Mutation(operator="replace_func_relu_to_sigmoid"), chain(2), "fits_nowhere", "it has no Relu"),
        (
            Mutation(operator="replace_func_add_to_subtract", at=Positions(occurrence=2)),
            chain(2),
            "past_the_end",
            "place 2 is past the end: there are 2",
        ),
        (Mutation(operator="change_epsilon", parameters={"epsilon": 0}), norm(), "unchanged", "the same hash"),
        (Mutation(operator="perturb_weights", parameters={"sigma": 0}), gemm([[1]]), "unchanged", "the same hash"),
        (Mutation(operator="change_strides"), conv([[1]]), "invalid", r"differ in dimension 2: \(1\) vs \(2\)"),
    ],
    ids=["nowhere", "past", "epsilon", "sigma", "shape"],
)
def test_what_is_no_mutant_is_refused_with_its_reason(mutation, model, kind, said):
    with pytest.raises(MutationError, match=said) as caught:
        mutate(model, mutation)
    assert caught.value.kind == kind


def test_a_graph_that_later_layers_cannot_take_is_refused_before_anything_is_compiled():
    nodes = [
        helper.make_node("MaxPool", ["x"], ["m"], kernel_shape=[1, 1]),
        helper.make_node("Add", ["m", "x"], ["y"]),
    ]
    with pytest.raises(MutationError, match="no valid graph") as caught:
        mutate(net(nodes, {}, (1, 1, 3, 3)), Mutation(operator="change_strides"))
    assert caught.value.kind == "invalid"


def test_the_original_is_left_as_it_is():
    model = chain(3)
    before = model.SerializeToString(deterministic=True)
    mutate(model, Mutation(operator="replace_func_add_to_subtract"))
    assert model.SerializeToString(deterministic=True) == before


def test_the_hash_is_of_what_is_computed_not_of_names():
    model, renamed = chain(3), chain(3)
    for node in renamed.graph.node:
        for names in (node.input, node.output):
            names[:] = [f"other_{name}" if name.startswith("t") else name for name in names]
    assert ir_hash(model) == ir_hash(renamed) != ir_hash(chain(4))


def test_shapes_that_the_graph_computes_are_seen_by_running_it():
    """The pads are computed from the input's shape, as TensorFlow's exporter writes them: inference gives up there."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Sub", ["s", "s"], ["zeros"]),
        helper.make_node("Concat", ["zeros", "zeros"], ["pads"], axis=0),
        helper.make_node("Pad", ["x", "pads"], ["p"]),
        helper.make_node("Conv", ["p", "w"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalMaxPool", ["r"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "computed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 1, 2, 2))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("batch", 1, 1, 1))],
        [numpy_helper.from_array(np.float32([[[[1, 10], [100, 1000]]]]), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = mutate(model, Mutation(operator="transpose_conv2d_0_before"))
    assert (run(model, SQUARE).item(), run(found.model, SQUARE).item()) == (4321, 4231)
    assert mutate(model, Mutation(operator="drop_layer")).places == ("r", "y")
