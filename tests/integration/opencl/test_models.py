"""Six networks as our compiler makes them for OpenCL, against the same for llvm."""

import numpy as np
import pytest
import tvm
from deltann_compiler import frontends
from deltann_compiler.build import export, lower
from deltann_compiler.compiling import target_of
from deltann_compiler.targets import needs_of
from deltann_engines import parity
from deltann_engines.base import load
from six_models import MODELS

from deltann.kinds.compile import CompileParams

LEVEL = 3


@pytest.fixture
def model(converter):
    """The file of a model that TVM reads, and its description with a batch of 1."""

    def made(source):
        import torchvision  # noqa: F401  (before TensorFlow)

        native = converter.call("resolve_model", {"source": source})
        if source.startswith("keras:"):
            native = converter.step(native, "onnx", parity_inputs=1)
        info = native.data.info
        fixed = info.input.model_copy(update={"shape": (1, *info.input.shape[1:])})
        path = converter.store.materialise(native.artifacts["model"], converter.cache)
        return path, info, info.model_copy(update={"input": fixed})

    return made


@pytest.mark.parametrize("name", MODELS)
def test_a_model_answers_as_on_llvm(model, tmp_path, name):
    path, native, info = model(MODELS[name])
    x, answers = parity.seeded_inputs(info, 2, 1), {}
    for named in ("host", "opencl"):
        params = CompileParams(target=named, level=LEVEL)
        target = target_of(params)
        lowered, _ = lower(frontends.load(path, native)[0], params, target)
        assert lowered.unscheduled == []
        export(lowered.module, target, tmp_path / f"{named}.so", needs_of(named, target))
        with load("tvm", tmp_path / f"{named}.so", info) as session:
            answers[named] = parity.outputs(session, x)
            on = session.device
    assert on == tvm.device("opencl", 0).device_name
    found = parity.compare(answers["host"], answers["opencl"])
    print(name, found)
    assert found.top1_agreement == 1
    assert found.max_rel < 1e-4
    assert np.isfinite(answers["opencl"]).all()
