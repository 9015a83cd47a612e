"""Clips of every frontend keep the layout of what is around them."""

import numpy as np
import pytest
from deltann_compiler.build import lower
from deltann_compiler.compiling import target_of

from deltann.kinds.compile import CompileParams


@pytest.fixture(scope="module")
def clipped():
    """PyTorch's ReLU6 between two convolutions in NCHW, its input, and what it should answer."""
    import torch
    from tvm.relax.frontend.torch import from_exported_program

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 1), torch.nn.ReLU6(), torch.nn.Conv2d(8, 16, 1)).eval()
    x = 20 * torch.randn(1, 3, 8, 8)
    module = from_exported_program(torch.export.export(network, (x,)), keep_params_as_input=False)
    return module, x.numpy(), network(x).detach().numpy()


@pytest.mark.parametrize("level", [0, 2])
def test_relu6_of_pytorch_is_transposed_at_the_ends_alone(clipped, level):
    import tvm
    from tvm.runtime.vm import VirtualMachine

    module, x, expected = clipped
    params = CompileParams(level=level)
    target = target_of(params)
    lowered, _ = lower(module, params, target)
    names = [name.name_hint for name, one in lowered.module.functions_items() if isinstance(one, tvm.tirx.PrimFunc)]
    assert sum(name.count("transpose") for name in names) <= 2, names
    machine = VirtualMachine(tvm.compile(lowered.module, tvm.target.Target(target)), tvm.cpu())
    (answer,) = machine["main"](tvm.runtime.tensor(x))
    np.testing.assert_allclose(answer.numpy(), expected, rtol=0, atol=2e-6 * np.abs(expected).max())


def test_a_clip_answers_as_numpy_does():
    import tvm
    from deltann_compiler.passes.restore_ops import RestoreOps
    from tvm import relax
    from tvm.runtime.vm import VirtualMachine

    builder, given = relax.BlockBuilder(), relax.Var("x", relax.TensorType((6,), "float32"))
    with builder.function("main", [given]):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(relax.op.clip(given, -1, 6.0)))
        builder.emit_func_output(result)
    module = RestoreOps()(builder.get())
    assert "R.clip" not in module.script()
    machine = VirtualMachine(tvm.compile(module, tvm.target.Target({"kind": "llvm"})), tvm.cpu())
    x = np.array([-np.inf, -2, 0, 5.5, 7, np.inf], np.float32)
    np.testing.assert_array_equal(machine["main"](tvm.runtime.tensor(x)).numpy(), np.clip(x, -1, 6))
