"""The operators on Relax graphs, a module for each family: importing this registers them all."""

from deltann_compiler.mutation.relax import layers, replace, tensors
from deltann_compiler.mutation.relax.apply import mutate_relax
from deltann_compiler.mutation.relax.base import REGISTERED

__all__ = ["REGISTERED", "layers", "mutate_relax", "replace", "tensors"]
