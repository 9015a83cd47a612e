"""Every repair operator, the most likely first: the order in which they are tried."""

from __future__ import annotations

from deltann_converter.repair.operators import constants, folded, graph, hyperparameters, layout, script, weights
from deltann_converter.repair.operators.base import Operator

REGISTERED: tuple[Operator, ...] = (
    script.OPERATOR,
    weights.OPERATOR,
    folded.OPERATOR,
    hyperparameters.OPERATOR,
    constants.OPERATOR,
    graph.OPERATOR,
    constants.USUAL,
    hyperparameters.USUAL,
    layout.OPERATOR,
)
