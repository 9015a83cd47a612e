"""Random weights that behave like trained ones where it matters: batch norms with statistics of their own.

Freshly initialised batch norms (mean 0, variance 1, scale 1, offset 0) are the identity, so that a conversion may lose
or swap them unseen. Here scale and offset are drawn, and the running statistics are taken from what the layer really
sees on seeded inputs, so that activations neither vanish nor explode. The classifier is scaled and shifted likewise:
over the seeded inputs each logit has mean 0, and all of them a spread of 3, so that no class wins for every input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_CALIBRATION = 8
_SPREAD = 3.0
"""Standard deviation of the logits, about what trained classifiers have."""


def _images(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Seeded calibration inputs [n, height, width, 3] in about [−1, 1], smooth."""
    random = np.random.default_rng(seed)
    coarse = random.uniform(-1, 1, (_CALIBRATION, 8, 8, 3)).astype(np.float32)
    rows, columns = (np.arange(side) * 8 // side for side in shape)
    images: np.ndarray = coarse[:, rows][:, :, columns] + 0.2 * random.standard_normal((_CALIBRATION, *shape, 3))
    return images.astype(np.float32)


def _classifier(features: np.ndarray, kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kernel [features, classes] and bias whose logits over these features [n, features] have mean 0 and the spread."""
    logits = features @ kernel
    mean = logits.mean(axis=0)
    scale = np.float32(_SPREAD / max(float((logits - mean).std()), 1e-6))
    return kernel * scale, -mean * scale


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
        images = torch.from_numpy(_images(size, seed).transpose(0, 3, 1, 2).copy())
        module(images)
        for norm in norms:
            norm.momentum = 0.1
        module.eval()
        linears = [m for m in module.modules() if isinstance(m, torch.nn.Linear)]
        if linears:
            seen = []
            hook = linears[-1].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].numpy()))
            module(images)
            hook.remove()
            kernel, bias = _classifier(seen[0], linears[-1].weight.numpy().T)
            linears[-1].weight.copy_(torch.from_numpy(kernel.T.copy()))
            linears[-1].bias.copy_(torch.from_numpy(bias))


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
    images = tf.constant(_images(size, seed))
    model(images, training=True)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    last = model.layers[-1]
    if isinstance(last, keras.layers.Dense) and last.bias is not None:
        features = keras.Model(model.inputs, last.input)(images, training=False).numpy()
        kernel, bias = _classifier(features, last.kernel.numpy())
        last.kernel.assign(kernel)
        last.bias.assign(bias)
