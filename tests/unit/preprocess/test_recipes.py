"""Ready recipes against the code that they stand for."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deltann.model import ModelInfo
from deltann.preprocess.apply import apply, decode
from deltann.preprocess.recipes import READY, resolve_recipe

os.environ["KERAS_BACKEND"] = "tensorflow"

MODULES = [name.removeprefix("keras_") for name in READY if name.startswith("keras_")]
INFO = ModelInfo.model_validate(
    {
        "format": "keras",
        "input": {"name": "x", "shape": (None, 24, 32, 3), "dtype": "float32", "layout": "NHWC"},
        "output": {"name": "y", "shape": (None, 10), "dtype": "float32"},
        "output_kind": "probabilities",
    }
)


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("photo") / "photo.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (45, 61, 3), np.uint8)).save(path)
    return path


@pytest.mark.parametrize("module", MODULES)
def test_a_keras_recipe_is_what_keras_does_to_a_photo(module: str, photo: Path) -> None:
    import keras

    own = np.array(keras.utils.load_img(photo, target_size=(24, 32)), np.float32)
    expected = importlib.import_module(f"keras.applications.{module}").preprocess_input(own)
    made = apply(resolve_recipe(f"keras_{module}", INFO), decode(photo.read_bytes()))
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-5)


def test_every_module_of_keras_applications_that_preprocesses_has_its_recipe() -> None:
    import keras

    names = {name for name in dir(keras.applications) if hasattr(getattr(keras.applications, name), "preprocess_input")}
    assert names - {"imagenet_utils"} == {*MODULES}
