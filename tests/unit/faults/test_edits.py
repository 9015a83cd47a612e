"""Edits survive being written down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pydantic import TypeAdapter, ValidationError

from deltann.faults.edits import Edit, InsertNode, RemoveNode, SetAttribute, SetInitializer, Tensor, brief

EDITS = TypeAdapter(list[Edit])
TYPES = st.sampled_from(["float32", "float64", "float16", "int64", "int8", "bool", ">f4"])


@given(TYPES.flatmap(lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0))))
def test_a_tensor_comes_back_bit_by_bit(values):
    back = Tensor.model_validate_json(Tensor.of(values).model_dump_json()).values
    assert back.shape == values.shape
    np.testing.assert_array_equal(back, values)


def test_a_patch_list_comes_back_as_it_was():
    edits = [
        SetAttribute(node="y", name="pads", value=[1, 1, 0, 0]),
        SetAttribute(node="y", name="alpha", value=1.0),
        SetAttribute(node="y", name="axis", value=1),
        SetAttribute(node="y", name="mode", value="reflect"),
        SetAttribute(node="y", name="group", value=None),
        InsertNode(value="x", output="z", op_type="Mul", constants=(Tensor.of(np.float32([1, 2])),)),
        RemoveNode(node="y"),
    ]
    assert EDITS.validate_json(EDITS.dump_json(edits)) == edits
    assert [type(edit.value) for edit in edits[1:3]] == [float, int]


def test_what_is_no_edit_is_refused():
    with pytest.raises(ValidationError):
        EDITS.validate_python([{"op": "remove", "node": "y"}])


def test_in_a_line_a_tensor_is_its_sides():
    edit = SetInitializer(node="y", slot=1, values=Tensor.of(np.zeros((4, 3), np.float32)))
    assert brief(edit) == "set_initializer node=y, slot=1, values=float32[4, 3]"
