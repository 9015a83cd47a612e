"""A tiny network with seeded weights, seven photos (the last one corrupt), and a study of them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

STUDY = """
schema: deltann.study/1
name: tiny
models:
  - name: tiny
    natives: [{source: tiny.onnx}]
    preprocessing: [unit, unit_squash]
recipes:
  - name: unit_squash
    steps: [{op: resize, height: 16, width: 16}, {op: normalise, std: [255]}]
data: {source: photos}
conversions: {pairs: [[onnx, pytorch], [onnx, tflite]]}
compile: {levels: [0, 4]}
timing: {inputs: 2, repeats: 3}
gates: {max_disagreement: 0.0}
"""


def network(path: Path, channels: int = 8) -> None:
    """Convolution to so many channels, ReLU, global pool and a dense layer, with seeded weights."""
    random = np.random.default_rng(1)
    weights = {
        "w": random.standard_normal((channels, 3, 3, 3)).astype(np.float32),
        "b": random.standard_normal(channels).astype(np.float32),
        "d": random.standard_normal((channels, 5)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"], axis=1),
        helper.make_node("MatMul", ["f", "d"], ["y"]),
    ]
    save(path, nodes, weights)


def save(path: Path, nodes: Sequence[onnx.NodeProto], weights: Mapping[str, np.ndarray]) -> None:
    """Write nodes from ``x``, an image of 16 × 16, to ``y``, five numbers, as a model."""
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)


def write_photos(folder: Path, count: int) -> None:
    """Seeded noise as photos, with labels."""
    folder.mkdir()
    random = np.random.default_rng(2)
    with (folder / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "label"])
        for index in range(count):
            Image.fromarray(random.integers(0, 256, (20, 30, 3)).astype(np.uint8)).save(folder / f"{index:04d}.png")
            rows.writerow([f"{index:04d}.png", index % 5])


def write_study(folder: Path, name: str = "tiny.yaml") -> Path:
    """Network, photos and study in a folder: the path of the study."""
    network(folder / "tiny.onnx")
    write_photos(folder / "photos", 7)
    last = folder / "photos" / "0006.png"
    last.write_bytes(last.read_bytes()[:200])
    (folder / name).write_text(STUDY)
    return folder / name
