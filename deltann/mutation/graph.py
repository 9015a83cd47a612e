"""The operators on graphs: the one table of them. What they do stands in the compiler, under the same names."""

from __future__ import annotations

from deltann.mutation.facts import OperatorFacts, Parameter

_SEED = Parameter(0, "seed of what is drawn", least=0)
_FACTOR = Parameter(2.0, "what is multiplied with")
_CONV, _DENSE, _NORM = "a Conv of two dimensions", "a Gemm, or a MatMul with constant weights", "a BatchNormalization"
_BOTH = f"{_CONV}, {_DENSE}"
_EQUAL = "whose input has two equal sides longer than 1"


def _inserted(what: str, fits: str, mutatenn: bool = True, **parameters: Parameter) -> OperatorFacts:
    return OperatorFacts("graph", "tensor", what, fits, parameters, mutatenn)


def _replaced(family: str, what: str, fits: str, mutatenn: bool = False, **parameters: Parameter) -> OperatorFacts:
    return OperatorFacts("graph", family, what, fits, parameters, mutatenn)


def _own(family: str, what: str, fits: str, **parameters: Parameter) -> OperatorFacts:
    return OperatorFacts("graph", family, what, fits, parameters)


_SWAPPED = "the first two equal axes of {} are exchanged before it is read"

GRAPH: dict[str, OperatorFacts] = {
    "transpose_conv2d_0_before": _inserted(_SWAPPED.format("input 0"), f"{_CONV} {_EQUAL}"),
    "transpose_dense_0_before": _inserted(_SWAPPED.format("input 0"), f"{_DENSE} {_EQUAL}"),
    "transpose_conv2d_dense_0_before": _inserted(_SWAPPED.format("input 0"), f"{_BOTH} {_EQUAL}"),
    "transpose_conv2d_dense_1_before": _inserted(
        _SWAPPED.format("the weights"), f"{_BOTH}, whose weights have two equal sides longer than 1"
    ),
    "transpose_batch_norm_0_before": _inserted(_SWAPPED.format("input 0"), f"{_NORM} {_EQUAL}"),
    "exp_conv2d_dense_0_before": _inserted("input 0 becomes its exponential", _BOTH),
    "exp_conv2d_dense_0_after": _inserted("the output becomes its exponential", _BOTH),
    "exp_batch_norm_0_before": _inserted("input 0 becomes its exponential", _NORM),
    "round_batch_norm_0_before": _inserted("input 0 is rounded to whole numbers, halves to even", _NORM),
    "round_conv2d_dense_0_before": _inserted("input 0 is rounded to whole numbers, halves to even", _BOTH, False),
    "scale_conv2d_dense_0_before": _inserted("input 0 is multiplied", _BOTH, False, factor=_FACTOR),
    "scale_conv2d_dense_0_after": _inserted("the output is multiplied", _BOTH, False, factor=_FACTOR),
    "scale_batch_norm_0_before": _inserted("input 0 is multiplied", _NORM, False, factor=_FACTOR),
    "replace_func_add_to_subtract": _replaced("arithmetic", "a + b becomes a − b", "an Add of floats", True),
    "replace_func_add_to_multiply": _replaced("arithmetic", "a + b becomes a · b", "an Add of floats"),
    "replace_func_multiply_to_add": _replaced("arithmetic", "a · b becomes a + b", "a Mul of floats"),
    "replace_func_relu_to_sigmoid": _replaced("layer", "ReLU becomes the logistic function", "a Relu", True),
    "replace_func_relu_to_tanh": _replaced("layer", "ReLU becomes the hyperbolic tangent", "a Relu"),
    "replace_func_relu_to_leaky_relu": _replaced(
        "layer",
        "ReLU lets negative values through, multiplied by alpha",
        "a Relu",
        alpha=Parameter(0.01, "slope on the negative side"),
    ),
    "replace_func_relu6_to_relu": _replaced("layer", "the bound above is taken away", "a Clip to 0 and 6"),
    "replace_func_relu6_to_sigmoid": _replaced("layer", "ReLU6 becomes the logistic function", "a Clip to 0 and 6"),
    "replace_func_sigmoid_to_tanh": _replaced(
        "layer", "the logistic function becomes the hyperbolic tangent", "a Sigmoid"
    ),
    "replace_func_max_pool_to_average_pool": _replaced(
        "layer",
        "the mean of the window in place of its maximum; what pads is not counted",
        "a MaxPool without dilations, a GlobalMaxPool",
    ),
    "replace_func_average_pool_to_max_pool": _replaced(
        "layer", "the maximum of the window in place of its mean", "an AveragePool, a GlobalAveragePool"
    ),
    "drop_layer": _own(
        "structure",
        "its input goes on in place of its output",
        "a Conv, dense layer, batch norm, pool or activation whose output has the shape of its input",
    ),
    "duplicate_layer": _own(
        "structure",
        "it is applied twice, with the same weights",
        "a Conv, dense layer, batch norm, pool or activation whose output has the shape of its input",
    ),
    "shift_pads": _own(
        "hyperparameter",
        "padding goes from the beginning of each axis to its end",
        "a Conv or pool that pads the beginning of an axis",
        by=Parameter(1, "rows and columns, at most", least=1),
    ),
    "change_strides": _own(
        "hyperparameter",
        "every stride becomes longer",
        "a Conv or pool with strides",
        by=Parameter(1, "how much longer", least=1),
    ),
    "change_epsilon": _own(
        "hyperparameter",
        "epsilon becomes another",
        _NORM,
        epsilon=Parameter(0.1, "the new epsilon", least=0),
    ),
    "perturb_weights": _own(
        "weights",
        "normal noise is added to the weights",
        _BOTH,
        sigma=Parameter(0.1, "deviation of the noise, in deviations of the weights", least=0),
        seed=_SEED,
    ),
    "swap_weights": _own(
        "weights",
        "two output channels, drawn at random, exchange their weights",
        f"{_BOTH}, with two output channels or more",
        seed=_SEED,
    ),
    "drop_bias": _own("weights", "the bias becomes 0", "a Conv or Gemm with a constant bias"),
}
"""By name."""
