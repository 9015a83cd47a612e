"""How weights get from the neutral layout into PyTorch's tensors, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from deltann.networks.network import Shape

Array = NDArray[np.float32]
Carry = Callable[[Array], Array]


@dataclass(frozen=True)
class Place:
    """Where a neutral weight is in a module: its tensors, and the way there and back."""

    tensors: tuple[torch.Tensor, ...]
    there: Callable[[Array], tuple[Array, ...]]
    back: Callable[[tuple[Array, ...]], Array]


def conv_there(kernel: Array) -> Array:
    """[height, width, in, out] to [out, in, height, width]."""
    return kernel.transpose(3, 2, 0, 1)


def conv_back(weight: Array) -> Array:
    """And back."""
    return weight.transpose(2, 3, 1, 0)


def dense_ways(flattened: Shape | None) -> tuple[Carry, Carry]:
    """Behind a flatten the rows change places: PyTorch lays the channels of an image first, the neutral way last."""
    if flattened is None:
        return np.transpose, np.transpose
    height, width, channels = flattened

    def there(kernel: Array) -> Array:
        units = kernel.shape[1]
        return kernel.reshape(height, width, channels, units).transpose(3, 2, 0, 1).reshape(units, -1)

    def back(weight: Array) -> Array:
        units = weight.shape[0]
        return weight.reshape(units, channels, height, width).transpose(2, 3, 1, 0).reshape(-1, units)

    return there, back


def gates_there(kernel: Array) -> Array:
    """A GRU's kernel [in, 3 · units] as PyTorch has it: [3 · units, in], its gates in another order."""
    return swapped(kernel).T


def gates_back(weight: Array) -> Array:
    """And back."""
    return swapped(weight.T)


def swapped(gates: Array) -> Array:
    """The first two of three gates in each other's place: update, reset, new; PyTorch has reset first."""
    update, reset, new = np.split(gates, 3, axis=-1)
    return np.concatenate([reset, update, new], axis=-1)
