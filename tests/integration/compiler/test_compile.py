"""Modules of every level against ONNX Runtime."""

import numpy as np
import pytest
from deltann_compiler.levels import passes_of
from deltann_engines import parity
from deltann_engines.base import load
from deltann_engines.describe import describe

from deltann.errors import JobFailure
from deltann.kinds.compile import CompileParams
from deltann.outcome import Outcome


def reference(path, x):
    with load("onnxruntime", path, describe(path, "onnx")) as session:
        return parity.outputs(session, x)


@pytest.fixture(scope="module")
def imports(compiler, nets, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    made = {name: getattr(nets, name)(folder / f"{name}.onnx") for name in ("mixed", "odd", "saturated")}
    return {name: (path, compiler.imported(path)) for name, path in made.items()}


@pytest.mark.parametrize("level", range(5))
@pytest.mark.parametrize("name", ["mixed", "odd", "saturated"])
def test_every_level_answers_as_onnx_runtime(compiler, imports, name, level):
    path, imported = imports[name]
    assert imported.outcome is Outcome.OK
    produced, module = compiler.compiled(imported, level=level)
    x = parity.seeded_inputs(imported.data.info, 3, 5)
    with load("tvm", module, imported.data.info) as session:
        found = parity.compare(reference(path, x), parity.outputs(session, x))
    assert found.n == 3
    assert found.max_rel < 1e-5
    data = produced.data
    assert data.unscheduled == []
    ran = [one.name for one in passes_of(CompileParams(level=level))]
    assert [name for name in data.passes if name != "CPUSchedule"] == ran
    assert data.passes.index("CPUSchedule") == data.passes.index("DeadCodeElimination") + 1
    assert data.size_bytes == module.stat().st_size
    assert 0 < data.cpu_seconds < 60


def test_fusion_merges_kernels(compiler, imports):
    kernels = [compiler.compiled(imports["mixed"][1], level=level)[0].data.kernels for level in (0, 1)]
    assert kernels[1] < kernels[0]


@pytest.mark.parametrize("wish", [{"precision": "int4"}, {"schedule": "tuned"}, {"target": "toaster"}])
def test_what_is_not_built_is_a_failure_that_names_it(compiler, imports, wish):
    with pytest.raises(JobFailure) as failure:
        compiler.compiled(imports["odd"][1], level=1, **wish)
    assert failure.value.outcome is Outcome.COMPILE_FAILED
    assert next(iter(wish.values())) in failure.value.message


@pytest.fixture(scope="module")
def mobilenet_import(compiler, mobilenet):
    path = mobilenet / "mobilenet_v2.onnx"
    return path, compiler.imported(path, parity_inputs=1)


def test_mobilenet_is_scheduled_whole_and_keeps_its_answers_with_one_thread_and_two(compiler, mobilenet_import):
    path, imported = mobilenet_import
    assert imported.outcome is Outcome.OK
    assert imported.data.info.input.shape[0] == 1
    produced, module = compiler.compiled(imported, level=3)
    assert produced.data.unscheduled == []
    x = parity.seeded_inputs(imported.data.info, 2, 3)
    expected = reference(path, x)
    for threads in (1, 2):
        with load("tvm", module, imported.data.info, threads) as session:
            found = parity.compare(expected, parity.outputs(session, x))
        assert found.top1_agreement == 1
        assert found.max_rel < 1e-4


def test_mobilenets_schedule_holds_against_plain_loops_in_the_layout_of_the_source(compiler, mobilenet_import):
    _, imported = mobilenet_import
    x = parity.seeded_inputs(imported.data.info, 2, 3)
    answers = {}
    for schedule in ("naive", "standard"):
        produced, module = compiler.compiled(imported, level=3, schedule=schedule)
        assert ("ConvertLayout" in produced.data.passes) is (schedule == "standard")
        assert produced.data.passes[-1] == {"naive": "PlainLoops", "standard": "CPUSchedule"}[schedule]
        with load("tvm", module, imported.data.info) as session:
            answers[schedule] = parity.outputs(session, x)
    found = parity.compare(answers["naive"], answers["standard"])
    assert found.top1_agreement == 1
    assert 0 < found.max_rel < 1e-4


def test_mobilenets_levels_store_its_weights_once(compiler, mobilenet_import):
    def stored():
        return sum(path.stat().st_size for path in (compiler.store.root / "pieces").rglob("*") if path.is_file())

    before = stored()
    sizes = [compiler.compiled(mobilenet_import[1], level=level)[0].data.size_bytes for level in range(5)]
    assert min(sizes) > 13e6
    assert stored() - before < 1.4 * max(sizes)


def _placed(x, offset=0):
    """A copy whose bytes begin so many behind a multiple of 64."""
    room = np.zeros(x.nbytes + 128, np.uint8)
    begin = -room.ctypes.data % 64 + offset
    place = room[begin : begin + x.nbytes].view(x.dtype).reshape(x.shape)
    place[...] = x
    return place


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda x: _placed(x[:, :, 1:]), "shape"),
        (lambda x: _placed(x.astype(np.float64)), "dtype"),
        (lambda x: _placed(x.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2), "not contiguous"),
        (lambda x: _placed(x, offset=4), "not aligned"),
    ],
    ids=["shape", "dtype", "strides", "alignment"],
)
def test_what_a_caller_gives_is_checked_though_kernels_check_nothing(compiler, imports, wrong, told):
    import tvm
    from deltann_engines.tvm_engine import open_machine

    from deltann.engines import EngineOptions

    path, imported = imports["mixed"]
    machine, _ = open_machine(compiler.compiled(imported, level=2)[1], 1, EngineOptions())
    x = parity.seeded_inputs(describe(path, "onnx"), 1, seed=1)
    machine["main"](tvm.runtime.from_dlpack(_placed(x)))
    with pytest.raises((RuntimeError, ValueError), match=told):
        machine["main"](tvm.runtime.from_dlpack(wrong(x)))


def test_a_resize_that_tvm_imports_wrongly_is_a_mismatch_and_still_compiles(compiler, nets, tmp_path):
    imported = compiler.imported(nets.resized(tmp_path / "resized.onnx"))
    assert imported.outcome is Outcome.IMPORT_MISMATCH
    assert imported.data.parity.max_rel > 1e-3
    assert f"{imported.data.parity.max_rel:.2g}" in imported.error.message
    produced, _ = compiler.compiled(imported, level=0)
    assert np.isfinite(produced.data.cpu_seconds)


def test_an_operator_that_tvm_lacks_is_named(compiler, nets, tmp_path):
    with pytest.raises(JobFailure) as failure:
        compiler.imported(nets.unsupported(tmp_path / "unsupported.onnx"))
    assert failure.value.outcome is Outcome.COMPILE_FAILED
    assert failure.value.stage == "import"
    assert "Det 'b'" in failure.value.message
