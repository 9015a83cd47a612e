"""The choice of register tiles."""

import pytest
from deltann_compiler.schedule.blocks import largest_divisor
from deltann_compiler.schedule.tiled import choose_tile as choose_window_tile
from deltann_compiler.schedule.tiles import choose_tile, registers, vector
from hypothesis import given
from hypothesis import strategies as st

SIDES = st.integers(1, 2048)
LANES = st.sampled_from([4, 8, 16])


@given(number=st.integers(1, 4096), most=st.integers(1, 128))
def test_the_largest_divisor_is_one_and_none_is_larger(number, most):
    found = largest_divisor(number, most)
    assert number % found == 0
    assert 1 <= found <= most
    assert not [other for other in range(found + 1, min(number, most) + 1) if number % other == 0]


@given(channels=SIDES, width=SIDES, lanes=LANES)
def test_a_window_tile_divides_what_it_covers_and_fits_the_registers(channels, width, lanes):
    tile = choose_window_tile(channels, width, lanes)
    assert channels % tile.channels == 0
    assert width % tile.width == 0
    assert -(-tile.channels // lanes) * tile.width <= registers(lanes) - 3


@given(rows=st.integers(1, 150 * 150), outputs=SIDES, sums=st.integers(1, 5000), lanes=LANES)
def test_a_tile_fits_the_registers_and_its_groups_cover_all_rows(rows, outputs, sums, lanes):
    tile = choose_tile(rows, outputs, sums, 4 * rows * sums, lanes)
    vectors = tile.channels // tile.lanes
    assert tile.channels % tile.lanes == 0
    assert vectors * tile.columns + vectors + 1 <= registers(lanes)
    assert tile.columns <= rows <= tile.rows
    assert tile.rows - rows < tile.columns * (tile.groups + 1)


@given(outputs=SIDES, lanes=LANES)
def test_outputs_are_rounded_up_only_where_no_vector_divides_them(outputs, lanes):
    tile = choose_tile(100, outputs, 64, 1000, lanes)
    assert tile.lanes == vector(outputs, lanes)
    assert outputs % tile.channels == 0 or outputs % tile.lanes != 0


@pytest.mark.parametrize(
    ("lanes", "rows", "outputs", "columns", "channels"),
    [
        (8, 56 * 56, 64, 6, 16),  # 12 sums, 2 weights, 1 input of 16 registers
        (8, 56 * 56, 24, 4, 24),  # 12, 3, 1
        (16, 56 * 56, 64, 14, 32),  # 28, 2, 1 of 32
        (8, 1, 2048, 1, 32),  # a dense layer of one image: eight vectors of sums and of weights would not fit
        (8, 1, 1000, 1, 40),  # no more than 40 divide it in whole vectors
    ],
)
def test_tiles_of_known_layers(lanes, rows, outputs, columns, channels):
    tile = choose_tile(rows, outputs, 576, 4 * rows * 64, lanes)
    assert (tile.columns, tile.channels) == (columns, channels)


def test_a_large_image_is_walked_in_groups_that_stay_in_cache():
    tile = choose_tile(112 * 112, 32, 288, 4 * 112 * 112 * 32, 8)
    assert tile.groups >= 10
    assert choose_tile(7 * 7, 2048, 512, 4 * 7 * 7 * 512, 8).groups == 1
