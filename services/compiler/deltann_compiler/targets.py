"""A target's text as TVM takes it, the width of its vectors, and what its modules need of their device."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from deltann.targets import HOST, TARGETS, Needs, read_target
from deltann.targets.given import mapping_of
from deltann.targets.needs import CPU, LINUX_FLAGS
from deltann_compiler.target_check import GENERIC, check, essential, plain, refuse

_LANES = (("avx512f", 16), ("avx2", 8))
_DEFAULT_LANES = 4
PROCESSORS = ("llvm", "c")
"""TVM's kinds of target that are processors; the others are devices with threads of their own."""


def resolve(text: str) -> dict[str, Any]:
    """The TVM target of a name, a tag or a mapping, as the dict that every result records.

    ``host`` asks LLVM for the processor: ``mcpu: native`` would be accepted, and silently mean a generic one.

    Raises:
        JobFailure: ``compile_failed`` for what TVM does not have, has no code generator for, or would take for
            something else.
    """
    if text == HOST:
        from tvm.target import codegen

        return {"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu(), "num-cores": os.cpu_count() or 1}
    if text in TARGETS:
        return dict(TARGETS[text].tvm)
    try:
        read_target(text)
    except ValueError as error:
        refuse(text, str(error))
    target = mapping_of(text) or {"tag": text}
    if "tag" in target:
        _check_tag(text, target["tag"])
    check(text, target)
    return _written_out(target) if "tag" in target else target


def lanes() -> int:
    """float32 lanes of the vectors of TVM's current target: 16 with AVX-512, 8 with AVX2, else 4 (SSE, NEON)."""
    from tvm.target import codegen

    return next((count for feature, count in _LANES if codegen.target_has_features(feature)), _DEFAULT_LANES)


def needs_of(text: str, target: Mapping[str, Any]) -> Needs:
    """What a module of a resolved target needs: what LLVM may use of the processor, and the GPU's kind."""
    import tvm
    from tvm.target import codegen

    whole = plain(tvm.target.Target(dict(target)))
    kind = whole["kind"]
    processor = whole if kind == "llvm" else whole.get("host") or {"kind": "llvm"}
    machine = _machine(processor)
    flags = LINUX_FLAGS.get(machine, {})
    used = codegen.llvm_get_cpu_features(tvm.target.Target(essential(processor)))
    return Needs(
        target=text,
        runtime=CPU if kind in PROCESSORS else kind,
        machine=machine,
        features=tuple(sorted(flags[name] for name in used if name in flags)),
        arch=whole.get("arch", ""),
    )


def _machine(processor: Mapping[str, Any]) -> str:
    """The machine of an LLVM target, as ``uname -m`` has it; this one's where the target says none."""
    from tvm.target import codegen

    triple = processor.get("mtriple") or codegen.llvm_get_system_triple()
    machine: str = triple.partition("-")[0]
    return "aarch64" if machine == "arm64" else machine


def _check_tag(text: str, tag: str) -> None:
    from tvm.target import list_tags

    known = list_tags()
    if tag not in known:
        refuse(text, "is no tag of this TVM", tag, known)


def _written_out(tagged: Mapping[str, Any]) -> dict[str, Any]:
    """What a tag stands for, without what TVM works out by itself."""
    import tvm

    whole = plain(tvm.target.Target(dict(tagged)))
    if whole["kind"] == "llvm":
        return {"mcpu": GENERIC, **essential(whole)}
    return essential(whole) | ({"host": {"mcpu": GENERIC, **essential(whole["host"])}} if "host" in whole else {})
