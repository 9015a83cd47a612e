"""Every kernel operator on a kernel so small that its answer is computed by hand; compiled by LLVM and run."""

import numpy as np
import pytest
import tvm
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.kernel import REGISTERED, mutate_kernels
from deltann_compiler.mutation.kernel.bounds import unproven
from tvm.script import tirx as T

from deltann.mutation import OPERATORS, Mutation, Positions


@T.prim_func(s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            y[v] = x[v]


@T.prim_func(s_tir=True)
def pad(x: T.Buffer((4,), "float32"), y: T.Buffer((6,), "float32")):
    """One zero in front and one behind."""
    for i in range(6):
        with T.sblock("pad"):
            v = T.axis.spatial(6, i)
            y[v] = T.if_then_else(1 <= v and v < 5, x[v - 1], T.float32(0))  # noqa: SIM300  (a comparison by ≤)


@T.prim_func(s_tir=True)
def leaky(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    """A tenth of what is not above 1."""
    for i in range(4):
        with T.sblock("leaky"):
            v = T.axis.spatial(4, i)
            y[v] = T.Select(x[v] > T.float32(1), x[v], x[v] * T.float32(0.1))


@T.prim_func(s_tir=True)
def below(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    """1 where it is below 1, else 0."""
    for i in range(4):
        with T.sblock("below"):
            v = T.axis.spatial(4, i)
            y[v] = T.Select(x[v] < T.float32(1), T.float32(1), T.float32(0))


@T.prim_func(s_tir=True)
def total(x: T.Buffer((4,), "float32"), y: T.Buffer((1,), "float32")):
    for i, k in T.grid(1, 4):
        with T.sblock("total"):
            v, r = T.axis.remap("SR", [i, k])
            with T.init():
                y[v] = T.float32(0)
            y[v] = y[v] + x[r]


@T.prim_func(s_tir=True)
def tail(x: T.Buffer((5,), "float32"), y: T.Buffer((5,), "float32")):
    """Two rounds of three, the last step left out."""
    for i, j in T.grid(2, 3):
        with T.sblock("tail"):
            T.where(i * 3 + j < 5)
            v = T.axis.spatial(5, i * 3 + j)
            y[v] = x[v]


def module(**kernels):
    return tvm.IRModule({name: function.with_attr("global_symbol", name) for name, function in kernels.items()})


def run(mod, name, x):
    y = np.zeros(int(mod[name].params[1].ty.shape[0]), np.float32)
    out = tvm.runtime.tensor(y)
    tvm.compile(mod, tvm.target.Target("llvm"))[name](tvm.runtime.tensor(np.array(x, np.float32)), out)
    return out.numpy()


NUMBERS = [1.0, 2.0, 3.0, 4.0]
AROUND = [0.5, 1.0, 1.2, 2.0]
TINY = float(np.float32(1e-7) - np.float32(1e-8))
# operator: kernel, parameters, x, y, y of the mutant
CASES = {
    # float16 has 11 bits: 2049 becomes 2048 (to even), 0.1 becomes 0.0999755859375.
    "float32_to_float16": (copy, {}, [1, 2049, 0.1, -1.5], None, [1, 2048, 0.0999755859375, -1.5]),
    # Towards zero.
    "float32_to_int32": (copy, {}, [1.9, -1.9, 70000.5, 0.2], None, [1, -1, 70000, 0]),
    "float32_to_int16": (copy, {}, [1.9, -1.9, 30000.5, 0.2], None, [1, -1, 30000, 0]),
    "float32_to_int8": (copy, {}, [1.9, -1.9, 100.5, 0.2], None, [1, -1, 100, 0]),
    # 1 − 1e-8 is 1, whose neighbour below is 6e-8 away; 1e-7 − 1e-8 = 9e-8.
    "subtract_from_store_value": (copy, {}, [1, 1e-7, 0, 2], None, [1, TINY, -1e-8, 2]),
    "multiply_store_value": (copy, {"factor": 1.5}, NUMBERS, None, [1.5, 3, 4.5, 6]),
    # x < 1 becomes x < 1.5.
    "change_threshold_ite_LT_r_a_0_5": (below, {}, AROUND, [1, 0, 0, 0], [1, 1, 1, 0]),
    "ifstmt_LT_to_LE": (below, {}, AROUND, [1, 0, 0, 0], [1, 1, 0, 0]),
    "ifstmt_LT_to_GT": (below, {}, AROUND, [1, 0, 0, 0], [0, 0, 1, 1]),
    "ifstmt_LT_to_GE": (below, {}, AROUND, [1, 0, 0, 0], [0, 1, 1, 1]),
    "ifstmt_GT_to_LT": (leaky, {}, AROUND, [0.05, 0.1, 1.2, 2], [0.5, 0.1, 0.12, 0.2]),
    "ifstmt_GT_to_GE": (leaky, {}, AROUND, [0.05, 0.1, 1.2, 2], [0.05, 1, 1.2, 2]),
    # 1 ≤ v becomes 1 < v: the first of the four is padding as well.
    "ifstmt_LE_to_LT": (pad, {}, NUMBERS, [0, 1, 2, 3, 4, 0], [0, 0, 2, 3, 4, 0]),
    # v < 5 becomes v < 3.
    "lower_LT_bound": (pad, {"by": 2}, NUMBERS, [0, 1, 2, 3, 4, 0], [0, 1, 2, 0, 0, 0]),
    # 1 + 2 + 3 + 4, and without the last.
    "shorten_reduction": (total, {}, NUMBERS, [10], [6]),
}


@pytest.mark.parametrize("operator", CASES)
def test_operator_gives_what_was_computed_by_hand(operator):
    kernel, parameters, x, before, after = CASES[operator]
    mod = module(kernel=kernel)
    found = mutate_kernels(mod, Mutation(operator=operator, parameters=parameters))
    np.testing.assert_array_equal(run(mod, "kernel", x), np.array(x if before is None else before, np.float32))
    np.testing.assert_allclose(run(found.module, "kernel", x), np.array(after, np.float32), rtol=1e-6, atol=0)
    assert (found.fits, found.places, found.equivalent) == (1, ("kernel",), "")
    assert found.before != found.after


def test_every_operator_of_the_table_has_a_case_and_an_implementation():
    kernels = {name for name, facts in OPERATORS.items() if facts.level == "kernel"}
    assert kernels == set(REGISTERED) == set(CASES)


def test_mutatenns_factor_is_told_to_change_nothing():
    """1.00000001 is 1 in float32; MutateNN counts this mutant, which is none."""
    found = mutate_kernels(module(kernel=copy), Mutation(operator="multiply_store_value"))
    assert found.equivalent == "1.00000001 is 1 in float32"
    np.testing.assert_array_equal(run(found.module, "kernel", NUMBERS), np.array(NUMBERS, np.float32))


@pytest.mark.parametrize("operator", ["ifstmt_LT_to_LE", "ifstmt_LT_to_GE", "change_threshold_ite_LT_r_a_0_5"])
def test_a_mutant_that_could_read_beyond_its_buffer_is_refused(operator):
    """v ≤ 5 and v ≥ 5 let v = 5 read x[4], which is none of its four elements."""
    with pytest.raises(MutationError, match=r"out of bounds in the kernel kernel: v - 1 may leave 0 to 4 − 1 of x"):
        mutate_kernels(module(kernel=pad), Mutation(operator=operator))


def test_a_branch_that_is_never_taken_reads_nothing():
    """1 ≤ v and v > 5 holds for no v below 6: all is padding."""
    found = mutate_kernels(module(kernel=pad), Mutation(operator="ifstmt_LT_to_GT"))
    np.testing.assert_array_equal(run(found.module, "kernel", NUMBERS), np.zeros(6, np.float32))


def test_held_within_its_buffer_such_a_mutant_reads_the_last_element():
    """v ≤ 5 reads x[min(4, 3)] = 4 behind the last."""
    found = mutate_kernels(module(kernel=pad), Mutation(operator="ifstmt_LT_to_LE", parameters={"clamp": 1}))
    np.testing.assert_array_equal(run(found.module, "kernel", NUMBERS), np.array([0, 1, 2, 3, 4, 4], np.float32))


def test_what_decides_on_stores_is_no_place():
    """The predicate i · 3 + j < 5 keeps the sixth step from storing; there is no other comparison."""
    assert unproven(tail) is None
    with pytest.raises(MutationError) as caught:
        mutate_kernels(module(kernel=tail), Mutation(operator="lower_LT_bound"))
    assert caught.value.kind == "fits_nowhere"


@T.prim_func(s_tir=True)
def beyond(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("beyond"):
            v = T.axis.spatial(4, i)
            y[v] = T.Select(v < 3, x[v + 1], T.float32(0))


def test_a_select_computes_both_sides_so_that_its_condition_guards_nothing():
    assert "v + 1 may leave 0 to 4" in unproven(beyond)


def test_positions_count_through_kernels_by_name():
    mod = module(b=copy, a=copy, c=copy)
    found = mutate_kernels(
        mod, Mutation(operator="multiply_store_value", parameters={"factor": 2}, at=Positions(occurrence=1))
    )
    assert (found.fits, found.places) == (3, ("b",))
    assert [run(found.module, name, NUMBERS)[0] for name in "abc"] == [1, 2, 1]


@pytest.mark.parametrize(
    ("mutation", "kind"),
    [
        (Mutation(operator="ifstmt_GT_to_LT"), "fits_nowhere"),
        (Mutation(operator="float32_to_int8", at=Positions(occurrence=1)), "past_the_end"),
    ],
)
def test_where_there_is_no_mutant_the_reason_is_told(mutation, kind):
    with pytest.raises(MutationError) as caught:
        mutate_kernels(module(kernel=copy), mutation)
    assert caught.value.kind == kind
