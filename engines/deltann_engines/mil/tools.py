"""coremltools, imported in an order in which it works."""

from __future__ import annotations

from typing import Any


def coremltools() -> Any:
    """The package.

    It imports TensorFlow and then parts of PyTorch that crash the process unless they came before TensorFlow.
    """
    import torch._dynamo
    import torchvision  # noqa: F401

    try:
        import triton  # noqa: F401
    except ImportError:
        pass  # builds of PyTorch for processors have none
    import coremltools

    return coremltools
