"""Mutants of TVM's graphs and kernels, as the compile job makes them."""

import numpy as np
import pytest
from deltann_engines.base import load

from deltann.errors import JobFailure


@pytest.fixture(scope="module")
def imported(compiler, nets, tmp_path_factory):
    return compiler.imported(nets.mixed(tmp_path_factory.mktemp("net") / "net.onnx"))


@pytest.fixture(scope="module")
def original(compiler, imported):
    return compiler.compiled(imported, level=2)


def answers(path, info):
    x = np.random.default_rng(0).standard_normal((1, 3, 16, 16)).astype(np.float32)
    with load("tvm", path, info) as session:
        return session.run(x)


def test_a_module_stored_in_int8_is_another_and_says_which_kernels_are(compiler, imported, original):
    plain, module = original
    mutant, path = compiler.compiled(imported, level=2, mutation={"operator": "float32_to_int8"}, original=plain)
    told = mutant.data.mutated
    assert told.before != told.after
    assert told.fits >= len(told.places) >= 10
    assert (told.equivalence.label, told.equivalence.probes) == ("differs", 1)
    assert plain.data.mutated is None
    # Ten shares below 1, cut off: nothing is left of a softmax but what is rounded up to a whole.
    assert set(np.unique(answers(path, plain.data.info))) <= {0.0, 1.0}
    assert np.abs(answers(module, plain.data.info).sum() - 1) < 1e-5


def test_a_graph_that_is_mutated_before_its_passes_says_where_and_differs(compiler, imported, original):
    plain, module = original
    wanted = {"operator": "relax_relu_to_tanh"}
    mutant, path = compiler.compiled(imported, level=2, mutation=wanted, original=plain)
    told = mutant.data.mutated
    assert (told.fits, len(told.places), told.equivalence.label) == (1, 1, "differs")
    assert not np.allclose(answers(path, plain.data.info), answers(module, plain.data.info))
    # A factor of 1 is a node more, and no other number.
    same = {"operator": "relax_scale_conv2d_dense_after", "parameters": {"factor": 1}, "at": {"occurrence": 0}}
    found, _ = compiler.compiled(imported, level=2, mutation=same, original=plain)
    assert (found.data.mutated.equivalence.label, found.data.mutated.equivalence.probes) == ("equivalent?", 64)


@pytest.mark.parametrize(
    ("mutation", "because", "probes"),
    [
        ({"operator": "multiply_store_value"}, "1.00000001 is 1 in float32", 0),
        # The sum of an average pool, less next to nothing: lost in the convolution that comes after it.
        (
            {"operator": "subtract_from_store_value", "parameters": {"offset": 1e-40}, "at": {"occurrence": 0}},
            "",
            64,
        ),
    ],
    ids=["proven", "observed"],
)
def test_a_mutant_that_changes_no_output_is_called_equivalent(compiler, imported, original, mutation, because, probes):
    plain, module = original
    mutant, path = compiler.compiled(imported, level=2, mutation=mutation, original=plain)
    found = mutant.data.mutated.equivalence
    assert (found.label, found.because, found.probes) == ("equivalent?", because, probes)
    np.testing.assert_array_equal(answers(path, plain.data.info), answers(module, plain.data.info))


@pytest.mark.parametrize(
    ("mutation", "stage"),
    [
        ({"operator": "ifstmt_LT_to_LE"}, "out_of_bounds"),
        ({"operator": "ifstmt_GT_to_GE"}, "fits_nowhere"),
        ({"operator": "relax_add_to_subtract", "at": {"occurrence": 5000}}, "past_the_end"),
        ({"operator": "float32_to_int8", "at": {"occurrence": 5000}}, "past_the_end"),
    ],
    ids=["bounds", "nowhere", "past in the graph", "past"],
)
def test_a_mutant_that_cannot_be_is_refused_before_anything_is_compiled(compiler, imported, mutation, stage):
    with pytest.raises(JobFailure) as caught:
        compiler.compiled(imported, level=2, mutation=mutation)
    assert (caught.value.outcome, caught.value.stage) == ("mutate_failed", stage)
