"""Ready recipes by name. Sizes are the model's own: a recipe is made for the input that it feeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltann.errors import SpecError
from deltann.model import ModelInfo
from deltann.preprocess.steps import (
    CenterCrop,
    Channels,
    Normalise,
    RawBytes,
    Recipe,
    RecipeStep,
    Resize,
    ResizeShorter,
)

Size = tuple[int, int]
"""Height and width in pixels."""

IMAGENET_MEAN = (123.675, 116.28, 103.53)
IMAGENET_STD = (58.395, 57.12, 57.375)
CAFFE_MEAN = (103.939, 116.779, 123.68)


def _crop(size: Size) -> tuple[RecipeStep, ...]:
    """The usual evaluation crop: shorter side 256 for 224 (in that proportion), bilinear, then the middle."""
    height, width = size
    return (ResizeShorter(size=round(max(size) * 256 / 224)), CenterCrop(height=height, width=width))


def _squash(size: Size) -> tuple[RecipeStep, ...]:
    height, width = size
    return (Resize(height=height, width=width),)


_HALF = Normalise(mean=(127.5,), std=(127.5,))

READY: dict[str, Callable[[Size], tuple[RecipeStep, ...]]] = {
    "tf": lambda size: (*_crop(size), _HALF),
    "tf_squash": lambda size: (*_squash(size), _HALF),
    "torchvision": lambda size: (*_crop(size), Normalise(mean=IMAGENET_MEAN, std=IMAGENET_STD)),
    "torchvision_squash": lambda size: (*_squash(size), Normalise(mean=IMAGENET_MEAN, std=IMAGENET_STD)),
    "caffe": lambda size: (*_crop(size), Channels(order="bgr"), Normalise(mean=CAFFE_MEAN)),
    "efficientnet_lite": lambda size: (*_crop(size), Normalise(mean=(127.0,), std=(128.0,))),
    "unit": lambda size: (*_crop(size), Normalise(std=(255.0,))),
    "pixels": _crop,
    "raw_bytes": lambda size: (*_crop(size), RawBytes()),
    "raw_bytes_squash": lambda size: (*_squash(size), RawBytes()),
}
"""Recipes for images. ``none``, for tensors and tokens that are ready to feed, needs no size and stands apart."""

NAMES: tuple[str, ...] = (*READY, "none")


def resolve_recipe(wanted: str | Recipe, info: ModelInfo, own: Sequence[Recipe] = ()) -> Recipe:
    """The concrete recipe that a study names for a model.

    Args:
        wanted: a ready name, the name of one of the study's own recipes, or a recipe.
        info: the model; its input size decides the sizes of a ready recipe.
        own: the study's recipes, which come before the ready ones.

    Raises:
        SpecError: for an unknown name, or an image recipe for a model whose input is no image of known size.
    """
    if isinstance(wanted, Recipe):
        return wanted
    for recipe in own:
        if recipe.name == wanted:
            return recipe
    if wanted == "none":
        return Recipe(name="none")
    if wanted not in READY:
        raise SpecError(f"There is no preprocessing {wanted!r}. There are {', '.join(NAMES)}, and the study's recipes.")
    if info.image_size is None:
        raise SpecError(
            f"Preprocessing {wanted!r} makes images, but the model's input is {info.input.dtype}"
            f"{list(info.input.shape)}. Use 'none' for inputs that are ready to feed, or declare input_layout."
        )
    return Recipe(name=wanted, steps=READY[wanted](info.image_size))
