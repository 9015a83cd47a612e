"""Networks to CoreML by coremltools, run by DeltaNN's evaluator, held against PyTorch; damaged packages."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deltann_converter.tools.base import Options
from deltann_engines.base import load
from deltann_engines.describe import describe
from deltann_trainer.learner import learner

from deltann.errors import ModelError, NotFoundError
from deltann.kinds.train import Sgd
from deltann.networks import NETWORKS, TokenInput
from deltann.networks.initial import initial

pytestmark = pytest.mark.skipif(find_spec("coremltools") is None, reason="coremltools is not installed")


def made(name: str, folder: Path) -> tuple[Any, Path, Any]:
    """A network with seeded weights in PyTorch, its package, and the package's description."""
    from deltann_converter.tools.coreml import by_tracing

    network = NETWORKS[name]
    torch_side = learner("pytorch", network, Sgd())
    torch_side.load(initial(network, 3))
    path = torch_side.save(folder)
    package = by_tracing(path, describe(path, "pt2"), folder, Options())
    return torch_side, package.path, describe(package.path, "mlpackage")


@pytest.fixture(scope="module")
def lenet5(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path, Any]:
    return made("lenet5", tmp_path_factory.mktemp("lenet5"))


@pytest.mark.parametrize("name", ["lenet5", "resnet18", "lstm", "gru"])
def test_the_evaluator_answers_as_pytorch_does(name: str, tmp_path: Path) -> None:
    before, package, info = made(name, tmp_path)
    random = np.random.default_rng(7)
    shape = (3, *NETWORKS[name].input.shape)
    if isinstance(NETWORKS[name].input, TokenInput):
        x = random.integers(1, 5000, shape).astype(np.int32)
    else:
        x = random.random(shape, np.float32)
    expected = before.logits(x)
    fed = x if info.input.layout == "none" else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    with load("mil-reference", package, info) as session:
        rows = np.concatenate([session.run(fed[i : i + 1]) for i in range(len(fed))])
        assert session.used.library == "mil-reference (DeltaNN's evaluator, not CoreML)"
    assert np.abs(rows - expected).max() < 1e-4 * np.abs(expected).max()
    assert len(np.unique(rows.round(6), axis=0)) == 3


def test_the_coreml_engine_is_refused_on_linux(lenet5: tuple[Any, Path, Any]) -> None:
    _, package, info = lenet5
    with pytest.raises(NotFoundError, match=r"macOS alone.*pool"):
        load("coreml", package, info)


def test_damaged_packages_are_refused(lenet5: tuple[Any, Path, Any], tmp_path: Path) -> None:
    _, package, _ = lenet5
    home = Path("Data", "com.apple.CoreML")
    from deltann.modelfile import inspect

    assert inspect(package, "whole").format == "mlpackage"
    for number, (spoiled, words) in enumerate(
        [
            ("model.mlmodel", "truncated"),
            ("weights/weight.bin", "truncated"),
        ]
    ):
        copy = tmp_path / f"{number}.mlpackage"
        shutil.copytree(package, copy)
        os.truncate(copy / home / spoiled, (copy / home / spoiled).stat().st_size // 2)
        with pytest.raises(ModelError, match=words):
            inspect(copy, "cut")
    copy = tmp_path / "lost.mlpackage"
    shutil.copytree(package, copy)
    (copy / home / "weights" / "weight.bin").unlink()
    with pytest.raises(ModelError, match=r"weight\.bin"):
        inspect(copy, "lost")
    with pytest.raises(ModelError, match=r"weight\.bin|cannot be read"):
        describe(copy, "mlpackage")
