"""Scheduled kernels of each family against torch and NumPy, in vectors of AVX2, SSE and whatever the host has."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from deltann_compiler.build import lower
from deltann_compiler.compiling import target_of

from deltann.kinds.compile import CompileParams


@dataclass(frozen=True)
class Conv:
    side: int
    inputs: int
    outputs: int
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: int = 1
    groups: int = 1


CONVS = [
    Conv(14, 16, 32),
    Conv(7, 24, 40),  # 49 pixels: no tile divides them
    Conv(9, 5, 7),  # no vector divides the outputs
    Conv(15, 3, 16, (3, 3), 2, (0, 0, 1, 1)),
    Conv(13, 8, 24, (5, 3), 1, (2, 1, 2, 1)),
    Conv(17, 8, 16, (1, 7), 1, (0, 3, 0, 3)),
    Conv(12, 4, 12, (3, 3), 1, (2, 2, 2, 2), 2),
    Conv(40, 8, 64, (7, 7), 2, (3, 3, 3, 3)),  # several groups of tiles
    Conv(14, 32, 32, (3, 3), 1, (1, 1, 1, 1), groups=32),
    Conv(15, 24, 24, (5, 5), 2, (2, 2, 2, 2), groups=24),
    Conv(10, 16, 32, (3, 3), 1, (1, 1, 1, 1), groups=4),
]


def module(random):
    """One function that does all of it, what it takes, and what it should answer."""
    from tvm import relax

    builder = relax.BlockBuilder()
    variables, given, expected = [], [], []

    def variable(shape):
        variables.append(relax.Var(f"x{len(variables)}", relax.TensorType(shape, "float32")))
        given.append(random.standard_normal(shape).astype(np.float32))
        return variables[-1], torch.from_numpy(given[-1])

    def value(*shape):
        return random.standard_normal(shape).astype(np.float32)

    calls = []
    for one in CONVS:
        x, a = variable((1, one.side, one.side, one.inputs))
        w, b = value(*one.kernel, one.inputs // one.groups, one.outputs), value(1, 1, 1, one.outputs)
        calls.append((one, x, w, b))
        top, left, bottom, right = one.padding
        padded = torch.nn.functional.pad(a.permute(0, 3, 1, 2), (left, right, top, bottom))
        filters = torch.from_numpy(w.transpose(3, 2, 0, 1).copy())
        y = torch.nn.functional.conv2d(
            padded, filters, torch.from_numpy(b.ravel()), one.stride, 0, one.dilation, one.groups
        )
        expected.append(torch.relu(y).permute(0, 2, 3, 1).numpy())
    (deep, b), (flat, c) = variable((1, 15, 15, 24)), variable((1, 14, 14, 7))
    images = [each.permute(0, 3, 1, 2) for each in (b, c)]
    for image in images:
        pooled = torch.nn.functional.max_pool2d(image, 3, 2, 1)
        averaged = torch.nn.functional.avg_pool2d(image, 3, 1, 1, count_include_pad=False)
        expected += [pooled.permute(0, 2, 3, 1).numpy(), averaged.permute(0, 2, 3, 1).numpy()]
        expected.append(image.mean((2, 3)).numpy())
    x, a = variable((1, 33))
    dense, odd = value(33, 1001), value(33, 13)
    expected += [a.numpy() @ dense, np.maximum(a.numpy() @ odd, 0) + 1]
    with builder.function("main", variables):
        with builder.dataflow():
            outputs = []
            for one, data, w, b in calls:
                y = builder.emit(
                    relax.op.nn.conv2d(
                        data,
                        relax.const(w),
                        strides=one.stride,
                        padding=list(one.padding),
                        dilation=one.dilation,
                        groups=one.groups,
                        data_layout="NHWC",
                        kernel_layout="HWIO",
                    )
                )
                outputs.append(builder.emit(relax.op.nn.relu(builder.emit(relax.op.add(y, relax.const(b))))))
            for data in (deep, flat):
                pooled = relax.op.nn.max_pool2d(data, 3, 2, 1, layout="NHWC")
                averaged = relax.op.nn.avg_pool2d(data, 3, 1, 1, layout="NHWC", count_include_pad=False)
                outputs += [builder.emit(each) for each in (pooled, averaged, relax.op.mean(data, [1, 2]))]
            outputs.append(builder.emit(relax.op.matmul(x, relax.const(dense))))
            y = builder.emit(relax.op.nn.relu(builder.emit(relax.op.matmul(x, relax.const(odd)))))
            outputs.append(builder.emit(relax.op.add(y, relax.const(np.float32(1)))))
            result = builder.emit_output(relax.Tuple(outputs))
        builder.emit_func_output(result)
    return builder.get(), given, expected


@pytest.mark.parametrize(("name", "level"), [("host", 0), ("x86-64-v2", 3), ("x86-64-v3", 3)])
def test_kernels_of_every_family_answer_as_torch(name, level):
    import tvm
    from tvm.runtime.vm import VirtualMachine

    ir, given, expected = module(np.random.default_rng(7))
    params = CompileParams(target=name, level=level)
    target = target_of(params)
    scheduled, _ = lower(ir, params, target)
    assert scheduled.unscheduled == []
    machine = VirtualMachine(tvm.compile(scheduled.module, tvm.target.Target(target)), tvm.cpu())
    answers = machine["main"](*(tvm.runtime.tensor(x) for x in given))
    for answer, wanted in zip(answers, expected, strict=True):
        np.testing.assert_allclose(answer.numpy(), wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())
