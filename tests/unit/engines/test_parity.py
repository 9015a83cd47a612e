import numpy as np
import pytest
from deltann_engines.parity import comparable, compare, seeded_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deltann.align import softmax
from deltann.model import ModelInfo, Quantisation, TensorSpec


def info(shape=(None, 12, 16, 3), dtype="float32", layout="NHWC", quantisation=None, kind="logits", **more):
    return ModelInfo(
        format="onnx",
        input=TensorSpec(name="x", shape=shape, dtype=dtype, layout=layout, quantisation=quantisation),
        output=TensorSpec(name="y", shape=(None, 10), dtype="float32"),
        output_kind=kind,
        **more,
    )


def test_seeded_inputs_are_the_same_images_in_every_layout():
    nhwc = seeded_inputs(info(), 3, seed=7)
    nchw = seeded_inputs(info(shape=(1, 3, 12, 16), layout="NCHW"), 3, seed=7)
    assert nhwc.shape == (3, 12, 16, 3)
    assert nhwc.dtype == np.float32
    np.testing.assert_array_equal(nhwc, nchw.transpose(0, 2, 3, 1))


def test_seeded_inputs_of_a_quantised_model_are_the_float_ones_quantised():
    quantisation = Quantisation(scale=1 / 127.5, zero_point=127)
    stored = seeded_inputs(info(dtype="uint8", quantisation=quantisation), 2, seed=7)
    expected = np.clip(np.round(seeded_inputs(info(), 2, seed=7) * 127.5) + 127, 0, 255)
    assert stored.dtype == np.uint8
    np.testing.assert_allclose(stored, expected, atol=1)


def test_seeded_inputs_of_a_byte_model_are_the_same_pixels_in_every_layout():
    nhwc = seeded_inputs(info(dtype="uint8"), 2, seed=7)
    nchw = seeded_inputs(info(dtype="uint8", shape=(1, 3, 12, 16), layout="NCHW"), 2, seed=7)
    np.testing.assert_array_equal(nhwc, nchw.transpose(0, 2, 3, 1))
    assert nhwc.max() - nhwc.min() > 100


def test_seeded_inputs_of_a_token_model_are_whole_numbers_in_a_range():
    tokens = seeded_inputs(info(shape=(None, 20), dtype="int64", layout="none"), 5, seed=1)
    assert tokens.shape == (5, 20)
    assert tokens.dtype == np.int64
    assert 0 <= tokens.min() < tokens.max() < 100


def test_seeded_inputs_are_like_photos_smooth_and_varied():
    images = seeded_inputs(info(shape=(None, 64, 64, 3)), 4, seed=0)
    assert images.min() >= -1
    assert images.max() <= 1
    assert images.std(axis=(1, 2, 3)).min() > 0.2
    step = np.abs(np.diff(images, axis=1)).mean()
    shuffled = np.random.default_rng(0).permutation(images.reshape(4, -1, 3), axis=1).reshape(images.shape)
    assert step < np.abs(np.diff(shuffled, axis=1)).mean() / 3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_seeded_inputs_depend_on_the_seed_alone(seed, n):
    first = seeded_inputs(info(), n, seed)
    np.testing.assert_array_equal(first, seeded_inputs(info(), n, seed))
    np.testing.assert_array_equal(first, seeded_inputs(info(), n + 1, seed)[:n])
    assert not np.array_equal(first, seeded_inputs(info(), n, seed + 1))


def test_compare_gives_the_largest_differences_and_the_share_of_equal_labels():
    a = np.array([[1.0, 2.0, 4.0], [10.0, 0.0, -20.0]])
    b = np.array([[1.0, 2.5, 4.0], [9.0, 9.5, -20.0]])
    found = compare(a, b)
    # Row 0 differs by 0.5 of a largest 4; row 1 by 9.5 of a largest 20, and its label moves from 0 to 1.
    assert found.n == 2
    assert found.n_invalid == 0
    assert found.max_abs == 9.5
    assert found.max_rel == pytest.approx(9.5 / 20)
    assert found.top1_agreement == 0.5


def test_compare_is_relative_to_at_least_one_millionth():
    found = compare(np.zeros((1, 3)), np.array([[0.0, 1e-9, 0.0]]))
    assert found.max_rel == pytest.approx(1e-3)


def test_compare_leaves_invalid_rows_out_and_counts_those_of_b():
    a = np.array([[1.0, 0.0], [np.nan, 0.0], [3.0, 0.0], [1.0, 2.0]])
    b = np.array([[1.0, 0.0], [1.0, 0.0], [np.inf, 0.0], [1.0, np.nan]])
    found = compare(a, b)
    assert (found.n, found.n_invalid, found.max_abs, found.top1_agreement) == (1, 2, 0.0, 1.0)


def test_compare_has_nulls_where_nothing_is_left():
    found = compare(np.zeros((2, 3)), np.full((2, 3), np.nan))
    assert (found.n, found.n_invalid) == (0, 2)
    assert (found.max_abs, found.max_rel, found.top1_agreement) == (None, None, None)


def test_compare_refuses_other_class_counts():
    with pytest.raises(ValueError, match=r"\(2, 1000\) and \(2, 1001\)"):
        compare(np.zeros((2, 1000)), np.zeros((2, 1001)))


ROWS = hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.just(5)), elements=st.floats(-1e3, 1e3))


@given(ROWS, st.integers(-8, 8))
def test_compare_sees_only_scale_in_its_relative_difference(rows, power):
    other = rows + np.linspace(0, 1, 5)
    factor = 2.0**power
    plain, scaled = compare(rows, other), compare(rows * factor, other * factor)
    assert scaled.max_abs == pytest.approx(plain.max_abs * factor)
    if np.abs(rows).max(axis=1).min() > 1e-3:
        assert scaled.max_rel == pytest.approx(plain.max_rel)
    assert compare(rows, rows).max_abs == 0.0


def test_comparable_drops_the_background_and_meets_in_probabilities():
    logits = np.array([[5.0, 1.0, 2.0, 3.0]], np.float32)
    left, right = comparable(
        logits, info(class_offset=1), softmax(logits[:, 1:]), info(kind="probabilities", class_offset=0)
    )
    np.testing.assert_allclose(left, right, atol=1e-6)
    np.testing.assert_allclose(left.sum(axis=1), 1, atol=1e-6)


def test_comparable_leaves_logits_as_they_are():
    logits = np.array([[5.0, 1.0, 2.0, 3.0]], np.float32)
    left, right = comparable(logits, info(class_offset=1), logits, info())
    np.testing.assert_array_equal(left, logits[:, 1:])
    np.testing.assert_array_equal(right, logits)
