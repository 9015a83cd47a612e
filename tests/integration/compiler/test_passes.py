"""Single passes, left out, added and explained, on a small network."""

import pytest
from deltann_engines import parity
from deltann_engines.base import load
from deltann_engines.describe import describe

from deltann.cli.explained import explained


@pytest.fixture(scope="module")
def imported(compiler, nets, tmp_path_factory):
    path = nets.mixed(tmp_path_factory.mktemp("passes") / "mixed.onnx")
    return path, compiler.imported(path)


def answers(imported, module, n=3):
    x = parity.seeded_inputs(imported.data.info, n, 5)
    with load("tvm", module, imported.data.info) as session:
        return parity.outputs(session, x)


def expected(path, imported, n=3):
    x = parity.seeded_inputs(imported.data.info, n, 5)
    with load("onnxruntime", path, describe(path, "onnx")) as session:
        return parity.outputs(session, x)


def test_without_fuse_ops_there_is_nothing_to_fuse_and_the_answers_stay(compiler, imported):
    path, ir = imported
    unfused, module = compiler.compiled(ir, level=4, disable=["FuseOps"])
    assert "FuseOps" not in unfused.data.passes
    assert "FuseTIR" in unfused.data.passes
    fused, _ = compiler.compiled(ir, level=4)
    assert unfused.data.kernels > fused.data.kernels
    assert parity.compare(expected(path, ir), answers(ir, module)).max_rel < 1e-5


@pytest.mark.parametrize(("enable", "asked"), [(["LLVMFastMath"], True), ([], None)])
def test_llvms_fast_math_stands_alone(compiler, imported, enable, asked):
    path, ir = imported
    produced, module = compiler.compiled(ir, level=0, enable=enable)
    assert produced.data.target.get("fast-math") is asked
    assert ("LLVMFastMath" in produced.data.passes) is (asked is True)
    assert "FastMathTransform" not in produced.data.passes
    assert parity.compare(expected(path, ir), answers(ir, module)).max_rel < 1e-5


def test_what_each_pass_does_is_explained(compiler, imported):
    _, ir = imported
    data = compiler.explained(ir, level=3, disable=["FuseOps"])
    rows = {one.name: one for one in data.passes}
    assert [rows[name].ran for name in ("FoldConstant", "FuseOps", "CombineParallelMatmul")] == [True, False, False]
    assert rows["FoldBatchnormToConv2D"].changed is True, "this network keeps its batch norm"
    assert rows["FuseTIR"].changed is False, "nothing is grouped without FuseOps"
    assert rows["RestoreOps"].changed is True, "its Clip arrives as kernels"
    assert rows["CPUSchedule"].kernels == compiler.compiled(ir, level=3, disable=["FuseOps"])[0].data.kernels
    assert rows["LLVMFastMath"].changed is None
    lines = list(explained(data))
    assert lines[0].split() == ["pass", "joins", "did", "operators", "kernels"]
    assert len(lines) == len(data.passes) + 2
    assert next(line for line in lines if line.startswith("FuseOps")).split()[1:4] == ["1", "left", "out"]
    assert "changed nothing in this model" in lines[-1]
    assert "FuseTIR" in lines[-1]


def test_level_0_keeps_the_batch_norm_as_arithmetic_and_level_3_folds_it(compiler, imported):
    _, ir = imported
    rows = {level: {one.name: one for one in compiler.explained(ir, level=level).passes} for level in (0, 3)}
    assert rows[0]["DecomposeOpsForInference"].changed is True
    assert rows[0]["FoldBatchnormToConv2D"].ran is False
    assert rows[3]["FoldBatchnormToConv2D"].changed is True
    assert rows[3]["DecomposeOpsForInference"].changed is False, "no batch norm is left for it"


@pytest.fixture(scope="module")
def branched(compiler, nets, tmp_path_factory):
    path = nets.branches(tmp_path_factory.mktemp("branches") / "branches.onnx")
    return path, compiler.imported(path)


def test_scales_behind_a_bias_go_into_the_weights_at_level_3(compiler, branched):
    path, ir = branched
    rows = {one.name: one for one in compiler.explained(ir, level=3).passes}
    assert rows["FoldBatchnormToConv2D"].changed is False, "it knows no bias between convolution and batch norm"
    assert rows["FoldScaleAxis"].changed is True
    # Seven sums and products behind the stem become one, the quotient behind the wide convolution a sum.
    assert rows["FoldConstant"].operators - rows["FoldScaleAxis"].operators == 4
    without = {one.name: one for one in compiler.explained(ir, level=3, disable=["FoldConstant"]).passes}
    assert without["FoldConstant"].ran is False
    for level in (2, 3):
        _, module = compiler.compiled(ir, level=level)
        assert parity.compare(expected(path, ir), answers(ir, module)).max_rel < 1e-5


@pytest.mark.parametrize("schedule", ["standard", "naive"])
def test_parallel_convolutions_become_one_at_level_4(compiler, branched, schedule):
    path, ir = branched
    rows = {one.name: one for one in compiler.explained(ir, level=4, schedule=schedule).passes}
    assert rows["CombineParallelConv2D"].changed is True
    # Three convolutions are one and three cuts; the one with other sides stays.
    assert rows["CombineParallelConv2D"].operators - rows["FoldScaleAxis"].operators == 1
    _, module = compiler.compiled(ir, level=4, schedule=schedule)
    assert parity.compare(expected(path, ir), answers(ir, module)).max_rel < 1e-5
