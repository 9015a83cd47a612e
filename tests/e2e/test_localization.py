"""A converter's real silent fault, from a sweep's report and from the command line down to the node and the repair."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from .sweeps import sweep
from .tiny import save, write_photos

STUDY = """
schema: deltann.study/1
name: silent
models: [{name: tiny, natives: [{source: tiny.onnx}], preprocessing: [unit]}]
data: {source: photos}
conversions: {pairs: [[onnx, keras], [onnx, pytorch]], normalise: [false]}
engines: [own]
timing: null
"""


def network(path: Path) -> None:
    """With a pool that pads negative values: onnx2keras fills with 0 what should never be the maximum."""
    random = np.random.default_rng(1)
    weights = {
        "w": random.standard_normal((8, 3, 3, 3)).astype(np.float32),
        "b": (random.standard_normal(8) - 6).astype(np.float32),
        "v": random.standard_normal((8, 8, 3, 3)).astype(np.float32),
        "t": random.standard_normal(8).astype(np.float32),
        "d": random.standard_normal((8, 5)).astype(np.float32),
        "e": random.standard_normal(5).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1] * 4),
        helper.make_node("MaxPool", ["c"], ["p"], name="pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        helper.make_node("Conv", ["p", "v", "t"], ["s"], name="second", pads=[1] * 4),
        helper.make_node("Relu", ["s"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"], name="mean"),
        helper.make_node("Flatten", ["g"], ["f"], name="flat", axis=1),
        helper.make_node("Gemm", ["f", "d", "e"], ["y"], name="dense"),
    ]
    save(path, nodes, weights)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("silent")
    network(folder / "tiny.onnx")
    write_photos(folder / "photos", 12)
    (folder / "study.yaml").write_text(STUDY)
    return folder


@pytest.fixture(scope="module")
def swept(folder):
    return sweep(folder / "study.yaml", folder / "home", folder / "out")


def deltann(folder, *arguments):
    return subprocess.run(
        [Path(sys.executable).with_name("deltann"), *arguments], cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "DELTANN_HOME": str(folder / "home")},
    ).stdout  # fmt: skip


def test_the_report_names_the_pad_of_the_one_step_that_changed_the_model(swept):
    (fault,) = swept.report["faults"]
    assert (fault["step"], fault["followed"]) == ("onnx → keras", "tf2onnx")
    assert fault["conversions"] == ["tiny/onnx → keras (raw)"]
    assert len(fault["agreement"]["differing"]) > 6
    (suspect,) = fault["suspects"]
    assert (suspect["op_type"], suspect["kind"], suspect["source"]) == ("Pad", "value: other values", "p")
    (finding,) = [one for one in swept.report["findings"] if one["kind"] == "silent_conversion_fault"]
    assert f"Its node {suspect['node']} (Pad) is wrong by itself: value: other values." in finding["text"]


def test_the_page_shows_it(swept):
    page = (swept.folder / "report.html").read_text()
    section = page[page.index('<section id="faults"') :]
    section = section[: section.index("</section>")]
    assert section.count('class="own"') >= 5
    assert section.count("<figure>") >= 1
    assert "It pads with 0; -3.40282e+38 gives what the source has." in section


def test_the_commands_find_and_mend_it_too(folder, swept):
    deltann(folder, "convert", "tiny.onnx", "--to", "keras", "--raw", "--out", "converted")
    common = ("tiny.onnx", "converted", "--data", "photos", "--preprocess", "unit")
    found = json.loads(deltann(folder, "localize", *common, "--reproducers", "parts", "--json", "--tools"))
    assert [(one["op_type"], one["kind"]) for one in found["suspects"]] == [("Pad", "value: other values")]
    assert {one["tool"] for one in found["tools"]} >= {"onnx2keras"}
    ran = subprocess.run([sys.executable, folder / "parts/1/reproduce.py"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    errors = {name: float(error) for name, error in re.findall(r"(\w+)\.onnx: off by (\S+)", ran.stdout)}
    assert errors["model"] > 0.1
    assert max(errors["repaired"], errors["source"]) < 1e-5
    repaired = json.loads(deltann(folder, "repair", *common, "--out", "repaired.onnx", "--json"))
    assert len(repaired["before"]["differing"]) > 6
    assert (repaired["after"]["differing"], repaired["tvm"]["differing"]) == ([], [])
    told = deltann(folder, "localize", "tiny.onnx", "repaired.onnx", "--data", "photos", "--preprocess", "unit")
    assert "No node of the target is wrong: the conversion is sound." in told
