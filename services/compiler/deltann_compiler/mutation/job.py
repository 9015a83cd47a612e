"""The mutation within a compile job: of the IR before any pass, or of the kernels after all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann_engines.base import load

from deltann.errors import JobFailure, WrongDeviceError
from deltann.kinds.compile import ModuleMutation
from deltann.kinds.mutate import Equivalence
from deltann.model import ModelInfo
from deltann.mutation import Mutation
from deltann.outcome import Outcome
from deltann.service import JobContext
from deltann_compiler.build import build_plain
from deltann_compiler.mutation import probing
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.mutated import MutatedModule
from deltann_compiler.reuse import Objects, kept_objects

_SHOWN = 20


def mutated_at(level: str, module: Any, mutation: Mutation | None) -> MutatedModule | None:
    """The mutant of a module of this level; None where the mutation is none, or of another.

    Raises:
        JobFailure: ``mutate_failed``, whose stage is one of :data:`deltann.kinds.mutate.Reason`.
    """
    if mutation is None or mutation.facts.level != level:
        return None
    from deltann_compiler.mutation.kernel import mutate_kernels
    from deltann_compiler.mutation.relax import mutate_relax

    try:
        return mutate_relax(module, mutation) if level == "relax" else mutate_kernels(module, mutation)
    except MutationError as error:
        raise JobFailure(Outcome.MUTATE_FAILED, error.kind, str(error)) from error


def described(mutant: MutatedModule, equivalence: Equivalence | None) -> ModuleMutation:
    """What the job's data say of a mutant."""
    return ModuleMutation(
        fits=mutant.fits,
        places=list(mutant.places[:_SHOWN]),
        before=mutant.before,
        after=mutant.after,
        equivalence=equivalence,
    )


def kernels_compared(mutant: MutatedModule, path: Path, info: ModelInfo, context: JobContext) -> Equivalence | None:
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


def graphs_compared(original: Any, mutant: MutatedModule, info: ModelInfo, context: JobContext) -> Equivalence:
    """Observed in both as they are, unoptimised and on this host: a pass may round what only moved otherwise."""
    objects = kept_objects(context.warm)
    one = _plain(original, context.workdir / "original", objects)
    other = _plain(mutant.module, context.workdir / "mutant", objects)
    with load("tvm", one, info) as before, load("tvm", other, info) as after:
        return probing.compare(before.run, after.run, probing.probes(info, probing.PROBES, 0), [])


def _plain(module: Any, folder: Path, objects: Objects) -> Path:
    folder.mkdir()
    return build_plain(module, folder, objects)
