"""What a person gets for wrong input: one paragraph and exit code 2, from the real converter over the real queue."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from PIL import Image

STUDY = """
schema: deltann.study/1
name: bad
models:
  - name: m
    natives: [{{source: {model}}}]
    preprocessing: [{recipe}]
data: {{source: photos}}
engines: [own]
timing: null
"""


def network(path: Path) -> Path:
    graph = helper.make_graph(
        [helper.make_node("GlobalAveragePool", ["x"], ["p"]), helper.make_node("Flatten", ["p"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    network(tmp_path / "m.onnx")
    (tmp_path / "photos").mkdir()
    for index in range(3):
        Image.fromarray(np.full((9, 9, 3), 80 * index, np.uint8)).save(tmp_path / f"photos/{index}.png")
    return tmp_path


def run(folder: Path, model: str = "m.onnx", recipe: str = "unit") -> subprocess.CompletedProcess[str]:
    (folder / "bad.yaml").write_text(STUDY.format(model=model, recipe=recipe))
    return subprocess.run(
        [
            Path(sys.executable).with_name("deltann"),
            *("sweep", "run", folder / "bad.yaml", "--home", folder / "home", "--out", folder / "report"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Exit code 2, and a last paragraph of one line that holds the words."""
    assert done.returncode == 2, done.stdout + done.stderr
    (paragraph,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in paragraph


def test_a_truncated_model_is_named(folder: Path) -> None:
    whole = (folder / "m.onnx").read_bytes()
    (folder / "cut.onnx").write_bytes(whole[: len(whole) // 2])
    refused(run(folder, "cut.onnx"), "cut.onnx", "truncated")


def test_a_model_of_another_format_is_named(folder: Path) -> None:
    (folder / "wrong.tflite").write_bytes((folder / "m.onnx").read_bytes())
    refused(run(folder, "wrong.tflite"), "wrong.tflite", ".tflite")


def test_a_pickle_is_refused_and_never_read(folder: Path) -> None:
    (folder / "m.pkl").write_bytes(b"\x80\x04c__main__\nnothing\n.")
    refused(run(folder, "m.pkl"), "m.pkl", "pickle", "torch.export.save")


def test_code_is_not_run_unasked(folder: Path) -> None:
    refused(run(folder, "'os:getcwd'"), "os:getcwd", "--trust")


def test_a_mistyped_loader_is_refused_before_any_job(folder: Path) -> None:
    refused(run(folder, "efficientnet_lite"), "'efficientnet_lite'", "Did you mean efficientnet_lite0?")
    assert not list((folder / "home").rglob("results/*"))


def test_labels_that_do_not_match_the_photos(folder: Path) -> None:
    (folder / "photos/labels.csv").write_text("file,label\n0.png,0\n1.png,1\nelsewhere.png,2\n")
    refused(run(folder), "elsewhere.png", "labels.csv")


def test_no_photo_that_can_be_read(folder: Path) -> None:
    for path in (folder / "photos").iterdir():
        path.write_bytes(b"not a photo")
    refused(run(folder), "None of the 3 photos")


def test_more_classes_in_the_labels_than_in_the_model_are_said_in_the_report(folder: Path) -> None:
    (folder / "photos/labels.csv").write_text("file,label\n0.png,0\n1.png,1\n2.png,7\n")
    done = run(folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "report/findings.csv").read_text()
    assert "7" in page
    assert "class" in page


def test_what_was_computed_before_is_kept(folder: Path) -> None:
    assert run(folder).returncode == 0
    (folder / "photos/labels.csv").write_text("file,label\n0.png,0\n")
    refused(run(folder), "labels.csv")
    assert (folder / "report/report.json").exists()
