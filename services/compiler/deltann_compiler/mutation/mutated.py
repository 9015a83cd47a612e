"""What a mutation makes of an IRModule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MutatedModule:
    """A mutant of a module of kernels, or of a graph of Relax.

    Args:
        module: the IRModule.
        fits: how many places the operator fits.
        places: the names of the kernels that were mutated, or of the variables whose values were.
        before: structural hash of the module, in hexadecimal.
        after: the same of the mutant.
        equivalent: why no output can change, where that is proven.
    """

    module: Any
    fits: int
    places: tuple[str, ...]
    before: str
    after: str
    equivalent: str = ""


def hash_of(module: Any) -> str:
    """The structural hash of an IRModule, in hexadecimal."""
    from tvm_ffi import structural_hash

    return f"{structural_hash(module) & (1 << 64) - 1:016x}"
