"""Ready recipes by name. Sizes are the model's own: a recipe is made for the input that it feeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

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
_IMAGENET = Normalise(mean=IMAGENET_MEAN, std=IMAGENET_STD)
_CAFFE = (Channels(order="bgr"), Normalise(mean=CAFFE_MEAN))


def _keras(size: Size, steps: tuple[RecipeStep, ...]) -> tuple[RecipeStep, ...]:
    """What Keras' own examples do: ``load_img(target_size=…)``, which squashes to the nearest, ``preprocess_input``."""
    height, width = size
    return (Resize(height=height, width=width, interpolation="nearest"), *steps)


_KERAS_MODES: dict[str, tuple[tuple[RecipeStep, ...], tuple[str, ...]]] = {
    "tf": (
        (_HALF,),
        ("inception_resnet_v2", "inception_v3", "mobilenet", "mobilenet_v2", "nasnet", "resnet_v2", "xception"),
    ),
    "caffe": (_CAFFE, ("resnet", "resnet50", "vgg16", "vgg19")),
    "torch": ((_IMAGENET,), ("densenet",)),
    "inside the model": ((), ("convnext", "efficientnet", "efficientnet_v2", "mobilenet_v3")),
}
"""The modules of ``keras.applications`` by what their ``preprocess_input`` does, which Keras calls its mode."""

READY: dict[str, Callable[[Size], tuple[RecipeStep, ...]]] = {
    "tf": lambda size: (*_crop(size), _HALF),
    "tf_squash": lambda size: (*_squash(size), _HALF),
    "torchvision": lambda size: (*_crop(size), _IMAGENET),
    "torchvision_squash": lambda size: (*_squash(size), _IMAGENET),
    "caffe": lambda size: (*_crop(size), *_CAFFE),
    "efficientnet_lite": lambda size: (*_crop(size), Normalise(mean=(127.0,), std=(128.0,))),
    "unit": lambda size: (*_crop(size), Normalise(std=(255.0,))),
    "pixels": _crop,
    "raw_bytes": lambda size: (*_crop(size), RawBytes()),
    "raw_bytes_squash": lambda size: (*_squash(size), RawBytes()),
} | {f"keras_{module}": partial(_keras, steps=steps) for steps, modules in _KERAS_MODES.values() for module in modules}
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
