"""A straight script over the photos of MobileNetV2: no DeltaNN, no queue, only the frameworks, Pillow and loops.

It answers in its own way what a sweep's report says, so that both can be held against each other.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.stats import kendalltau


def photos(folder: Path, n: int) -> list[tuple[str, Image.Image, int]]:
    """The first n photos in the order of labels.csv, with their labels."""
    with (folder / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[:n]
    return [(row["file"], Image.open(folder / row["file"]).convert("RGB"), int(row["label"])) for row in rows]


def centre_crop(photo: Image.Image) -> np.ndarray:
    """Shorter side 256 (bilinear), the middle 224 × 224, (x − 127.5) / 127.5; NHWC float32."""
    width, height = photo.size
    scale = 256 / min(width, height)
    photo = photo.resize((round(width * scale), round(height * scale)), Image.Resampling.BILINEAR)
    left, top = (photo.width - 224) // 2, (photo.height - 224) // 2
    return _scaled(photo.crop((left, top, left + 224, top + 224)))


def squash(photo: Image.Image) -> np.ndarray:
    """224 × 224 (bilinear) whatever the proportions, (x − 127.5) / 127.5; NHWC float32."""
    return _scaled(photo.resize((224, 224), Image.Resampling.BILINEAR))


def _scaled(photo: Image.Image) -> np.ndarray:
    return (np.asarray(photo, np.float32)[None] - 127.5) / 127.5


def top5(logits: np.ndarray) -> list[int]:
    """The five best of 1001 classes without the background class, ties to the lowest index."""
    return [int(i) for i in np.argsort(-logits[1:], kind="stable")[:5]]


def onnx_labels(model: Path, inputs: list[np.ndarray]) -> list[list[int]]:
    """Top-5 by ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    name, shape = session.get_inputs()[0].name, session.get_inputs()[0].shape
    nchw = shape[1] == 3
    return [top5(session.run(None, {name: x.transpose(0, 3, 1, 2) if nchw else x})[0][0]) for x in inputs]


def tflite_logits(model: Path, inputs: list[np.ndarray]) -> np.ndarray:
    """All 1001 logits of every input, by the TFLite interpreter on one thread."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(model), num_threads=1)
    interpreter.allocate_tensors()
    source, sink = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
    found = []
    for x in inputs:
        interpreter.set_tensor(source, x)
        interpreter.invoke()
        found.append(interpreter.get_tensor(sink)[0].copy())
    return np.array(found)


def accuracy(labels: list[list[int]], truth: list[int]) -> float:
    """Share of inputs whose first label is the right one."""
    return sum(row[0] == want for row, want in zip(labels, truth, strict=True)) / len(truth)


def disagreement(a: list[list[int]], b: list[list[int]]) -> float:
    """Share of inputs whose first labels differ."""
    return sum(x[0] != y[0] for x, y in zip(a, b, strict=True)) / len(a)


def jaccard(a: list[list[int]], b: list[list[int]]) -> float:
    """Mean over inputs of the shared part of both top-k sets."""
    return float(np.mean([len(set(x) & set(y)) / len(set(x) | set(y)) for x, y in zip(a, b, strict=True)]))


def rbo(a: list[list[int]], b: list[list[int]], p: float, depth: int) -> float:
    """Mean over inputs of extrapolated rank-biased overlap (Webber, Moffat and Zobel 2010, equation 32)."""

    def one(x: list[int], y: list[int]) -> float:
        shared = [len(set(x[:d]) & set(y[:d])) for d in range(1, depth + 1)]
        return shared[-1] / depth * p**depth + (1 - p) / p * math.fsum(s / d * p**d for d, s in enumerate(shared, 1))

    return float(np.mean([one(x, y) for x, y in zip(a, b, strict=True)]))


def kendall_tau(a: list[list[int]], b: list[list[int]]) -> float:
    """Mean over inputs of tau-b over the union of both lists, where what a list lacks comes after all it has."""

    def one(x: list[int], y: list[int]) -> float:
        union = sorted(set(x) | set(y))
        ranks = [[row.index(item) if item in row else len(row) for item in union] for row in (x, y)]
        return float(kendalltau(*ranks).statistic)

    return float(np.mean([one(x, y) for x, y in zip(a, b, strict=True)]))


def output_errors(a: np.ndarray, b: np.ndarray) -> dict[str, dict[str, float]]:
    """|a − b|, and that over max(|a|, 1e-6): mean and max over all inputs and classes but the background class."""
    a, b = a[:, 1:].astype(np.float64), b[:, 1:].astype(np.float64)
    error = np.abs(a - b)
    relative = error / np.maximum(np.abs(a), 1e-6)
    return {
        name: {"mean": float(values.mean()), "max": float(values.max())}
        for name, values in (("abs", error), ("rel", relative))
    }
