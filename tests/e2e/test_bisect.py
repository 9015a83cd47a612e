"""A sweep whose study asks for what makes precisions answer differently, through the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from .sweeps import Swept, sweep
from .tiny import save, write_photos

pytestmark = pytest.mark.bisect

STUDY = """
schema: deltann.study/1
name: bisected
models:
  - name: tiny
    natives: [{source: tiny.onnx}]
    preprocessing: [unit]
data: {source: photos}
engines: [tvm]
compile: {levels: [0, 2], precisions: [fp32, fp16]}
compare: {bisect: true}
timing: null
"""


def network(path: Path) -> None:
    """A large number is added by a convolution and taken away again: float16 has no room for what is left."""
    random = np.random.default_rng(1)
    weights = {
        "w": random.standard_normal((8, 3, 3, 3)).astype(np.float32),
        "b": np.full(8, 2000, np.float32),
        "large": np.full((1, 8, 1, 1), 2000, np.float32),
        "d": random.standard_normal((8, 5)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="plus", pads=[1, 1, 1, 1]),
        helper.make_node("Sub", ["c", "large"], ["s"], name="minus"),
        helper.make_node("Relu", ["s"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"], name="pool"),
        helper.make_node("Flatten", ["g"], ["f"], name="flat", axis=1),
        helper.make_node("MatMul", ["f", "d"], ["y"], name="dense"),
    ]
    save(path, nodes, weights)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    folder = tmp_path_factory.mktemp("bisected")
    network(folder / "tiny.onnx")
    write_photos(folder / "photos", 6)
    (folder / "study.yaml").write_text(STUDY)
    return sweep(folder / "study.yaml", folder / "home", folder / "report")


def test_precisions_that_differ_are_explained_and_levels_that_agree_are_not(swept: Swept) -> None:
    assert swept.exit_code == 0, swept.printed
    found = [one for one in swept.report["findings"] if one["kind"] == "bisected"]
    assert len(found) == 2, "at either level"
    for one in found:
        assert "by ToMixedPrecision. It shows on Conv plus, Sub minus alone: a relative error of" in one["text"]
        assert one["variants"][1].startswith(one["variants"][0].removesuffix("fp32"))
        assert one["variants"][1].endswith("fp16")
        assert one["value"] > 1e-3
        assert one["inputs"]


def test_what_reproduces_it_lies_in_the_report_and_does(swept: Swept) -> None:
    scripts = sorted((swept.folder / "reproducers").glob("*/*/reproduce.py"))
    assert len(scripts) == 2
    done = subprocess.run([sys.executable, scripts[0]], capture_output=True, text=True, check=False)
    assert (done.returncode, "it differs" in done.stdout) == (1, True), done.stderr
