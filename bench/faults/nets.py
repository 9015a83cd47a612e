"""Small networks of every usual kind, written down as ONNX with seeded weights: what faults are put into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8
SIDE, CLASSES = 16, 10
_GAIN = 1.4


class Builder:
    """Nodes one after the other; every call gives the name of what it writes."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.held: list[Any] = []

    def constant(self, values: np.ndarray) -> str:
        name = f"c{len(self.held)}"
        self.held.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=f"n_{output}", **attributes))
        return output

    def normal(self, *shape: int, fan: int = 1) -> np.ndarray:
        return (self._random.normal(size=shape) * _GAIN / np.sqrt(fan)).astype(np.float32)

    def conv(self, x: str, cin: int, cout: int, side: int = 3, *, group: int = 1, stride: int = 1, **more: Any) -> str:
        fan = cin // group * side * side
        weights = self.constant(self.normal(cout, cin // group, side, side, fan=fan))
        pads = more.pop("pads", [side // 2] * 4)
        return self.op(
            "Conv", x, weights, self.constant(self.normal(cout) * np.float32(0.3)),
            kernel_shape=[side, side], pads=pads, strides=[stride, stride], group=group, **more,
        )  # fmt: skip

    def norm(self, x: str, channels: int) -> str:
        scale, shift, mean = self.normal(channels) * 0.2 + 1, self.normal(channels) * 0.3, self.normal(channels) * 0.2
        variance = np.abs(self.normal(channels)) * 0.3 + 0.6
        parts = [self.constant(part.astype(np.float32)) for part in (scale, shift, mean, variance)]
        return self.op("BatchNormalization", x, *parts, epsilon=1e-3)

    def dense(self, x: str, cin: int, cout: int) -> str:
        weights = self.constant(self.normal(cout, cin, fan=cin))
        return self.op("Gemm", x, weights, self.constant(self.normal(cout)), transB=1, alpha=1.0, beta=1.0)

    def model(self, y: str, shape: tuple[int, ...]) -> Any:
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, (1, CLASSES))],
            self.held,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def plain(seed: int) -> Any:
    """Convolutions with batch norms and pools, as VGG."""
    b = Builder(seed)
    h = b.op("Relu", b.norm(b.conv("x", 3, 8), 8))
    h = b.op("Relu", b.norm(b.conv(h, 8, 12), 12))
    h = b.op("MaxPool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=0)
    h = b.op("Relu", b.norm(b.conv(h, 12, 16), 16))
    h = b.op("AveragePool", h, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=0)
    h = b.op("LeakyRelu", b.conv(h, 16, 16, dilations=[2, 2], pads=[2, 2, 2, 2]), alpha=0.1)
    h = b.op("Relu", b.dense(b.op("Flatten", h, axis=1), 256, 24))
    return b.model(b.dense(h, 24, CLASSES), (1, 3, SIDE, SIDE))


def residual(seed: int) -> Any:
    """Blocks with shortcuts and a pooled head, as ResNet."""
    b = Builder(seed)
    h = b.op("Relu", b.conv("x", 3, 8, stride=2))
    for _ in range(2):
        inner = b.op("Relu", b.norm(b.conv(h, 8, 8), 8))
        h = b.op("Relu", b.op("Add", b.conv(inner, 8, 8), h))
    short = b.conv(h, 8, 16, 1, stride=2)
    h = b.op("Relu", b.op("Add", b.conv(b.op("Elu", b.conv(h, 8, 16, stride=2), alpha=0.7), 16, 16), short))
    h = b.op("Flatten", b.op("GlobalAveragePool", h), axis=1)
    return b.model(b.op("Softmax", b.dense(h, 16, CLASSES), axis=1), (1, 3, SIDE, SIDE))


def mobile(seed: int) -> Any:
    """Depthwise convolutions that keep within 0 and 6, padded on one side, as MobileNet from TensorFlow."""
    b = Builder(seed)
    low, high = b.constant(np.float32(0)), b.constant(np.float32(6))
    padded = b.op("Pad", "x", b.constant(np.array([0, 0, 0, 0, 0, 0, 1, 1])), mode="constant")
    h = b.op("Clip", b.conv(padded, 3, 8, stride=2, pads=[0, 0, 0, 0]), low, high)
    for _ in range(2):
        wide = b.op("Clip", b.conv(h, 8, 16, 1), low, high)
        deep = b.op("Clip", b.conv(wide, 16, 16, group=16), low, high)
        h = b.op("Add", b.conv(deep, 16, 8, 1), h)
    h = b.op("HardSwish", b.conv(h, 8, 16, 1))
    h = b.op("ReduceMean", h, axes=[2, 3], keepdims=0)
    return b.model(b.dense(h, 16, CLASSES), (1, 3, SIDE, SIDE))


def branches(seed: int) -> Any:
    """Branches that are put together again, as Inception."""
    b = Builder(seed)
    h = b.op("Relu", b.conv("x", 3, 8))
    for cin in (8, 14):
        one = b.op("Relu", b.conv(h, cin, 4, 1))
        three = b.op("Relu", b.conv(b.op("Relu", b.conv(h, cin, 4, 1)), 4, 6))
        pool = b.op("AveragePool", h, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1], count_include_pad=1)
        pool = b.op("Sigmoid", b.conv(pool, cin, 4, 1))
        h = b.op("Concat", one, three, pool, axis=1)
    h = b.op("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2])
    h = b.op("Flatten", b.op("GlobalMaxPool", b.op("Tanh", b.conv(h, 14, 20))), axis=1)
    return b.model(b.dense(h, 20, CLASSES), (1, 3, SIDE, SIDE))


def channels_last(seed: int) -> Any:
    """A graph as tf2onnx leaves it: the input's channels last, a transpose before and after what is convolved."""
    b = Builder(seed)
    h = b.op("Transpose", "x", perm=[0, 3, 1, 2])
    h = b.op("Relu", b.conv(h, 3, 8, stride=2))
    h = b.op("Relu", b.conv(h, 8, 6))
    h = b.op("Transpose", h, perm=[0, 2, 3, 1])
    h = b.op("Reshape", h, b.constant(np.array([1, 64, 6])))
    h = b.op("Mul", b.op("Softmax", h, axis=-1), b.constant(b.normal(6) + 2))
    h = b.op("Reshape", h, b.constant(np.array([1, 384])))
    h = b.op("Relu", b.op("Add", b.op("MatMul", h, b.constant(b.normal(384, 16, fan=60))), b.constant(b.normal(16))))
    y = b.op("Add", b.op("MatMul", h, b.constant(b.normal(16, CLASSES, fan=16))), b.constant(b.normal(CLASSES)))
    return b.model(y, (1, SIDE, SIDE, 3))


NETS: dict[str, Callable[[int], Any]] = {
    "plain": plain,
    "residual": residual,
    "mobile": mobile,
    "branches": branches,
    "channels_last": channels_last,
}
