"""JSON never holds NaN or Inf."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticSerializationError

from deltann.base import Data
from deltann.worker.wire import to_plain

values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def without_nan(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    return value


@given(values)
def test_everything_comes_out_as_it_was_with_null_for_what_json_cannot_say(value: object) -> None:
    plain = to_plain(value)
    json.dumps(plain, allow_nan=False)
    assert plain == without_nan(value)


def test_models_and_numpy_become_plain() -> None:
    class Point(Data):
        x: float

    assert to_plain({"p": Point(x=math.nan), "a": np.array([[1.0, np.inf]]), "n": np.int32(7)}) == {
        "p": {"x": None},
        "a": [[1.0, None]],
        "n": 7,
    }


def test_what_has_no_json_form_is_refused() -> None:
    with pytest.raises(PydanticSerializationError):
        to_plain({"x": object()})
