"""Passes of the tests' own, which are broken on purpose."""

from __future__ import annotations

import os
import time
from typing import Any

import tvm
from deltann_compiler import levels
from deltann_compiler.levels import Made, Pass
from tvm import relax
from tvm.relax import PyExprMutator, expr_functor

from deltann.passes import PassFacts

_HERE = "deltann_broken"


def _visit(mod: Any, act: Any) -> Any:
    """Every call of an operator in the module's functions, by what ``act(name, call, builder)`` makes of it."""

    @expr_functor.mutator
    class Visitor(PyExprMutator):
        def visit_call_(self, call: Any) -> Any:
            call = super().visit_call_(call)
            return act(getattr(call.op, "name", ""), call)

    visitor = Visitor(mod)
    for name, function in list(mod.functions_items()):
        if isinstance(function, relax.Function):
            visitor.builder_.update_func(name, visitor.visit_expr(function))
    return visitor.builder_.get()


def _pass(name: str, act: Any) -> Any:
    return tvm.transform.module_pass(lambda mod, _: _visit(mod, act), opt_level=0, name=name)


def wrong_sigmoid() -> Any:
    """Takes every sigmoid for a hyperbolic tangent."""
    return _pass("WrongSigmoid", lambda name, call: relax.op.tanh(*call.args) if name == "relax.sigmoid" else call)


def other_absolute() -> Any:
    """Computes absolute values in another way, which is right."""
    return _pass("OtherAbsolute", lambda name, call: _larger(*call.args) if name == "relax.abs" else call)


def _larger(x: Any) -> Any:
    return relax.op.maximum(x, relax.op.negative(x))


def no_negative() -> Any:
    """Drops negations: wrong wherever there is one."""
    return _pass("NoNegative", lambda name, call: call.args[0] if name == "relax.negative" else call)


def crash() -> Any:
    """Ends the process where there is a ceiling."""
    return _pass("Crash", lambda name, call: os.abort() if name == "relax.ceil" else call)


def hang() -> Any:
    """Never ends where there is a floor."""
    return _pass("Hang", lambda name, call: time.sleep(1e6) if name == "relax.floor" else call)


OWN = {
    "OtherAbsolute": (1, "other_absolute"),
    "NoNegative": (2, "no_negative"),
    "WrongSigmoid": (2, "wrong_sigmoid"),
    "Crash": (3, "crash"),
    "Hang": (3, "hang"),
}
"""By name: the level at which it joins, and what makes it."""
TABLE = (
    *levels.TABLE[:4],
    *(Pass(name, Made(_HERE, makes)) for name, (_, makes) in OWN.items()),
    *levels.TABLE[4:],
)
FACTS = {name: PassFacts(level, "broken on purpose") for name, (level, _) in OWN.items()}
