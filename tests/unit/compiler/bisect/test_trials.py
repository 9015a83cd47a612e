from __future__ import annotations

import numpy as np
import pytest
from deltann_compiler.bisect.standalone.comparing import error
from deltann_compiler.bisect.trials import Failure, Shown, held
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from deltann.layers.layout import relative_error

VALUES = arrays.arrays(np.float32, (2, 3), elements=st.floats(width=32))
ONE, OTHER = np.array([[3.0, 4.0]], np.float32), np.array([[3.0, 4.5]], np.float32)


def test_an_input_whose_error_is_over_the_tolerance_differs() -> None:
    a, b = np.concatenate([ONE, ONE]), np.concatenate([ONE, OTHER])
    rms = np.sqrt((9 + 16) / 2)
    assert held((a,), (b,), 0.1) == Shown("differs", (0.0, pytest.approx(0.5 / rms)))
    assert held((a,), (b,), 0.2) == Shown(None, (0.0, pytest.approx(0.5 / rms)))


def test_of_several_outputs_the_worst_counts() -> None:
    shown = held((ONE, ONE), (ONE, OTHER), 0.1)
    assert shown is not None
    assert shown.symptom == "differs"


def test_other_shapes_differ_infinitely() -> None:
    shown = held((ONE,), (ONE.T[None],), 0.1)
    assert shown is not None
    assert (shown.symptom, shown.errors) == ("differs", (float("inf"),))
    assert shown.message == "outputs of other shapes: [[2]] against [[2, 1]]"


def test_a_failure_shows_itself_and_nothing_is_held_against_one() -> None:
    failure = Failure("crashed", "the process was ended by SIGSEGV")
    assert held((ONE,), failure, 0.1) == Shown("crashed", (), failure.message)
    assert held(failure, (ONE,), 0.1) is None


@given(VALUES, VALUES)
def test_the_script_of_a_reproducer_measures_as_the_search_does(a: np.ndarray, b: np.ndarray) -> None:
    assert error(a, b) == relative_error(a, b)
    assert error(a, a) == 0
