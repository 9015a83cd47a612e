"""Histograms and maps of tensors that can be checked by hand."""

import numpy as np
from deltann_converter.repair.pictures import picture
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays


def test_counts_share_their_edges_and_the_map_keeps_the_two_longest_axes():
    right = np.arange(2 * 5 * 4, dtype=np.float32).reshape(2, 5, 4)
    found = right + 1
    made = picture("conv", "activation", right, found)
    assert (made.edges[0], made.edges[-1]) == (0.0, 40.0)
    assert sum(made.right) == sum(made.found) == 40
    assert np.shape(made.right_map) == (5, 4)
    assert made.right_map[0][0] == (0 + 20) / 2
    assert np.array_equal(made.difference_map, np.ones((5, 4)))
    assert sum(made.difference) == 40


def test_a_long_axis_is_averaged_in_blocks():
    made = picture("dense", "input 1", np.repeat(np.arange(24.0), 10)[None], np.zeros((1, 240)))
    assert np.array_equal(made.right_map, [np.arange(24.0)])


def test_without_a_finite_value_there_is_nothing_to_draw():
    nothing = np.full((2, 2), np.nan, np.float32)
    assert picture("n", "activation", nothing, nothing) is None


def test_nan_beside_one_value_is_counted():
    made = picture("n", "activation", np.array([np.nan], np.float32), np.array([1], np.float32))
    assert (sum(made.right), sum(made.found), made.difference_map) == (1, 1, ((0.0,),))


@given(arrays(np.float32, array_shapes(max_dims=4, max_side=40), elements=st.floats(width=32)), st.data())
def test_of_any_tensors_every_value_is_counted_once_and_the_page_stays_small(right, data):
    found = data.draw(arrays(np.float32, right.shape, elements=st.floats(width=32)))
    made = picture("n", "activation", right, found)
    if made is None:
        assert not np.isfinite(right).any()
        assert not np.isfinite(found).any()
        return
    assert sum(made.right) == sum(made.found) == right.size
    assert max(np.shape(made.right_map)) <= 24
    assert np.isfinite(made.difference_map).all()
