"""The steps that a recipe is made of, declared and validated. What each does is in ``apply.py``.

A recipe is a list of steps in order. Images begin as RGB uint8 [height, width, 3] out of one decoder (Pillow) and
every step until the end works in that layout; transposing to the model's own layout and quantising to its own input
type are done last, from the model's description, and are no steps of a recipe (except ``raw_bytes``, which is how a
person states that pixels are to be fed unscaled).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from deltann.base import Data

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos", "area"]


class ResizeShorter(Data):
    """Resize so that the shorter side has ``size`` pixels, keeping proportions."""

    op: Literal["resize_shorter"] = "resize_shorter"
    size: int = Field(ge=1, le=8192)
    interpolation: Interpolation = "bilinear"


class Resize(Data):
    """Squash to height × width, whatever the proportions."""

    op: Literal["resize"] = "resize"
    height: int = Field(ge=1, le=8192)
    width: int = Field(ge=1, le=8192)
    interpolation: Interpolation = "bilinear"


class CenterCrop(Data):
    """Cut height × width from the middle; an error where the image is smaller."""

    op: Literal["center_crop"] = "center_crop"
    height: int = Field(ge=1, le=8192)
    width: int = Field(ge=1, le=8192)


class Channels(Data):
    """Order of the colour channels: ``bgr`` reverses them."""

    op: Literal["channels"] = "channels"
    order: Literal["rgb", "bgr"] = "rgb"


class Normalise(Data):
    """(x − mean) / std, per channel or one number for all, in pixel values 0..255."""

    op: Literal["normalise"] = "normalise"
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)


class RawBytes(Data):
    """Feed the pixel values as they are, cast to the model's input type without its scale and zero point."""

    op: Literal["raw_bytes"] = "raw_bytes"


RecipeStep = Annotated[ResizeShorter | Resize | CenterCrop | Channels | Normalise | RawBytes, Field(discriminator="op")]


class Recipe(Data):
    """A named list of steps. Tensors and tokens that are ready to feed have an empty one."""

    name: str
    steps: tuple[RecipeStep, ...] = ()
