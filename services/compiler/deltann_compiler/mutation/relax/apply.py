"""One mutation of a Relax graph as a frontend made it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tvm import relax
from tvm.relax import PyExprMutator, expr_functor

from deltann.errors import first_line
from deltann.mutation import Mutation, PositionError
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.mutated import MutatedModule, hash_of
from deltann_compiler.mutation.relax.base import REGISTERED, RelaxOperator, Values

_MAIN = "main"


@expr_functor.mutator
class _Mutator(PyExprMutator):
    """Changes the bindings whose numbers among the places were chosen. What it makes itself is no place."""

    def __init__(self, module: Any, does: RelaxOperator, values: Values, chosen: Collection[int]) -> None:
        super().__init__(module)
        self._does, self._values, self._chosen = does, values, chosen
        self._place = 0

    def visit_call_(self, call: Any) -> Any:
        fits = self._does.fits(call)
        call = super().visit_call_(call)
        self._place += fits
        if not fits or self._place - 1 not in self._chosen:
            return call
        return self._does.mutated(call, self._values, self.builder_.emit)


def mutate_relax(module: Any, mutation: Mutation) -> MutatedModule:
    """The mutant of a module, which is left as it is. Places are the bindings of ``main``, in order.

    Raises:
        MutationError: ``fits_nowhere``, ``past_the_end``, ``invalid`` or ``unchanged``.
    """
    does = REGISTERED[mutation.operator]
    places = [binding for binding in _bindings(module[_MAIN]) if does.fits(binding.value)]
    if not places:
        raise MutationError(
            "fits_nowhere", f"{mutation.operator} fits nowhere in this graph: none of it is {mutation.facts.fits}"
        )
    try:
        chosen = mutation.at.select(len(places))
    except PositionError as error:
        raise MutationError("past_the_end", f"{mutation.operator}: {error}") from error
    mutant = _applied(module, does, mutation, chosen)
    before, after = hash_of(module), hash_of(mutant)
    if before == after:
        raise MutationError("unchanged", f"{mutation.name} changes nothing of this graph: its hash is the same")
    return MutatedModule(mutant, len(places), tuple(str(places[one].var.name) for one in chosen), before, after)


def _bindings(function: Any) -> list[Any]:
    return [
        binding for block in function.body.blocks for binding in block.bindings if isinstance(binding.value, relax.Call)
    ]


def _applied(module: Any, does: RelaxOperator, mutation: Mutation, chosen: Collection[int]) -> Any:
    mutator = _Mutator(module, does, mutation.values, chosen)
    try:
        changed = mutator.visit_expr(module[_MAIN])
    except Exception as error:
        raise MutationError("invalid", f"the mutant is no valid graph: {first_line(error)}") from error
    before, after = module[_MAIN].ret_ty, changed.ret_ty
    if str(before) != str(after):
        raise MutationError(
            "invalid", f"the mutant is no variant of the model: it gives {after} instead of {before}".replace("\n", " ")
        )
    mutator.builder_.update_func(module.get_global_var(_MAIN), changed)
    return mutator.builder_.get()
