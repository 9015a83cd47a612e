"""The layers that a neutral description of a network is made of. Images are [height, width, channels] here."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from deltann.base import Data

Initialiser = Literal["glorot_uniform", "he_normal", "uniform", "orthogonal", "zeros", "ones", "open_forget"]
"""How a weight is drawn: :func:`deltann.networks.initial.initial` says how each is computed."""

_Size = Annotated[int, Field(ge=1, le=65_536)]


class Conv(Data):
    """A square convolution, zero-padded by ``padding`` on every side."""

    op: Literal["conv"] = "conv"
    filters: _Size
    kernel: _Size
    stride: _Size = 1
    padding: int = Field(default=0, ge=0)
    bias: bool = True
    initialiser: Initialiser = "glorot_uniform"


class BatchNorm(Data):
    """Batch normalisation over channels; the moving averages keep the share ``momentum`` of themselves at a step."""

    op: Literal["batch_norm"] = "batch_norm"
    momentum: float = Field(default=0.9, ge=0, lt=1)
    epsilon: float = Field(default=1e-5, gt=0)


class Activation(Data):
    """An elementwise function."""

    op: Literal["activation"] = "activation"
    function: Literal["relu", "tanh", "sigmoid"] = "relu"


class Pool(Data):
    """Square windows side by side; what does not fill one is left out."""

    op: Literal["pool"] = "pool"
    kind: Literal["max", "average"] = "max"
    size: _Size = 2


class GlobalAverage(Data):
    """The mean over height and width."""

    op: Literal["global_average"] = "global_average"


class Flatten(Data):
    """An image as a vector. Which way round its framework lays it is no part of the function: weights follow."""

    op: Literal["flatten"] = "flatten"


class Dense(Data):
    """A fully connected layer."""

    op: Literal["dense"] = "dense"
    units: _Size
    initialiser: Initialiser = "glorot_uniform"


class Embedding(Data):
    """A vector per token."""

    op: Literal["embedding"] = "embedding"
    width: _Size
    initialiser: Initialiser = "uniform"


class Recurrent(Data):
    """A recurrent layer that gives its last state; nothing is masked.

    The LSTM has one bias and a forget gate that begins at 1 (Gers et al. 2000; Keras' default). The GRU applies its
    reset gate after the recurrent product, so it has two biases (Keras' ``reset_after``, PyTorch's and cuDNN's form).
    """

    op: Literal["recurrent"] = "recurrent"
    cell: Literal["lstm", "gru"]
    units: _Size
    initialiser: Initialiser = "glorot_uniform"
    recurrent_initialiser: Initialiser = "orthogonal"


class Residual(Data):
    """The sum of a branch and of its input, which goes through ``shortcut`` first (He et al. 2016)."""

    op: Literal["residual"] = "residual"
    branch: tuple[Layer, ...] = Field(min_length=1)
    shortcut: tuple[Layer, ...] = ()


Layer = Annotated[
    Conv | BatchNorm | Activation | Pool | GlobalAverage | Flatten | Dense | Embedding | Recurrent | Residual,
    Field(discriminator="op"),
]
Residual.model_rebuild()
