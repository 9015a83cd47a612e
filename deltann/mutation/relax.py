"""The operators on TVM's own graphs: the one table of them. What they do stands in the compiler, by the same names."""

from __future__ import annotations

from deltann.mutation.facts import OperatorFacts, Parameter

_BOTH = "a convolution of two dimensions, a matrix product"
_NORM = "a batch norm"
_FACTOR = Parameter(2.0, "what is multiplied with")


def _inserted(what: str, fits: str, **parameters: Parameter) -> OperatorFacts:
    return OperatorFacts("relax", "tensor", what, fits, parameters)


def _replaced(family: str, what: str, fits: str) -> OperatorFacts:
    return OperatorFacts("relax", family, what, fits)


RELAX: dict[str, OperatorFacts] = {
    "relax_exp_conv2d_dense_before": _inserted("input 0 becomes its exponential", _BOTH),
    "relax_round_conv2d_dense_before": _inserted("input 0 is rounded to whole numbers, halves to even", _BOTH),
    "relax_scale_conv2d_dense_before": _inserted("input 0 is multiplied", _BOTH, factor=_FACTOR),
    "relax_scale_conv2d_dense_after": _inserted("the output is multiplied", _BOTH, factor=_FACTOR),
    "relax_transpose_conv2d_dense_before": _inserted(
        "the first two equal axes of input 0 are exchanged before it is read",
        f"{_BOTH}, whose input has two equal sides longer than 1",
    ),
    "relax_exp_batch_norm_before": _inserted("input 0 becomes its exponential", _NORM),
    "relax_scale_batch_norm_before": _inserted("input 0 is multiplied", _NORM, factor=_FACTOR),
    "relax_add_to_subtract": _replaced("arithmetic", "a + b becomes a − b", "an addition of floats"),
    "relax_multiply_to_add": _replaced("arithmetic", "a · b becomes a + b", "a product of floats, one by one"),
    "relax_relu_to_sigmoid": _replaced("layer", "ReLU becomes the logistic function", "a ReLU"),
    "relax_relu_to_tanh": _replaced("layer", "ReLU becomes the hyperbolic tangent", "a ReLU"),
    "relax_max_pool_to_average_pool": _replaced(
        "layer", "the mean of the window in place of its maximum; what pads is not counted", "a maximum pool"
    ),
    "relax_average_pool_to_max_pool": _replaced(
        "layer", "the maximum of the window in place of its mean", "an average pool"
    ),
    "relax_drop_layer": _replaced(
        "structure",
        "its input goes on in place of its output",
        "a convolution, matrix product, pool or activation whose output has the type of its input",
    ),
    "relax_change_epsilon": OperatorFacts(
        "relax", "hyperparameter", "epsilon becomes another", _NORM, {"epsilon": Parameter(0.1, "the other", least=0)}
    ),
}
"""By name."""
