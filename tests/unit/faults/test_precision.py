"""Fewer bits are told from other differences: by known answers, and whatever is cut or quantised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltann.faults.parameters import ParameterFault, name_fault
from deltann.faults.precision import lost_bits, quantised

RIGHT = np.random.default_rng(3).normal(size=(8, 3, 3, 4)).astype(np.float32)


def cut(values, bits):
    """The mantissa's first bits alone."""
    mask = np.uint32(0xFFFFFFFF << (23 - bits) & 0xFFFFFFFF)
    return (np.ascontiguousarray(values).view(np.uint32) & mask).view(np.float32)


def rounded(values, bits):
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, bits + 1)), exponent - bits - 1).astype(np.float32)


def quantise(values, step, low=-128, high=127):
    return (np.clip(np.rint(values / step), low, high) * step).astype(np.float32)


@given(st.integers(1, 16), st.integers(0, 2**32 - 1))
def test_a_shorter_mantissa_is_told_cut_or_rounded(bits, seed):
    values = np.random.default_rng(seed).normal(size=200).astype(np.float32)
    assert lost_bits(values, cut(values, bits))
    assert lost_bits(values, rounded(values, bits))


@pytest.mark.parametrize("bits", [3, 4, 7, 10])
def test_it_is_named_in_any_layout(bits):
    expected = ParameterFault.HALF if bits == 10 else ParameterFault.LOST
    other = RIGHT.astype(np.float16).astype(np.float32) if bits == 10 else cut(RIGHT, bits)
    assert name_fault(RIGHT, other) == expected
    assert name_fault(RIGHT, other.transpose(3, 1, 2, 0)) == expected


def test_few_bits_of_other_values_are_no_loss():
    assert not lost_bits(RIGHT, cut(RIGHT + np.float32(1), 7))
    assert not lost_bits(RIGHT, np.ones_like(RIGHT))
    assert not lost_bits(np.ones(9, np.float32), np.full(9, 1.5, np.float32))
    assert not lost_bits(RIGHT, np.where(RIGHT > 0, np.nan, RIGHT).astype(np.float32))


def test_levels_of_a_whole_tensor():
    step = float(np.abs(RIGHT).max()) / 127
    assert name_fault(RIGHT, quantise(RIGHT, step)) == ParameterFault.QUANTISED
    assert name_fault(RIGHT, quantise(RIGHT, step).transpose(1, 2, 3, 0)) == ParameterFault.QUANTISED


@pytest.mark.parametrize("axis", [0, 3])
def test_levels_of_each_channel(axis):
    others = tuple(one for one in range(4) if one != axis)
    step = np.abs(RIGHT).max(axis=others, keepdims=True) / 127
    assert name_fault(RIGHT, quantise(RIGHT, step)) == ParameterFault.QUANTISED


def test_saturation_is_still_quantised_and_mostly_saturated_is_not():
    assert quantised(RIGHT, quantise(RIGHT, 0.02, -64, 63))
    assert not quantised(RIGHT, quantise(RIGHT, 0.001))


def test_levels_of_other_values_and_uneven_ones_are_not():
    assert not quantised(RIGHT, quantise(np.roll(RIGHT, 1, axis=0), 0.03))
    assert not quantised(RIGHT, RIGHT + np.float32(0.1))
    uneven = np.sort(np.random.default_rng(5).normal(size=16)).astype(np.float32)
    nearest = uneven[np.abs(RIGHT[..., None] - uneven).argmin(-1)]
    assert not quantised(RIGHT, nearest)


@given(st.integers(0, 2**32 - 1))
def test_noise_is_neither(seed):
    random = np.random.default_rng(seed)
    values = random.normal(size=(4, 30)).astype(np.float32)
    other = values + random.normal(size=values.shape).astype(np.float32) * np.float32(1e-3)
    assert name_fault(values, other) == ParameterFault.OTHER
