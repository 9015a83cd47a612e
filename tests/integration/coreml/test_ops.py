"""Operations of MIL against numbers computed by hand, and against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from deltann_engines.mil.evaluate import check, evaluate
from deltann_engines.mil.ops import OPS
from deltann_engines.mil.program import Block, Operation, Program

from deltann.errors import UnsupportedError
from deltann.model import TensorSpec

F = np.float32


def a(*values: object) -> np.ndarray:
    return np.array(values, F)


CASES = [
    ("linear", {"x": a([1, 2]), "weight": a([3, 4], [5, 6]), "bias": a(1, -1)}, [[12, 16]]),
    ("matmul", {"x": a([1, 2]), "y": a([3, 4]), "transpose_y": True}, [[11]]),
    ("gather", {"x": a([1, 2], [3, 4]), "indices": np.array([1, -2])}, [[3, 4], [1, 2]]),
    ("scatter", {"data": a(1, 2, 3), "indices": np.array([2, 0]), "updates": a(9, 8), "mode": "update"}, [8, 2, 9]),
    ("scatter", {"data": a(1, 2), "indices": np.array([1, 1]), "updates": a(3, 4), "mode": "add"}, [1, 9]),
    ("relu", {"x": a(-1, 2)}, [0, 2]),
    ("relu6", {"x": a(-1, 2, 9)}, [0, 2, 6]),
    ("clip", {"x": a(-1, 2, 9), "alpha": 0, "beta": 3}, [0, 2, 3]),
    ("sigmoid", {"x": a(0, 100, -100)}, [0.5, 1, 0]),
    ("softmax", {"x": a([0, np.log(3)])}, [[0.25, 0.75]]),
    ("reduce_mean", {"x": a([1, 3], [5, 7]), "axes": np.array([1]), "keep_dims": True}, [[2], [6]]),
    ("reshape", {"x": a([1, 2], [3, 4]), "shape": np.array([-1])}, [1, 2, 3, 4]),
    ("transpose", {"x": a([1, 2]), "perm": np.array([1, 0])}, [[1], [2]]),
    ("expand_dims", {"x": a(1, 2), "axes": np.array([0])}, [[1, 2]]),
    ("squeeze", {"x": a([1, 2]), "axes": np.array([0])}, [1, 2]),
    ("concat", {"values": [a(1), a(2)], "axis": 0}, [1, 2]),
    ("stack", {"values": [a(1), a(2)], "axis": 0}, [[1], [2]]),
    ("pad", {"x": a([[[1]]]), "pad": np.array([1, 0, 0, 1]), "constant_val": 7}, [[[[7, 7], [1, 7]]]]),
    (
        "slice_by_index",
        {"x": a([1, 2], [3, 4]), "begin": np.array([-1, 0]), "end": np.array([0, 0]), "end_mask": [0, 1],
         "squeeze_mask": [1, 0]},
        [3, 4],
    ),
    ("max_pool", {"x": -a([[[1, 2], [3, 4]]]), "kernel_sizes": np.array([2, 2])}, [[[[-1]]]]),
    (
        "avg_pool",
        {"x": a([[[4]]]), "kernel_sizes": np.array([2, 2]), "pad_type": "custom", "pad": np.array([1, 0, 1, 0]),
         "exclude_padding_from_average": True},
        [[[[4]]]],
    ),
    (
        "batch_norm",
        {"x": a([5], [7]), "mean": a(1), "variance": a(4), "gamma": a(3), "beta": a(10), "epsilon": 0},
        [[16], [19]],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "expected"), CASES)
def test_known_answers(name: str, given: dict[str, object], expected: object) -> None:
    made = OPS[name](**given)
    assert np.shape(made) == np.shape(expected)
    assert np.allclose(made, expected, atol=1e-6)


@pytest.mark.parametrize(("groups", "stride", "pad", "dilation"), [(1, 1, 0, 1), (2, 2, 1, 1), (4, 1, 2, 2)])
def test_convolution_as_pytorch(groups: int, stride: int, pad: int, dilation: int) -> None:
    import torch

    random = np.random.default_rng(groups)
    x, w, b = (random.standard_normal(s).astype(F) for s in ((2, 4, 9, 7), (4, 4 // groups, 3, 3), (4,)))
    want = torch.nn.functional.conv2d(*map(torch.from_numpy, (x, w, b)), stride, pad, dilation, groups).numpy()
    made = OPS["conv"](x, w, b, np.array([stride] * 2), "custom", np.array([pad] * 4), np.array([dilation] * 2), groups)
    assert np.abs(made - want).max() < 1e-5


def test_same_padding_puts_the_odd_one_behind() -> None:
    x, w = a([[[1, 2], [3, 4]]]), np.ones((1, 1, 2, 2), F)
    assert OPS["conv"](x, w, pad_type="same").tolist() == [[[[10, 6], [7, 4]]]]
    assert OPS["conv"](x, w, pad_type="same_lower").tolist() == [[[[1, 3], [4, 10]]]]


def program(*operations: Operation) -> Program:
    spec = TensorSpec(name="x", shape=(1,), dtype="float32")
    constants = {"two": F(2), "ten": F(10)}
    return Program(6, (spec,), (spec.model_copy(update={"name": "y"}),), constants, operations)


def test_a_loop_goes_on_while_its_condition_holds() -> None:
    condition = Block(("c",), ("go",), (Operation("less", {"x": ("c",), "y": ("ten",)}, ("go",)),))
    body = Block(("v",), ("w",), (Operation("mul", {"x": ("v",), "y": ("two",)}, ("w",)),))
    loop = Operation("while_loop", {"loop_vars": ("x",)}, ("y",), (condition, body))
    assert evaluate(program(loop), {"x": a(3)})["y"].tolist() == [12]


def test_an_unknown_operation_is_named_and_said_to_be_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="evaluator, has no cumsum"):
        check(program(Operation("cumsum", {"x": ("x",)}, ("y",))))
