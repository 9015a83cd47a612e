"""What a process keeps of a module that it has run: nothing, since a warm child runs thousands of them."""

import gc
from pathlib import Path

import numpy as np
from deltann_compiler import frontends
from deltann_compiler.build import build_plain
from deltann_engines.base import load
from deltann_engines.describe import describe


def mapped(library):
    return str(library) in Path("/proc/self/maps").read_text()


def test_a_module_leaves_memory_with_its_session_and_its_answers_stay(nets, tmp_path):
    path = nets.mixed(tmp_path / "net.onnx")
    info = describe(path, "onnx")
    library = build_plain(frontends.load(path, info)[0], tmp_path)
    x = np.random.default_rng(0).standard_normal((1, 3, 16, 16)).astype(np.float32)
    with load("tvm", library, info) as session:
        answer = session.run(x)
        before = answer.copy()
        assert mapped(library)
    del session
    gc.collect()
    assert not mapped(library)
    np.testing.assert_array_equal(answer, before)
    with load("tvm", library, info) as session:
        np.testing.assert_array_equal(session.run(x), before)
