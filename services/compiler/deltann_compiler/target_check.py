"""What TVM would take and silently build for something else, or not at all: refused, with what to write instead."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from deltann.errors import JobFailure
from deltann.outcome import Outcome

GENERIC = "generic"
_HOSTED = ("cuda", "opencl")
_QUOTES = "\"'."
_DERIVED = {"keys", "tag", "host"}


def check(text: str, target: Mapping[str, Any]) -> None:
    """Hold a target against what TVM and LLVM know.

    Args:
        text: as it was given.
        target: as TVM takes it.

    Raises:
        JobFailure: ``compile_failed`` with the first thing that is wrong.
    """
    import tvm

    try:
        whole = plain(tvm.target.Target(dict(target)))
    except Exception as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        refuse(text, f"is none that TVM takes: {said.partition(' Target creation')[0].strip(_QUOTES)[:300]}")
    kind = whole["kind"]
    if tvm.get_global_func(f"target.build.{kind}", allow_missing=True) is None:
        refuse(text, f"cannot be compiled for: this TVM has no code generator for {kind}")
    if kind in _HOSTED and "host" not in whole:
        refuse(
            text,
            "does not say which processor drives the device: its module would be for the machine that compiles. Give a "
            f"name that `deltann targets` lists, or TVM's mapping: {{tag: {text}, host: {{kind: llvm, …}}}}",
        )
    for part in (whole, whole.get("host") or {}):
        if part.get("kind") == "llvm":
            _check_processor(text, part)


def _check_processor(text: str, target: Mapping[str, Any]) -> None:
    from tvm.target import Target, codegen

    triple = target.get("mtriple") or codegen.llvm_get_system_triple()
    mcpu = target.get("mcpu", GENERIC)
    machine = triple.partition("-")[0]
    if machine not in list(codegen.llvm_get_targets()):
        refuse(text, f"has a machine {machine!r} that LLVM does not know")
    if mcpu != GENERIC and not codegen.llvm_is_valid_cpu(mcpu, triple):
        there = codegen.llvm_get_cpu_archlist(Target({"kind": "llvm", "mtriple": triple}))
        why = f"has a processor {mcpu!r} that is none of {triple}: LLVM would build for a generic one"
        refuse(text, why, mcpu, there)
    asked = {one.removeprefix("+").removeprefix("-") for one in target.get("mattr", ())}  # "-": to be left out
    unknown = sorted(asked - codegen.llvm_get_cpu_features(Target(essential(target))))
    if unknown:
        refuse(text, f"names {', '.join(unknown)} in mattr, which LLVM does not know there and would leave out")


def refuse(text: str, why: str, name: str = "", known: Iterable[str] = ()) -> NoReturn:
    """End the job with a sentence about its target, and the nearest of the known names."""
    close = difflib.get_close_matches(name, list(known), n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise JobFailure(Outcome.COMPILE_FAILED, "target", f"The target {text} {why}.{meant}")


def essential(target: Mapping[str, Any]) -> dict[str, Any]:
    """A target without its host and without what TVM derives from the rest."""
    return {name: value for name, value in target.items() if name not in _DERIVED and not name.startswith("feature.")}


def plain(target: Any) -> dict[str, Any]:
    """TVM's target as plain Python data."""

    def data(value: Any) -> Any:
        return dict(value) if hasattr(value, "items") else list(value)

    found: dict[str, Any] = json.loads(json.dumps(data(target.export()), default=data))
    return found
