"""Small data that LeNet-5 and an LSTM learn in a few epochs, and a study that trains both in both frameworks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

STUDY = """
schema: deltann.study/1
name: trained
data: {source: digits.npz, part: test, limit: 40}
models:
  - name: lenet5
    preprocessing: [none]
    train: {network: lenet5, instances: 2, epochs: 3, batch: 32, optimiser: {kind: sgd, learning_rate: 0.05}}
  - name: lstm
    preprocessing: [none]
    data: {source: text, part: test, limit: 30, seed: 1}
    train: {network: lstm, epochs: 5, batch: 32, optimiser: {kind: adam, learning_rate: 0.01}}
conversions: {pairs: [[keras, onnx], [pytorch, onnx]]}
engines: [own]
timing: null
gates: {max_disagreement: 0.0, axes: [conversion]}
"""


LONG = """
schema: deltann.study/1
name: long
data: {source: digits.npz, part: test, limit: 10}
models:
  - name: lenet5
    preprocessing: [none]
    train: {network: lenet5, frameworks: [pytorch], epochs: 60, batch: 32}
engines: [own]
timing: null
"""


def write_digits(path: Path, n: int) -> None:
    """float32 [n, 28, 28, 1]: class c is a bright square at the place c of a grid, under noise."""
    random = np.random.default_rng(0)
    y = np.arange(n) % 10
    x = random.random((n, 28, 28, 1), np.float32) * 0.3
    for row, label in enumerate(y):
        top, left = 2 + 13 * (label // 5), 1 + 5 * (label % 5)
        x[row, top : top + 8, left : left + 5] += 0.6
    np.savez(path, x=x, y=y)


def write_text(folder: Path, n: int) -> None:
    """Sentences of eight words, of which one tells the class."""
    random = np.random.default_rng(0)
    folder.mkdir()
    for ending, word in ((".neg", "dull"), (".pos", "fine")):
        lines = []
        for _ in range(n // 2):
            words = [f"w{number}" for number in random.integers(0, 50, 7)]
            words.insert(int(random.integers(0, 8)), word)
            lines.append(" ".join(words))
        (folder / f"reviews{ending}").write_text("\n".join(lines) + "\n")


def write_study(folder: Path, *, long: bool = False) -> Path:
    """Data and study in a folder: the path of the study. A long one is of a single training that takes its time."""
    write_digits(folder / "digits.npz", 400)
    write_text(folder / "text", 400)
    path = folder / ("long.yaml" if long else "trained.yaml")
    path.write_text(LONG if long else STUDY)
    return path
