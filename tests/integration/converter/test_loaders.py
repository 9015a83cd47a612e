from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch
from deltann_converter.loaders import load

from deltann.preprocess.apply import apply, decode
from deltann.preprocess.recipes import READY
from deltann.preprocess.steps import Recipe


def test_efficientnet_lite0_knows_its_photos() -> None:
    """Its right answers are known: the activation or the preprocessing changed, and most labels would be wrong."""
    module, shape = load("efficientnet_lite0")
    recipe = Recipe(name="r", steps=READY["efficientnet_lite"]((224, 224)))
    spec = importlib.util.find_spec("foolbox")
    assert spec is not None
    assert spec.origin is not None
    photos = sorted((Path(spec.origin).parent / "data").glob("imagenet_*"))
    assert (len(photos), shape) == (20, (1, 3, 224, 224))
    right = 0
    with torch.no_grad():
        for photo in photos:
            x = torch.from_numpy(apply(recipe, decode(photo.read_bytes())).transpose(2, 0, 1)[None].copy())
            right += int(module(x).argmax()) == int(photo.stem.rsplit("_", 1)[1])
    assert right == 17


def test_an_unknown_loader_is_an_error() -> None:
    with pytest.raises(KeyError):
        load("efficientnet_lite9")
