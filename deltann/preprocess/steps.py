"""The steps that a recipe is made of, declared and validated. What each does is in ``apply.py``.

A recipe is a list of steps in order. Images begin as RGB uint8 [height, width, 3] out of one decoder (Pillow) and
every step until the end works in that layout; transposing to the model's own layout and quantising to its own input
type are done last, from the model's description, and are no steps of a recipe (except ``raw_bytes``, which is how a
person states that pixels are to be fed unscaled).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from deltann.base import Data

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos", "area"]


def _say_op(schema: dict[str, Any]) -> None:
    """Code may leave the default; in what is written, ``op`` tells the steps apart."""
    schema["required"] = ["op", *schema.get("required", ())]


class Step(Data):
    """What all steps have in common."""

    model_config = Data.model_config | {"json_schema_extra": _say_op}


class ResizeShorter(Step):
    """Resize so that the shorter side has ``size`` pixels, keeping proportions."""

    op: Literal["resize_shorter"] = "resize_shorter"
    size: int = Field(ge=1, le=8192)
    interpolation: Interpolation = "bilinear"


class Resize(Step):
    """Squash to height × width, whatever the proportions."""

    op: Literal["resize"] = "resize"
    height: int = Field(ge=1, le=8192)
    width: int = Field(ge=1, le=8192)
    interpolation: Interpolation = "bilinear"


class CenterCrop(Step):
    """Cut height × width from the middle; an error where the image is smaller."""

    op: Literal["center_crop"] = "center_crop"
    height: int = Field(ge=1, le=8192)
    width: int = Field(ge=1, le=8192)


class Channels(Step):
    """Order of the colour channels: ``bgr`` reverses them."""

    op: Literal["channels"] = "channels"
    order: Literal["rgb", "bgr"] = "rgb"


def _per_channel(values: tuple[float, ...]) -> tuple[float, ...]:
    if len(values) == 2:
        raise PydanticCustomError("channels", "should have one number, or one for each of the 3 channels")
    return values


class Normalise(Step):
    """(x − mean) / std, per channel or one number for all, in pixel values 0..255."""

    op: Literal["normalise"] = "normalise"
    mean: Annotated[tuple[float, ...], Field(min_length=1, max_length=3), AfterValidator(_per_channel)] = (0.0,)
    std: Annotated[
        tuple[Annotated[float, Field(ge=1e-6)], ...],
        Field(min_length=1, max_length=3),
        AfterValidator(_per_channel),
    ] = (1.0,)

    model_config = Step.model_config | {"allow_inf_nan": False}


class RawBytes(Step):
    """Feed the pixel values as they are, cast to the model's input type without its scale and zero point."""

    op: Literal["raw_bytes"] = "raw_bytes"


RecipeStep = Annotated[ResizeShorter | Resize | CenterCrop | Channels | Normalise | RawBytes, Field(discriminator="op")]


def _raw_last(steps: tuple[RecipeStep, ...]) -> tuple[RecipeStep, ...]:
    if any(step.op == "raw_bytes" for step in steps[:-1]):
        raise PydanticCustomError("raw_bytes", "should end in raw_bytes, which feeds the pixels as they are")
    if steps and steps[-1].op == "raw_bytes" and any(step.op == "normalise" for step in steps):
        raise PydanticCustomError("raw_bytes", "should not have both normalise and raw_bytes, which undoes it")
    return steps


class Recipe(Data):
    """A named list of steps. Tensors and tokens that are ready to feed have an empty one."""

    name: str = Field(min_length=1, max_length=64)
    steps: Annotated[tuple[RecipeStep, ...], AfterValidator(_raw_last)] = ()
