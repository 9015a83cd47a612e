"""Kernels that were compiled before are not compiled again: each is machine code of its own, found by its structure.

A module of many kernels takes LLVM seconds, and a mutant of it differs in few of them. So each kernel becomes an object
file whose one function is named by the structural hash of its loops; the virtual machine's program calls it by that
name, and the linker puts together what the module needs. For processors alone: other devices' kernels are driven from
the host.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_MOST_BYTES = 256 << 20
"""Of objects that are kept."""


@dataclass
class Objects:
    """Object files by target and kernel, those that were used last; as long as its process lives."""

    kept: OrderedDict[str, bytes] = field(default_factory=OrderedDict)
    compiled: int = 0
    reused: int = 0

    def of(self, name: str, function: Any, target: Any) -> bytes:
        """The object file of a kernel that is called ``name``, compiled if it is not there."""
        key = f"{name} {target}"
        if key in self.kept:
            self.reused += 1
            self.kept.move_to_end(key)
            return self.kept[key]
        self.compiled += 1
        self.kept[key] = made = _compile(name, function, target)
        while sum(map(len, self.kept.values())) > _MOST_BYTES and len(self.kept) > 1:
            self.kept.popitem(last=False)
        return made


def _compile(name: str, function: Any, target: Any) -> bytes:
    import tvm

    built = tvm.tirx.build(tvm.IRModule({name: function.with_attr("global_symbol", name)}), target)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.o")
        built.write_to_file(str(path))
        return path.read_bytes()


def build_reusing(module: Any, target: dict[str, Any], folder: Path, objects: Objects) -> tuple[Any, list[str]]:
    """What ``tvm.compile`` makes of a scheduled module, and the object files in ``folder`` that have its kernels."""
    import tvm

    from deltann_compiler.passes.named_kernels import parted

    aim = tvm.target.Target(target)
    with aim:
        left, files = parted(module, aim, objects)
    left["deltann_anchor"] = _anchor()
    paths = [folder / f"kernel{number}.o" for number in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    return tvm.compile(left, aim), [str(path) for path in paths]


def kept_objects(warm: dict[str, Any]) -> Objects:
    """The objects that a warm child keeps from job to job."""
    kept: Objects = warm.setdefault("kernels", Objects())
    return kept


@cache
def _anchor() -> Any:
    """A kernel that does nothing: TVM packs a program only beside machine code of its own."""
    from tvm.script import tirx as T  # noqa: N812  (TVM's parser knows it by this name)

    @T.prim_func(s_tir=True)
    def deltann_anchor(x: T.Buffer((1,), "float32")):
        x[0] = T.float32(0)

    return deltann_anchor.with_attr("global_symbol", "deltann_anchor")
