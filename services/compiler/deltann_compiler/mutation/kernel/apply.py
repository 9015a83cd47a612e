"""One mutation of the kernels of a scheduled module."""

from __future__ import annotations

from typing import Any

from deltann.mutation import Mutation, PositionError
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.kernel.base import REGISTERED, KernelOperator
from deltann_compiler.mutation.kernel.bounds import clamped, unproven
from deltann_compiler.mutation.mutated import MutatedModule, hash_of


def mutate_kernels(module: Any, mutation: Mutation) -> MutatedModule:
    """The mutant of a scheduled module, which is left as it is. Places are counted kernel by kernel, by name.

    Raises:
        MutationError: ``fits_nowhere``, ``past_the_end``, ``out_of_bounds`` or ``unchanged``.
    """
    import tvm
    from tvm import tirx

    does, values = REGISTERED[mutation.operator], mutation.values
    kernels = sorted(
        ((name, one) for name, one in module.functions_items() if isinstance(one, tirx.PrimFunc)),
        key=lambda item: str(item[0].name_hint),
    )
    counts = [_count(one, does, values) for _, one in kernels]
    if not sum(counts):
        raise MutationError(
            "fits_nowhere", f"{mutation.operator} fits nowhere in these kernels: none has {mutation.facts.fits}"
        )
    try:
        chosen = set(mutation.at.select(sum(counts)))
    except PositionError as error:
        raise MutationError("past_the_end", f"{mutation.operator}: {error}") from error
    mutant, named, first = tvm.IRModule(dict(module.functions_items()), attrs=module.attrs), [], 0
    for (name, function), count in zip(kernels, counts, strict=True):
        here = {place - first for place in chosen if first <= place < first + count}
        first += count
        if here:
            made = _apply(function, does, values, here)
            mutant[name] = _checked(clamped(made) if values.get("clamp") else made, name.name_hint, mutation)
            named.append(name.name_hint)
    before, after = hash_of(module), hash_of(mutant)
    if before == after:
        raise MutationError("unchanged", f"{mutation.name} changes nothing of these kernels: their hash is the same")
    return MutatedModule(mutant, sum(counts), tuple(named), before, after, does.proven_equivalent(values))


def _count(function: Any, does: KernelOperator, values: dict[str, float]) -> int:
    from tvm import tirx
    from tvm_ffi import structural_walk

    around, found = does.survey(function), [0]

    def note(node: Any) -> None:
        found[0] += does.fits(node, around, values)

    structural_walk(function.body, (getattr(tirx, does.node), note))
    return found[0]


def _apply(function: Any, does: KernelOperator, values: dict[str, float], chosen: set[int]) -> Any:
    from tvm import tirx
    from tvm_ffi import structural_map

    around, place = does.survey(function), iter(range(1 << 31))

    def change(node: Any) -> Any:
        if does.fits(node, around, values) and next(place) in chosen:
            return does.mutated(node, values)
        return node

    return function.with_body(structural_map(function.body, (getattr(tirx, does.node), change)))


def _checked(function: Any, name: str, mutation: Mutation) -> Any:
    if (where := unproven(function)) is not None:
        raise MutationError(
            "out_of_bounds", f"{mutation.name} could touch memory out of bounds in the kernel {name}: {where}"
        )
    return function
