"""Mutations as plain data: which operator, with which parameters, at which positions.

What an operator does to a model is the compiler's. What there is, is told by the tables here, without any framework.
"""

from deltann.mutation.mutation import Mutation
from deltann.mutation.operators import OPERATORS, OperatorFacts, Parameter
from deltann.mutation.positions import PositionError, Positions

__all__ = ["OPERATORS", "Mutation", "OperatorFacts", "Parameter", "PositionError", "Positions"]
