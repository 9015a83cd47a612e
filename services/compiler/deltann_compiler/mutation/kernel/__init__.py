"""The operators on TIR kernels, a module for each family: importing this registers them all."""

from deltann_compiler.mutation.kernel import conditions, loops, stores
from deltann_compiler.mutation.kernel.apply import mutate_kernels
from deltann_compiler.mutation.kernel.base import REGISTERED

__all__ = ["REGISTERED", "conditions", "loops", "mutate_kernels", "stores"]
