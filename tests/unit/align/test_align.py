from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from deltann.align import align, softmax, top_k, valid_rows
from deltann.model import ModelInfo, Quantisation, TensorSpec


def info(kind: str, offset: int = 0, quantisation: Quantisation | None = None) -> ModelInfo:
    image = TensorSpec(name="x", shape=(None, 8, 8, 3), dtype="float32", layout="NHWC")
    output = TensorSpec(name="y", shape=(None, 4), dtype="float32", quantisation=quantisation)
    return ModelInfo.model_validate(
        {"format": "onnx", "input": image, "output": output, "output_kind": kind, "class_offset": offset}
    )


def test_background_is_dropped_and_probabilities_sum_to_one_again() -> None:
    aligned, kind = align(np.array([[0.5, 0.1, 0.3, 0.1]]), info("probabilities", offset=1))
    assert kind == "probabilities"
    assert aligned == pytest.approx(np.array([[0.2, 0.6, 0.2]]))


def test_logits_are_only_shifted_by_the_offset() -> None:
    aligned, kind = align(np.array([[9.0, 1.0, -2.0, 3.0]]), info("logits", offset=1))
    assert kind == "logits"
    assert aligned.tolist() == [[1.0, -2.0, 3.0]]


def test_quantised_outputs_are_real_values() -> None:
    raw = np.array([[0, 128, 255, 130]], np.uint8)
    aligned, _ = align(raw, info("logits", quantisation=Quantisation(scale=0.5, zero_point=128)))
    assert aligned.tolist() == [[-64.0, 0.0, 63.5, 1.0]]


def test_nothing_but_background_is_invalid_not_a_label() -> None:
    aligned, _ = align(np.array([[1.0, 0.0, 0.0]]), info("probabilities", offset=1))
    assert not valid_rows(aligned)[0]
    labels, scores = top_k(aligned, 2)
    assert labels.tolist() == [[-1, -1]]
    assert np.isnan(scores).all()


def test_ties_go_to_the_lowest_index() -> None:
    labels, scores = top_k(np.array([[1.0, 3.0, 3.0, 3.0, 2.0]]), 4)
    assert labels.tolist() == [[1, 2, 3, 4]]
    assert scores.tolist() == [[3.0, 3.0, 3.0, 2.0]]


def test_k_is_at_most_the_number_of_classes() -> None:
    assert top_k(np.array([[1.0, 2.0]]), 5)[0].tolist() == [[1, 0]]


@given(arrays.arrays(np.float32, (3, 6), elements=st.floats(-1e4, 1e4, width=32)))
def test_softmax_is_a_distribution_that_keeps_the_order(logits: np.ndarray) -> None:
    result = softmax(logits.astype(np.float64))
    assert result.sum(axis=1) == pytest.approx(np.ones(3))
    best = np.take_along_axis(result, logits.argmax(axis=1)[:, None], axis=1)[:, 0]
    assert (best == result.max(axis=1)).all()  # logits that differ by less than a rounding become equal


@given(arrays.arrays(np.float32, (4, 7), elements=st.floats(-100, 100, width=32)), st.integers(1, 7))
def test_top_k_is_a_plain_stable_sort(outputs: np.ndarray, k: int) -> None:
    labels, _ = top_k(outputs, k)
    for row, found in zip(outputs, labels, strict=True):
        assert found.tolist() == sorted(range(7), key=lambda i: (-row[i], i))[:k]
