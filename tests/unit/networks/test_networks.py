"""The descriptions: their sizes as the literature counts them, their shapes, and the weights that they begin with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from deltann.errors import SpecError
from deltann.networks import GRU, LENET5, LSTM, NETWORKS, RESNET18, VGG16, Network
from deltann.networks.describe import network_info
from deltann.networks.initial import initial
from deltann.networks.network import shapes
from deltann.networks.parameters import parameters


def network(*layers: dict[str, Any], side: int = 8) -> Network:
    image = {"kind": "image", "height": side, "width": side, "channels": 1}
    return Network.model_validate({"name": "n", "input": image, "layers": layers})


def trained(one: Network) -> int:
    return sum(math.prod(parameter.shape) for parameter in parameters(one) if parameter.trained)


@pytest.mark.parametrize(
    ("one", "count"),
    [
        (LENET5, 61_706),  # LeCun's layers with full connections between the convolutions
        (RESNET18, 11_173_962),  # as every implementation for CIFAR-10 counts it
        (VGG16, 14_728_266 - 4_224),  # the same, without the biases that batch norms make idle
        (LSTM, 5000 * 64 + 4 * (64 * 64 + 64 * 64 + 64) + 2 * 65),
        (GRU, 5000 * 64 + 3 * (64 * 64 + 64 * 64 + 2 * 64) + 2 * 65),
    ],
)
def test_networks_have_as_many_weights_as_the_literature_counts(one: Network, count: int) -> None:
    assert trained(one) == count


@pytest.mark.parametrize("one", NETWORKS.values(), ids=NETWORKS)
def test_a_network_is_plain_data_and_describes_itself(one: Network) -> None:
    assert Network.model_validate_json(one.model_dump_json()) == one
    info = network_info(one)
    assert info.input.shape == (None, *one.input.shape)
    assert info.classes == one.classes == (2 if one in (LSTM, GRU) else 10)
    assert info.image_size == ({28: (28, 28), 32: (32, 32)}[one.input.shape[0]] if one not in (LSTM, GRU) else None)


def test_shapes_follow_padding_stride_and_pool() -> None:
    one = network(
        {"op": "conv", "filters": 4, "kernel": 3, "padding": 1, "stride": 2},
        {"op": "pool", "size": 3},
        {"op": "flatten"},
        {"op": "dense", "units": 2},
    )
    assert shapes(one) == [(4, 4, 4), (1, 1, 4), (4,), (2,)]


@pytest.mark.parametrize(
    ("layers", "says"),
    [
        ([{"op": "dense", "units": 2}], "takes 1 dimensions"),
        ([{"op": "pool", "size": 9}], "shrinks its image"),
        ([{"op": "conv", "filters": 1, "kernel": 3}], "ends in"),
        ([{"op": "residual", "branch": [{"op": "conv", "filters": 3, "kernel": 1}]}], "adds"),
    ],
)
def test_layers_that_do_not_fit_are_refused_by_name(layers: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        _ = network(*layers).classes


def test_an_unknown_layer_is_refused() -> None:
    with pytest.raises(ValidationError, match="op"):
        network({"op": "attention"})


def test_the_same_seed_gives_the_same_weights_and_another_gives_others() -> None:
    one, again, other = initial(LENET5, 1), initial(LENET5, 1), initial(LENET5, 2)
    assert all(np.array_equal(one[name], again[name]) for name in one)
    assert not np.array_equal(one["0.kernel"], other["0.kernel"])
    assert {value.dtype for value in one.values()} == {np.dtype(np.float32)}


def test_initialisers_have_the_spread_that_their_authors_give() -> None:
    dense = initial(LENET5, 0)["7.kernel"]
    limit = math.sqrt(6 / (400 + 120))
    assert limit * 0.99 < np.abs(dense).max() <= limit
    assert dense.std() == pytest.approx(limit / math.sqrt(3), rel=0.01)
    normal = initial(RESNET18, 0)["7.branch.0.kernel"]
    assert normal.shape == (3, 3, 64, 128)
    assert normal.std() == pytest.approx(math.sqrt(2 / (9 * 64)), rel=0.01)


def test_recurrent_kernels_are_orthogonal_and_the_forget_gate_begins_open() -> None:
    weights = initial(LSTM, 3)
    for block in np.split(weights["1.recurrent"], 4, axis=1):
        assert np.allclose(block @ block.T, np.eye(64), atol=1e-5)
    assert np.array_equal(weights["1.bias"], np.repeat([0, 1, 0, 0], 64))
    assert not initial(GRU, 3)["1.bias"].any()
