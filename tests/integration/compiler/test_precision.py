"""Modules in half precision: right within what the type can hold, and refused where the target cannot compute in it."""

import numpy as np
import pytest
from deltann_compiler import compiling
from deltann_engines import parity
from deltann_engines.base import load
from deltann_engines.describe import describe

from deltann.errors import JobFailure
from deltann.outcome import Outcome

EPSILON = {"fp16": 2**-11, "bf16": 2**-8}
"""Half a unit in the last place, relative."""


@pytest.fixture(scope="module")
def imported(compiler, nets, tmp_path_factory):
    path = nets.mixed(tmp_path_factory.mktemp("precision") / "mixed.onnx")
    ir = compiler.imported(path)
    x = parity.seeded_inputs(ir.data.info, 3, 5)
    with load("onnxruntime", path, describe(path, "onnx")) as session:
        return ir, x, parity.outputs(session, x)


@pytest.mark.parametrize(("precision", "level"), [("fp16", 0), ("fp16", 3), ("bf16", 3)])
def test_half_precision_errs_by_its_own_rounding_and_answers_in_float32(
    compiler, imported, monkeypatch, precision, level
):
    monkeypatch.setattr(compiling, "check_precision", lambda *asked: None)  # emulated, the numbers are the same
    ir, x, expected = imported
    produced, module = compiler.compiled(ir, level=level, precision=precision)
    assert "ToMixedPrecision" in produced.data.passes
    assert produced.data.unscheduled == []
    with load("tvm", module, ir.data.info) as session:
        answered = parity.outputs(session, x)
    assert all(one.dtype == np.float32 for one in answered)
    found = parity.compare(expected, answered)
    assert found.n_invalid == 0
    assert EPSILON[precision] / 50 < found.max_rel < 10 * EPSILON[precision]


def test_only_the_precision_is_added_and_weights_are_kept_in_it(compiler, imported):
    ir, _, _ = imported
    rows = {one.name: one for one in compiler.explained(ir, level=0, precision="fp16").passes}
    assert rows["ToMixedPrecision"].changed is True
    assert rows["ToMixedPrecision"].joins == "fp16"
    assert rows["PackWeights"].operators < rows["ConvertLayout"].operators, "what converts weights is folded"


@pytest.mark.parametrize(("precision", "target"), [("fp16", "x86-64-v2"), ("bf16", "x86-64-v3"), ("bf16", "x86-64-v4")])
def test_a_target_without_the_instructions_is_refused_by_name(compiler, imported, precision, target):
    with pytest.raises(JobFailure) as failure:
        compiler.compiled(imported[0], level=1, precision=precision, target=target)
    assert failure.value.outcome is Outcome.COMPILE_FAILED
    for word in (precision, target, "fp32"):
        assert word in failure.value.message
