"""Kernels called by a name that tells their loops, so that one object file serves every module that has them."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, tirx
from tvm.relax import PyExprMutator, expr_functor
from tvm_ffi import structural_hash

from deltann_compiler.reuse import Objects


@expr_functor.mutator
class _Caller(PyExprMutator):
    """Calls of kernels become calls by the name of their loops' hash."""

    def __init__(self, module: Any, target: Any, objects: Objects) -> None:
        super().__init__(module)
        self._module, self._target, self._objects = module, target, objects
        self._names: dict[str, str] = {}
        self.files: dict[str, bytes] = {}

    def visit_call_(self, call: Any) -> Any:
        call = super().visit_call_(call)
        if not (isinstance(call.op, tvm.ir.Op) and call.op.name == "relax.call_tir") or len(call.args) > 2:
            return call
        function = self._module[call.args[0]]
        if not isinstance(function, tirx.PrimFunc):
            return call
        return relax.call_dps_packed(self._name(call.args[0].name_hint, function), call.args[1], list(call.ty_args))

    def _name(self, known_as: str, function: Any) -> str:
        if known_as not in self._names:
            bare = function.without_attr("global_symbol")
            name = self._names[known_as] = f"kernel_{structural_hash(bare) & (1 << 64) - 1:016x}"
            self.files[name] = self._objects.of(name, bare, self._target)
        return self._names[known_as]


def parted(module: Any, target: Any, objects: Objects) -> tuple[Any, list[bytes]]:
    """A scheduled module whose kernels are called by name, and the object files that have them.

    Kernels that take more than tensors stay in the module.
    """
    # Reshapes of kernels are told by their loops: after this nothing has to look into a kernel.
    module = relax.transform.RewriteDataflowReshape()(module)
    caller = _Caller(module, target, objects)
    for name, function in list(module.functions_items()):
        if isinstance(function, relax.Function):
            caller.builder_.update_func(name, caller.visit_expr(function))
    left = relax.transform.DeadCodeElimination(["main"])(caller.builder_.get())
    return left, list(caller.files.values())
