"""onnxruntime-web in a real headless Chromium: answers as ONNX Runtime's outside, and crashes that are findings."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import psutil
import pytest
from deltann_engines.base import load, prepare
from deltann_engines.describe import describe
from deltann_engines.onnxruntime_web_engine import WebSession
from deltann_engines.web.browser import BrowserError
from onnx import TensorProto, helper, numpy_helper, save

from deltann.installed import find_chromium, modules
from deltann.model import ModelInfo, TensorSpec
from deltann.preprocess.apply import apply, decode, to_model_input
from deltann.preprocess.recipes import resolve_recipe

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODELS = SHARED / "data/models/mobilenet_v2"

pytestmark = pytest.mark.skipif(
    find_chromium() is None or not (modules() / "onnxruntime-web").is_dir(),
    reason="needs Chromium and the npm module onnxruntime-web: run tools/web.sh (make test-web)",
)
INFO = ModelInfo(
    format="onnx",
    input=TensorSpec(name="x", shape=(1, 3, 8, 8), dtype="float32"),
    output=TensorSpec(name="y", shape=(1, 4, 6, 6), dtype="float32"),
    output_kind="values",
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A convolution and a ReLU."""
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 6, 6])],
        [numpy_helper.from_array(weights, "w")],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


@pytest.mark.parametrize("threads", [1, 2])
def test_answers_equal_those_outside_the_browser(model: Path, threads: int) -> None:
    x = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)
    with load("onnxruntime", model, INFO) as outside:
        expected = outside.run(x)
    with load("onnxruntime-web", model, INFO, threads) as session:
        assert isinstance(session, WebSession)
        np.testing.assert_allclose(session.run(x), expected, rtol=1e-5, atol=1e-5)
        assert session.isolated
        assert 0 <= session.time(x) < 1e9
        assert session.used.library == "ort-wasm-simd-threaded; " + ("1 thread", "2 threads")[threads - 1]
        assert "Chrome/" in session.device


@pytest.mark.parametrize("victim", ["renderer", "browser"])
def test_a_browser_that_crashes_is_an_error_that_says_so(model: Path, victim: str) -> None:
    with load("onnxruntime-web", model, INFO) as session:
        assert isinstance(session, WebSession)
        browser = psutil.Process(session.browser.process.pid)
        renderers = [one for one in browser.children(recursive=True) if "--type=renderer" in one.cmdline()]
        assert renderers
        for one in renderers if victim == "renderer" else [browser]:
            one.kill()
        with pytest.raises(BrowserError, match="crashed"):
            session.run(np.zeros((1, 3, 8, 8), np.float32))


def test_a_long_path_for_temporary_files_is_none_of_the_browsers(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))  # which Python reads from TMPDIR once only
    monkeypatch.setenv("TMPDIR", str(long))
    with load("onnxruntime-web", model, INFO) as session:
        assert session.run(np.zeros((1, 3, 8, 8), np.float32)).shape[0] == 1


def test_a_page_that_hangs_is_given_up(model: Path) -> None:
    with load("onnxruntime-web", model, INFO) as session:
        assert isinstance(session, WebSession)
        session.browser._answer_s = 1.0
        with pytest.raises(BrowserError, match="did not answer within 1 s"):
            session.browser.evaluate("(() => { for (;;) {} })()")


def test_a_module_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DELTANN_WEB", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"run tools/web\.sh"):
        prepare("onnxruntime-web")


@pytest.mark.skipif(not MODELS.exists(), reason=f"the shared MobileNetV2 is not at {MODELS} (DELTANN_SHARED)")
def test_mobilenet_names_the_same_classes_on_photos() -> None:
    path, photos = MODELS / "mobilenet_v2.onnx", sorted((SHARED / "data/images").rglob("*.jpg"))[:5]
    info = describe(path, "onnx")
    recipe = resolve_recipe("tf", info)
    inputs = [to_model_input(apply(recipe, decode(photo.read_bytes())), info.input) for photo in photos]
    assert len(inputs) == 5
    with load("onnxruntime", path, info) as outside, load("onnxruntime-web", path, info) as inside:
        for x in inputs:
            expected, found = outside.run(x), inside.run(x)
            np.testing.assert_allclose(found, expected, atol=1e-4 * float(np.abs(expected).max()))
            assert found.argmax() == expected.argmax()
