import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltann.layers.layout import layouts, nearest_layout

RANDOM = np.random.default_rng(0)


@given(st.permutations(range(4)), st.lists(st.integers(1, 5), min_size=4, max_size=4))
def test_a_transposed_tensor_is_found_whatever_the_order(order: list[int], shape: list[int]) -> None:
    values = RANDOM.standard_normal(shape)
    moved = values.transpose(order)
    found = nearest_layout(values, moved)
    assert found is not None
    np.testing.assert_array_equal(found[0], moved)
    assert found[1] == 0.0


def test_sides_of_one_come_and_go() -> None:
    values = RANDOM.standard_normal((1, 8, 1, 1))
    found = nearest_layout(values, values.reshape(1, 8))
    assert found is not None
    assert found[0].shape == (1, 8)
    assert found[1] == 0.0


def test_square_images_are_not_mirrored_for_another_layout() -> None:
    image = RANDOM.standard_normal((1, 3, 7, 7))
    found = nearest_layout(image, image.transpose(0, 2, 3, 1) + 1e-6)
    assert found is not None
    np.testing.assert_array_equal(found[0], image.transpose(0, 2, 3, 1))
    assert found[1] == pytest.approx(1e-6 / np.sqrt(np.mean(image**2)), rel=1e-3)


def test_what_has_other_sides_has_no_layout() -> None:
    assert list(layouts(np.zeros((2, 3)), (3, 3))) == []
    assert nearest_layout(np.zeros((2, 3)), np.zeros((6,))) is None


def test_invalid_values_are_equal_only_in_their_places() -> None:
    values = np.array([1.0, np.nan, 3.0])
    same = nearest_layout(values, values.copy())
    assert same is not None
    assert same[1] == 0.0
    moved = nearest_layout(values, np.array([np.nan, 1.0, 3.0]))
    assert moved is not None
    assert moved[1] == float("inf")
