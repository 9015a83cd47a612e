"""What the steps of a recipe do, and the last step into a model's own layout and type."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from deltann.errors import DataError
from deltann.model import TensorSpec
from deltann.preprocess.steps import (
    CenterCrop,
    Channels,
    Interpolation,
    Normalise,
    RawBytes,
    Recipe,
    Resize,
    ResizeShorter,
)

Array = NDArray[Any]

_FILTERS: dict[Interpolation, Image.Resampling] = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
    "area": Image.Resampling.BOX,
}


def decode(data: bytes) -> NDArray[np.uint8]:
    """Pixels of a photo: uint8 [height, width, 3], RGB.

    The one decoder of DeltaNN (Pillow), so that variants never differ by their decoders. The orientation that EXIF
    may state is ignored, as the frameworks' own loaders do.

    Raises:
        DataError: if the bytes are no whole image.
    """
    try:
        with Image.open(io.BytesIO(data)) as image:
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DataError(f"not a readable image: {error}") from error


def apply(recipe: Recipe, image: NDArray[np.uint8]) -> Array:
    """Run an image through a recipe.

    Args:
        recipe: steps in order.
        image: uint8 [height, width, 3], RGB.

    Returns:
        [height, width, 3], float32, or uint8 where the recipe ends in ``raw_bytes``.

    Raises:
        DataError: if a crop is larger than the image.
    """
    pixels: Array = image
    for step in recipe.steps:
        match step:
            case ResizeShorter():
                height, width = pixels.shape[:2]
                scale = step.size / min(height, width)
                pixels = _resize(pixels, round(height * scale), round(width * scale), step.interpolation)
            case Resize():
                pixels = _resize(pixels, step.height, step.width, step.interpolation)
            case CenterCrop():
                pixels = _crop(pixels, step.height, step.width)
            case Channels():
                pixels = pixels[..., ::-1] if step.order == "bgr" else pixels
            case Normalise():
                pixels = (pixels.astype(np.float32) - np.array(step.mean, np.float32)) / np.array(step.std, np.float32)
            case RawBytes():
                return np.ascontiguousarray(pixels)
    return np.ascontiguousarray(pixels, dtype=np.float32)


def _resize(pixels: Array, height: int, width: int, interpolation: Interpolation) -> Array:
    if pixels.shape[:2] == (height, width):
        return pixels
    if pixels.dtype != np.uint8:
        raise DataError("a resize has to come before the step that makes pixels into floats")
    return np.asarray(Image.fromarray(pixels).resize((width, height), _FILTERS[interpolation]))


def _crop(pixels: Array, height: int, width: int) -> Array:
    have_height, have_width = pixels.shape[:2]
    if height > have_height or width > have_width:
        raise DataError(f"a crop of {height} × {width} does not fit into an image of {have_height} × {have_width}")
    top, left = (have_height - height) // 2, (have_width - width) // 2
    return pixels[top : top + height, left : left + width]


def is_raw(recipe: Recipe) -> bool:
    """Whether a recipe ends in raw bytes, which are cast to the input's type without scale and zero point."""
    return any(isinstance(step, RawBytes) for step in recipe.steps)


def to_model_input(x: Array, spec: TensorSpec, *, raw: bool = False) -> Array:
    """One input as the model takes it: batch of 1, its own layout, its own type.

    Args:
        x: [height, width, channels] for images; the input itself, without batch, otherwise.
        spec: the model's input.
        raw: cast only. Otherwise integer inputs are quantised: round(x / scale) + zero_point, saturated.
    """
    if spec.layout == "NCHW":
        x = x.transpose(2, 0, 1)
    dtype = np.dtype(spec.dtype)
    if spec.quantisation is not None and not raw and np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        stored = np.round(x / spec.quantisation.scale) + spec.quantisation.zero_point
        x = np.clip(stored, limits.min, limits.max)
    return np.ascontiguousarray(x[None], dtype=dtype)
