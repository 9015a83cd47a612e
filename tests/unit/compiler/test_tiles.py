"""The choice of a register tile."""

import pytest
from deltann_compiler.schedule.blocks import largest_divisor
from deltann_compiler.schedule.tiled import choose_tile
from hypothesis import given
from hypothesis import strategies as st

SIDES = st.integers(1, 2048)


@given(number=st.integers(1, 4096), most=st.integers(1, 128))
def test_the_largest_divisor_is_one_and_none_is_larger(number, most):
    found = largest_divisor(number, most)
    assert number % found == 0
    assert 1 <= found <= most
    assert not [other for other in range(found + 1, min(number, most) + 1) if number % other == 0]


@given(channels=SIDES, width=SIDES, lanes=st.sampled_from([4, 8, 16]))
def test_a_tile_divides_what_it_covers_and_fits_the_registers(channels, width, lanes):
    tile = choose_tile(channels, width, lanes)
    assert channels % tile.channels == 0
    assert width % tile.width == 0
    assert max(1, tile.channels // lanes) * tile.width <= 32


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_a_tile_is_whole_vectors_where_the_channels_allow(lanes):
    """ResNet-50's shapes: scalars or half vectors there would cost several times."""
    for channels, width in ((64, 56), (256, 56), (128, 28), (512, 28), (1024, 14), (2048, 7)):
        tile = choose_tile(channels, width, lanes)
        assert tile.channels % lanes == 0
        assert tile.channels // lanes * tile.width >= 6
