from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from deltann.errors import DataError, SpecError
from deltann.model import ModelInfo, Quantisation, TensorSpec
from deltann.preprocess.apply import apply, decode, to_model_input
from deltann.preprocess.recipes import READY, resolve_recipe
from deltann.preprocess.steps import CenterCrop, Channels, Normalise, RawBytes, Recipe, ResizeShorter


def png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def model(size: int = 224, layout: str = "NHWC") -> ModelInfo:
    shape = (None, size, size, 3) if layout == "NHWC" else (None, 3, size, size)
    return ModelInfo.model_validate(
        {
            "format": "onnx",
            "input": {"name": "x", "shape": shape, "dtype": "float32", "layout": layout},
            "output": {"name": "y", "shape": (None, 10), "dtype": "float32"},
            "output_kind": "logits",
        }
    )


def test_decode_gives_rgb_whatever_the_file_holds() -> None:
    grey = np.full((2, 3), 7, np.uint8)
    assert decode(png(grey)).tolist() == np.full((2, 3, 3), 7).tolist()


@pytest.mark.parametrize("data", [b"", b"no image", png(np.zeros((40, 40, 3), np.uint8))[:60]])
def test_a_corrupt_photo_is_a_data_error(data: bytes) -> None:
    with pytest.raises(DataError, match="not a readable image"):
        decode(data)


def test_steps_run_in_order_with_known_values() -> None:
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    recipe = Recipe(
        name="r",
        steps=(CenterCrop(height=2, width=2), Channels(order="bgr"), Normalise(mean=(1.0, 2.0, 3.0), std=(2.0,))),
    )
    expected = (image[1:3, 2:4, ::-1].astype(np.float32) - [1, 2, 3]) / 2
    result = apply(recipe, image)
    assert result.dtype == np.float32
    assert result == pytest.approx(expected)


def test_shorter_side_keeps_proportions() -> None:
    image = np.zeros((100, 250, 3), np.uint8)
    assert apply(Recipe(name="r", steps=(ResizeShorter(size=40),)), image).shape == (40, 100, 3)


def test_a_crop_larger_than_the_image_is_said() -> None:
    with pytest.raises(DataError, match="does not fit"):
        apply(Recipe(name="r", steps=(CenterCrop(height=9, width=9),)), np.zeros((4, 4, 3), np.uint8))


def test_raw_bytes_stay_bytes() -> None:
    image = np.full((2, 2, 3), 200, np.uint8)
    recipe = Recipe(name="r", steps=(RawBytes(),))
    assert apply(recipe, image).dtype == np.uint8
    spec = TensorSpec(
        name="x", shape=(1, 2, 2, 3), dtype="uint8", layout="NHWC", quantisation=Quantisation(scale=0.5, zero_point=1)
    )
    assert (to_model_input(apply(recipe, image), spec, raw=True) == 200).all()


def test_an_integer_input_is_quantised_rounded_and_saturated() -> None:
    spec = TensorSpec(name="x", shape=(1, 1, 3), dtype="int8", quantisation=Quantisation(scale=0.5, zero_point=-3))
    x = np.array([[0.0, 0.8, 1e6]], np.float32)
    assert to_model_input(x, spec).tolist() == [[[-3, -1, 127]]]


def test_layout_becomes_the_models() -> None:
    x = np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)
    moved = to_model_input(x, TensorSpec(name="x", shape=(1, 3, 2, 4), dtype="float32", layout="NCHW"))
    assert moved.shape == (1, 3, 2, 4)
    assert moved[0, 2, 1, 3] == x[1, 3, 2]


@pytest.mark.parametrize("name", [*READY])
@pytest.mark.parametrize("size", [224, 299, 32])
def test_ready_recipes_make_the_models_size(name: str, size: int) -> None:
    recipe = resolve_recipe(name, model(size))
    photo = np.random.default_rng(0).integers(0, 256, (90, 120, 3)).astype(np.uint8)
    assert apply(recipe, photo).shape == (size, size, 3)


def test_an_unknown_recipe_names_those_there_are() -> None:
    with pytest.raises(SpecError, match="efficientnet_lite"):
        resolve_recipe("imagnet", model())


def test_an_image_recipe_does_not_fit_a_vector() -> None:
    vector = model().model_copy(update={"input": TensorSpec(name="x", shape=(None, 16), dtype="float32")})
    with pytest.raises(SpecError, match="'none'"):
        resolve_recipe("tf", vector)
    assert resolve_recipe("none", vector).steps == ()
