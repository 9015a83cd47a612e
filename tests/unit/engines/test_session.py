import subprocess
import sys

import numpy as np
import pytest
from deltann_engines.base import Session, load, prepare

from deltann.engines import ENGINES
from deltann.errors import NotFoundError
from deltann.model import ENGINE_OF, ModelInfo, TensorSpec

INFO = ModelInfo(
    format="onnx",
    input=TensorSpec(name="x", shape=(None, 2, 3), dtype="float32"),
    output=TensorSpec(name="y", shape=(None, 6), dtype="float32"),
    output_kind="values",
)


class Doubling(Session):
    info = INFO
    closed = False

    def _run(self, x):
        return 2 * x.reshape(len(x), -1)

    def close(self):
        self.closed = True


def test_run_takes_any_batch_where_it_is_free():
    np.testing.assert_array_equal(Doubling().run(np.ones((5, 2, 3), np.float32)), np.full((5, 6), 2))


@pytest.mark.parametrize(
    "x",
    [np.ones((1, 3, 2), np.float32), np.ones((2, 3), np.float32), np.ones((1, 2, 3), np.float64)],
    ids=["shape", "no batch", "type"],
)
def test_run_refuses_what_the_model_does_not_take(x):
    with pytest.raises(ValueError, match=r"the model takes float32\[None, 2, 3\], not float"):
        Doubling().run(x)


def test_a_session_closes_as_a_context_manager():
    with Doubling() as session:
        assert not session.closed
    assert session.closed


def test_every_framework_has_an_engine_that_is_registered():
    assert set(ENGINE_OF.values()) <= set(ENGINES)


@pytest.mark.parametrize("use", [lambda: load("caffe", None, INFO), lambda: prepare("caffe")], ids=["load", "prepare"])
def test_an_unknown_engine_is_answered_with_those_there_are(use):
    with pytest.raises(NotFoundError, match="no engine 'caffe'; there are torch, keras"):
        use()


def test_importing_the_engines_imports_no_framework():
    code = (
        "import sys, importlib, deltann_engines.base as base, deltann_engines.describe, deltann_engines.parity\n"
        "names = [name.replace('-', '_') for name in base.ENGINES]\n"
        "[importlib.import_module(f'deltann_engines.{name}_engine') for name in names]\n"
        "heavy = {'torch', 'tensorflow', 'keras', 'onnx', 'onnxruntime', 'tvm', 'ai_edge_litert', 'openvino', 'iree'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
