"""The weights that a network begins with: drawn once by NumPy, so that they are the same in every framework."""

from __future__ import annotations

import math
import zlib

import numpy as np
from numpy.typing import NDArray

from deltann.networks.network import Network
from deltann.networks.parameters import Parameter, parameters

Weights = dict[str, NDArray[np.float32]]
"""By the names of :func:`deltann.networks.parameters.parameters`, in the layout that is told there."""


def initial(network: Network, seed: int) -> Weights:
    """float32 weights; each draws from a stream of its own, so that a layer more moves no other.

    ``glorot_uniform``: U(−a, a), a = √(6 / (fan in + fan out)) (Glorot and Bengio 2010). ``he_normal``:
    N(0, 2 / fan in) (He et al. 2015). ``uniform``: U(−0.05, 0.05). ``orthogonal``: a random orthogonal matrix (Saxe et
    al. 2014) for each square block of columns. ``open_forget``: 1 in the second quarter, an LSTM's forget gate, else 0.
    """
    return {one.name: _draw(one, np.random.default_rng([seed, zlib.crc32(one.name.encode())])) for one in
            parameters(network)}  # fmt: skip


def _draw(one: Parameter, random: np.random.Generator) -> NDArray[np.float32]:
    values: NDArray[np.float64]
    match one.initialiser:
        case "zeros":
            values = np.zeros(one.shape)
        case "ones":
            values = np.ones(one.shape)
        case "glorot_uniform":
            limit = math.sqrt(6 / (one.fan_in + one.fan_out))
            values = random.uniform(-limit, limit, one.shape)
        case "he_normal":
            values = random.normal(0, math.sqrt(2 / one.fan_in), one.shape)
        case "uniform":
            values = random.uniform(-0.05, 0.05, one.shape)
        case "open_forget":
            values = np.repeat([0.0, 1.0, 0.0, 0.0], one.shape[0] // 4)
        case "orthogonal":
            values = _orthogonal(one, random)
    return values.astype(np.float32)


def _orthogonal(one: Parameter, random: np.random.Generator) -> NDArray[np.float64]:
    rows, columns = one.shape
    blocks = []
    for _ in range(columns // rows):
        q, r = np.linalg.qr(random.standard_normal((rows, rows)))
        blocks.append(q * np.sign(np.diag(r)))
    return np.concatenate(blocks, axis=1)
