"""Tiny ONNX networks, one per family of kernels."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


def save(path, nodes, weights, shape=(1, 3, 16, 16), out=None):
    """A model of one input ``x`` and one output ``y``, as ONNX's own checker accepts it."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    model = onnx.shape_inference.infer_shapes(model)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def _weights(*shape, seed=0):
    fan = max(1, int(np.prod(shape[1:])))
    return (np.random.default_rng(seed).standard_normal(shape) * (2 / fan) ** 0.5).astype(np.float32)


def mixed(path):
    """Convolution, batch norm, ReLU6, depthwise and grouped convolution, pools, concat, sigmoid, dense and softmax."""
    node = helper.make_node
    weights = {
        "stem": _weights(16, 3, 3, 3),
        "deep": _weights(16, 1, 3, 3, seed=1),
        "group": _weights(32, 8, 3, 3, seed=2),
        "point": _weights(24, 48, 1, 1, seed=3),
        "dense": _weights(24, 10, seed=4),
        "bias": _weights(10, seed=5),
        "zero": np.float32(0),
        "six": np.float32(6),
    }
    for name, values in {
        "gain": 1 + np.abs(_weights(16, seed=6)),
        "shift": _weights(16, seed=7),
        "mean": _weights(16, seed=8),
        "var": 1 + np.abs(_weights(16, seed=9)),
    }.items():
        weights[name] = values.astype(np.float32)
    nodes = [
        node("Conv", ["x", "stem"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("BatchNormalization", ["a", "gain", "shift", "mean", "var"], ["b"]),
        node("Clip", ["b", "zero", "six"], ["c"]),
        node("Conv", ["c", "deep"], ["d"], pads=[1, 1, 1, 1], group=16),
        node("Add", ["c", "d"], ["e"]),
        node("Conv", ["e", "group"], ["f"], pads=[1, 1, 1, 1], group=2),
        node("Relu", ["f"], ["g"]),
        node("MaxPool", ["e"], ["h"], kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
        node("Concat", ["g", "h"], ["i"], axis=1),
        node("AveragePool", ["i"], ["j"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["j", "point"], ["k"]),
        node("Sigmoid", ["k"], ["l"]),
        node("Mul", ["k", "l"], ["m"]),
        node("GlobalAveragePool", ["m"], ["n"]),
        node("Flatten", ["n"], ["o"]),
        node("Gemm", ["o", "dense", "bias"], ["p"]),
        node("Softmax", ["p"], ["y"], axis=-1),
    ]
    return save(path, nodes, weights, out=(1, 10))


def odd(path):
    """Sides and channels that no vector divides."""
    node = helper.make_node
    weights = {
        "one": _weights(7, 3, 3, 3),
        "two": _weights(13, 7, 1, 1, seed=1),
        "deep": _weights(13, 1, 5, 5, seed=2),
        "dense": _weights(13, 5, seed=3),
    }
    nodes = [
        node("Conv", ["x", "one"], ["a"], strides=[2, 2]),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["b", "two"], ["c"]),
        node("Conv", ["c", "deep"], ["d"], pads=[2, 2, 2, 2], group=13),
        node("GlobalAveragePool", ["d"], ["e"]),
        node("Flatten", ["e"], ["f"]),
        node("MatMul", ["f", "dense"], ["y"]),
    ]
    return save(path, nodes, weights, shape=(1, 3, 15, 11), out=(1, 5))


def saturated(path):
    """Sigmoid of values far beyond where exp overflows."""
    node = helper.make_node
    weights = {"hundreds": np.diag(np.linspace(-400, 400, 8)).astype(np.float32)}
    nodes = [node("MatMul", ["x", "hundreds"], ["a"]), node("Sigmoid", ["a"], ["y"])]
    return save(path, nodes, weights, shape=(1, 8), out=(1, 8))


def resized(path):
    """A Resize that TVM 0.27's importer gets wrong: nearest at half_pixel, by 2.5."""
    node = helper.make_node
    weights = {"roi": np.zeros(0, np.float32), "by": np.array([1, 1, 2.5, 2.5], np.float32)}
    resize = node("Resize", ["x", "roi", "by"], ["a"], mode="nearest", coordinate_transformation_mode="half_pixel")
    return save(path, [resize, node("Flatten", ["a"], ["y"])], weights, shape=(1, 1, 3, 3), out=(1, 49))


def unsupported(path):
    """An operator that TVM's importer does not have."""
    node = helper.make_node
    nodes = [node("Flatten", ["x"], ["a"]), node("Det", ["x"], ["b"]), node("Add", ["a", "b"], ["y"])]
    return save(path, nodes, {}, shape=(1, 3, 3), out=(1, 9))


def branches(path):
    """Three convolutions of one input that can be one and a wider one, and scales behind a bias and a convolution."""
    node = helper.make_node
    weights = {
        **{
            name: _weights(sides, 6, 1, 1, seed=seed)
            for seed, (name, sides) in enumerate({"a": 8, "b": 5, "c": 11}.items())
        },
        "stem": _weights(6, 3, 3, 3, seed=3),
        "wide": _weights(8, 6, 3, 3, seed=4),
        "bias": _weights(6, seed=5),
        "times": (1 + np.abs(_weights(6, 1, 1, seed=6))).astype(np.float32),
        "minus": _weights(6, 1, 1, seed=7),
        "over": (1 + np.abs(_weights(1, 8, 1, 1, seed=8))).astype(np.float32),
        "dense": _weights(32, 10, seed=9),
    }
    for name, values in {
        "gain": 1 + np.abs(_weights(6, seed=10)),
        "shift": _weights(6, seed=11),
        "mean": _weights(6, seed=12),
        "var": 1 + np.abs(_weights(6, seed=13)),
    }.items():
        weights[name] = values.astype(np.float32)
    nodes = [
        node("Conv", ["x", "stem", "bias"], ["s1"], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["s1", "gain", "shift", "mean", "var"], ["s2"]),
        node("Mul", ["times", "s2"], ["s3"]),
        node("Sub", ["s3", "minus"], ["s4"]),
        node("Relu", ["s4"], ["s"]),
        *(node("Conv", ["s", name], [f"{name}1"]) for name in "abc"),
        *(node("Relu", [f"{name}1"], [f"{name}2"]) for name in "abc"),
        node("Conv", ["s", "wide"], ["w1"], pads=[1, 1, 1, 1]),
        node("Div", ["w1", "over"], ["w2"]),
        node("Concat", ["a2", "b2", "c2", "w2"], ["all"], axis=1),
        node("GlobalAveragePool", ["all"], ["pool"]),
        node("Flatten", ["pool"], ["flat"]),
        node("MatMul", ["flat", "dense"], ["y"]),
    ]
    return save(path, nodes, weights, shape=(1, 3, 10, 12), out=(1, 10))
