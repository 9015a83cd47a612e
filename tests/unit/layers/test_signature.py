import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deltann.layers.signature import distance, likeness, signature

tensors = hnp.arrays(
    np.float32, hnp.array_shapes(min_dims=1, max_dims=4, max_side=6), elements=st.floats(-100, 100, width=32)
)


@given(tensors, st.randoms(use_true_random=False))
def test_order_and_shape_do_not_matter(values: np.ndarray, random) -> None:  # type: ignore[no-untyped-def]
    flat = values.reshape(-1).tolist()
    random.shuffle(flat)
    assert distance(signature(values), signature(np.array(flat, np.float32))) == pytest.approx(0, abs=1e-9)


@given(tensors, st.floats(0, 1e-3))
def test_the_distance_is_bounded_by_the_largest_difference(values: np.ndarray, far: float) -> None:
    noise = np.random.default_rng(0).uniform(-far, far, values.shape)
    exact = values.astype(np.float64)
    rms = float(np.sqrt(np.mean(exact**2))) or 1.0
    assert distance(signature(exact), signature(exact + noise)) <= far / rms * (1 + 1e-9) + 1e-12


def test_other_activations_are_far_apart() -> None:
    random = np.random.default_rng(1)
    a, b = random.standard_normal((2, 1, 16, 14, 14))
    assert distance(signature(a), signature(b)) > 0.05
    assert distance(signature(a), signature(np.maximum(a, 0))) > 0.5


def test_sizes_and_invalid_values_tell_apart() -> None:
    a = np.ones(4)
    assert distance(signature(a), signature(np.ones(5))) == float("inf")
    assert distance(signature(a), signature(np.array([1, 1, 1, np.nan]))) == float("inf")
    assert distance(signature(np.full(3, np.nan)), signature(np.full(3, np.inf))) == 0.0
    assert distance(signature(np.zeros(3)), signature(np.zeros((1, 3)))) == 0.0


def test_likeness_does_not_see_scale_and_offset_and_sees_another_distribution():
    values = np.random.default_rng(0).normal(size=1000)
    own = signature(values)
    assert likeness(own, signature(values * 1.3 - 2)) == pytest.approx(1.0)
    assert likeness(own, signature(np.maximum(values, 0))) < 0.95
    assert likeness(own, signature(values[:-1])) == -1.0
    assert likeness(own, signature(np.full(1000, np.nan))) == -1.0
    assert likeness(own, None) == -1.0
