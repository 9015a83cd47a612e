"""coremltools, imported in an order in which it works."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any


def coremltools() -> Any:
    """The package.

    It imports TensorFlow and then parts of PyTorch that crash the process unless they came before TensorFlow.
    """
    import torchvision  # noqa: F401

    with suppress(ImportError):  # builds of PyTorch for processors have none
        import_module("triton")
    import_module("torch._dynamo")
    import coremltools

    return coremltools
