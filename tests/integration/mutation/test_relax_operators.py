"""Every operator on Relax graphs, on a layer so small that its answer is computed by hand; compiled and run."""

import numpy as np
import pytest
import tvm
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.relax import REGISTERED, mutate_relax
from tvm import relax
from tvm.relax.transform import LegalizeOps

from deltann.mutation import OPERATORS, Mutation, Positions

SQUARE = [[1.0, 2.0], [3.0, 4.0]]
IMAGE = np.array(SQUARE, np.float32).reshape(1, 1, 2, 2)


def graph(x, *layers):
    """A module of ``main``: each layer from the one before to the next."""
    builder = relax.BlockBuilder()
    given = relax.Var("x", relax.TensorType(np.shape(x), "float32"))
    with builder.function("main", [given]):
        with builder.dataflow():
            value = given
            for layer in layers:
                value = builder.emit(layer(value))
            value = builder.emit_output(value)
        builder.emit_func_output(value)
    return builder.get()


def run(module, x):
    built = tvm.compile(LegalizeOps()(module), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(built, tvm.cpu())
    return machine["main"](tvm.runtime.tensor(np.array(x, np.float32))).numpy()


def const(values):
    return relax.const(np.array(values, np.float32))


def dense(data):
    """The sum of each row, twice."""
    return relax.op.matmul(data, const([[1, 1], [1, 1]]))


def conv(data):
    """Three times each pixel."""
    return relax.op.nn.conv2d(data, const([[[[3.0]]]]))


def norm(data):
    """(x − 1) / sqrt(3 + epsilon), with an epsilon of 1."""
    one, three = const([1.0, 1.0]), const([3.0, 3.0])
    made = relax.op.nn.batch_norm(data, one, const([0.0, 0.0]), one, three, axis=1, epsilon=1.0, training=False)
    return relax.TupleGetItem(made, 0)


def max_pool(data):
    return relax.op.nn.max_pool2d(data, (2, 2), padding=(1, 1, 0, 0))


def average_pool(data):
    return relax.op.nn.avg_pool2d(data, (2, 2), padding=(1, 1, 0, 0), count_include_pad=True)


CASES = {
    "relax_exp_conv2d_dense_before": (dense, [[0, np.log(2)], [0, 0]], [[3, 3], [2, 2]], {}),
    "relax_round_conv2d_dense_before": (dense, [[0.5, 1.5], [2.4, -0.6]], [[2, 2], [1, 1]], {}),
    "relax_scale_conv2d_dense_before": (conv, IMAGE, IMAGE * 6, {}),
    "relax_scale_conv2d_dense_after": (dense, SQUARE, [[30, 30], [70, 70]], {"factor": 10}),
    "relax_transpose_conv2d_dense_before": (dense, SQUARE, [[4, 4], [6, 6]], {}),
    "relax_exp_batch_norm_before": (norm, [[0, np.log(5)]], [[0, 2]], {}),
    "relax_scale_batch_norm_before": (norm, [[1, 3]], [[0.5, 2.5]], {}),
    "relax_add_to_subtract": (lambda x: relax.op.add(x, const(5)), [1, 2], [-4, -3], {}),
    "relax_multiply_to_add": (lambda x: relax.op.multiply(x, const(5)), [1, 2], [6, 7], {}),
    "relax_relu_to_sigmoid": (relax.op.nn.relu, [0, np.log(3)], [0.5, 0.75], {}),
    "relax_relu_to_tanh": (relax.op.nn.relu, [0, np.log(3)], [0, 0.8], {}),
    # Windows with one, two, two and four pixels: what pads is none of them.
    "relax_max_pool_to_average_pool": (max_pool, IMAGE, [[[[1, 1.5], [2, 2.5]]]], {}),
    "relax_average_pool_to_max_pool": (average_pool, IMAGE, [[[[1, 2], [3, 4]]]], {}),
    "relax_drop_layer": (conv, IMAGE, IMAGE, {}),
    "relax_change_epsilon": (norm, [[1, 7]], [[0, 2]], {"epsilon": 6}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_the_one_computed_by_hand(name):
    layer, x, after, parameters = CASES[name]
    module = graph(x, layer)
    before = run(module, x)
    found = mutate_relax(module, Mutation(operator=name, parameters=parameters))
    assert (found.fits, len(found.places)) == (1, 1)
    assert found.before != found.after
    np.testing.assert_allclose(run(found.module, x), np.array(after, np.float32), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(run(module, x), before)  # which is left as it was
    assert not np.allclose(before, after)


def test_every_operator_of_the_table_is_one_and_has_its_answer():
    names = {name for name, facts in OPERATORS.items() if facts.level == "relax"}
    assert set(REGISTERED) == set(CASES) == names


def test_only_the_places_that_were_chosen_change():
    module = graph([1.0], *[lambda x: relax.op.add(x, const(1))] * 3)
    found = mutate_relax(module, Mutation(operator="relax_add_to_subtract", at=Positions(occurrence=1)))
    assert (found.fits, run(found.module, [1.0]).tolist()) == (3, [2.0])
    twice = mutate_relax(module, Mutation(operator="relax_add_to_subtract", at=Positions(start=1)))
    assert run(twice.module, [1.0]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("mutation", "kind", "said"),
    [
        ({"operator": "relax_relu_to_tanh"}, "fits_nowhere", "none of it is a ReLU"),
        ({"operator": "relax_add_to_subtract", "at": {"occurrence": 1}}, "past_the_end", "place 1 is past the end"),
    ],
)
def test_where_there_is_no_mutant_the_reason_is_told(mutation, kind, said):
    with pytest.raises(MutationError, match=said) as caught:
        mutate_relax(graph([1.0], lambda x: relax.op.add(x, const(1))), Mutation.model_validate(mutation))
    assert caught.value.kind == kind
