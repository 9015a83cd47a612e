"""The operators on ONNX graphs, a module for each family: importing this registers them all."""

from deltann_compiler.mutation.graph import hyperparameters, replace, structure, tensors, weights
from deltann_compiler.mutation.graph.apply import Mutated, mutate
from deltann_compiler.mutation.graph.base import REGISTERED

__all__ = [
    "REGISTERED",
    "Mutated",
    "hyperparameters",
    "mutate",
    "replace",
    "structure",
    "tensors",
    "weights",
]
