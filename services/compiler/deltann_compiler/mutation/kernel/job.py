"""The mutation of kernels within a compile job: what is told of it, and whether any output changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann_engines.base import load

from deltann.errors import JobFailure, WrongDeviceError
from deltann.kinds.compile import KernelMutation
from deltann.kinds.mutate import Equivalence
from deltann.model import ModelInfo
from deltann.mutation import Mutation
from deltann.outcome import Outcome
from deltann.service import JobContext
from deltann_compiler.mutation import probing
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.kernel.apply import MutatedKernels, mutate_kernels

_SHOWN = 20


def mutated_kernels(module: Any, mutation: Mutation) -> MutatedKernels:
    """The mutant of a scheduled module.

    Raises:
        JobFailure: ``mutate_failed``, whose stage is one of :data:`deltann.kinds.mutate.Reason`.
    """
    try:
        return mutate_kernels(module, mutation)
    except MutationError as error:
        raise JobFailure(Outcome.MUTATE_FAILED, error.kind, str(error)) from error


def described(mutant: MutatedKernels, path: Path, info: ModelInfo, context: JobContext) -> KernelMutation:
    """What the job's data say of a mutant whose module is at ``path``."""
    return KernelMutation(
        fits=mutant.fits,
        kernels=list(mutant.kernels[:_SHOWN]),
        before=mutant.before,
        after=mutant.after,
        equivalence=_equivalence(mutant, path, info, context),
    )


def _equivalence(mutant: MutatedKernels, path: Path, info: ModelInfo, context: JobContext) -> Equivalence | None:
    """Proven, else observed in modules that are alike but for the mutation, so that equal means equal bit by bit."""
    if mutant.equivalent:
        return Equivalence(label="equivalent?", probes=0, because=mutant.equivalent)
    if "module" not in context.inputs:
        return None
    try:
        with load("tvm", context.fetch_signed("module"), info) as one, load("tvm", path, info) as other:
            return probing.compare(one.run, other.run, probing.probes(info, probing.PROBES, 0), [])
    except WrongDeviceError:
        return None
