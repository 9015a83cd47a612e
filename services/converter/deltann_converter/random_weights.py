"""Random weights that behave like trained ones where it matters: batch norms with statistics of their own.

Freshly initialised batch norms (mean 0, variance 1, scale 1, offset 0) are the identity, so that a conversion may lose
or swap them unseen. Here scale and offset are drawn, and the running statistics are taken from what the layer really
sees on seeded inputs, so that activations neither vanish nor explode and outputs differ from input to input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_CALIBRATION = 8


def _images(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Seeded calibration inputs [n, height, width, 3] in about [−1, 1], smooth."""
    random = np.random.default_rng(seed)
    coarse = random.uniform(-1, 1, (_CALIBRATION, 8, 8, 3)).astype(np.float32)
    rows, columns = (np.arange(side) * 8 // side for side in shape)
    images: np.ndarray = coarse[:, rows][:, :, columns] + 0.2 * random.standard_normal((_CALIBRATION, *shape, 3))
    return images.astype(np.float32)


def randomise_torch(module: Any, size: tuple[int, int], seed: int) -> None:
    """Draw batch norms' scale and offset, then take their statistics from one pass in training mode, in place."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    with torch.no_grad():
        for norm in norms:
            norm.weight.copy_(0.7 + 0.6 * torch.rand(norm.weight.shape, generator=generator))
            norm.bias.copy_(0.2 * torch.randn(norm.bias.shape, generator=generator))
            norm.momentum = 1.0  # the statistics of this one pass, not a mixture with the initial ones
        module.eval()
        for norm in norms:
            norm.train()
        module(torch.from_numpy(_images(size, seed).transpose(0, 3, 1, 2).copy()))
        for norm in norms:
            norm.momentum = 0.1
    module.eval()


def randomise_keras(model: Any, size: tuple[int, int], seed: int) -> None:
    """The same for a Keras model, in place."""
    import keras
    import tensorflow as tf

    random = np.random.default_rng(seed)
    norms = [layer for layer in model.layers if isinstance(layer, keras.layers.BatchNormalization)]
    for norm in norms:
        if norm.gamma is not None:
            norm.gamma.assign(random.uniform(0.7, 1.3, norm.gamma.shape))
        if norm.beta is not None:
            norm.beta.assign(0.2 * random.standard_normal(norm.beta.shape))
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    model(tf.constant(_images(size, seed)), training=True)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
