"""Weights in the order in which a tile reads them."""

import numpy as np
import pytest
from deltann_compiler.passes.implicit_gemm import pack


@pytest.mark.parametrize(("outputs", "channels"), [(32, 16), (24, 24), (1001, 64), (3, 8)])
def test_a_tile_of_outputs_is_one_run_of_memory_padded_with_zeros(outputs, channels):
    weights = np.random.default_rng(1).standard_normal((3, 2, 5, outputs)).astype(np.float32)
    packed = pack(weights, channels)
    assert packed.flags["C_CONTIGUOUS"]
    assert packed.shape == (-(-outputs // channels), 3, 2, 5, channels)
    for output in range(outputs):
        np.testing.assert_array_equal(packed[output // channels, ..., output % channels], weights[..., output])
    assert np.count_nonzero(packed) == weights.size
