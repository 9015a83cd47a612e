"""A built module's kernels as machine code, and where that goes when the module is linked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltann.errors import JobFailure
from deltann.kinds.device_code import DeviceCode
from deltann.outcome import Outcome
from deltann_compiler.cuda.imports import replaced, with_cubin
from deltann_compiler.cuda.nvrtc import RefusedError, compiler_for
from deltann_compiler.cuda.resources import kernels_of
from deltann_compiler.linking import Pack

_KIND = "cuda"
_SHOWN = 3

_ASSEMBLY = """
.section .rodata
.balign 64
.globl __tvm_ffi__library_bin
__tvm_ffi__library_bin:
.incbin "{path}"
.section .note.GNU-stack,"",%progbits
"""
"""The imports under the name that TVM's loader looks for. The note says that no stack has to be executable."""


def compile_kernels(built: Any, arch: str, options: tuple[str, ...] = ()) -> tuple[DeviceCode, Pack]:
    """Compile the kernels of a module that TVM has built for a target of kind ``cuda``.

    Args:
        built: what ``tvm.compile`` made.
        arch: as "sm_87".
        options: further options of NVRTC.

    Returns:
        What came of it, and what packs it into the shared library of ``built``.

    Raises:
        JobFailure: ``compile_failed`` where no NVRTC knows the architecture, or where it refuses a kernel.
    """
    source = source_of(built.mod)
    assert source is not None, "a module for CUDA has CUDA's kernels: check_code looks for them"
    nvrtc = compiler_for(arch)
    try:
        made = nvrtc.compile(source, arch, options)
    except RefusedError as error:
        print(source, error, sep="\n")  # into the job's log
        raise JobFailure(
            Outcome.COMPILE_FAILED,
            "compile",
            f"NVRTC {nvrtc.version} refuses the kernels that TVM made for {arch}: {_errors(str(error))}",
        ) from error

    def pack(module: Any, system: bool, prefix: str, folder: str) -> str:
        return _pack(module, source, made.cubin, Path(folder))

    code = DeviceCode(
        arch=arch, compiler=f"NVRTC {nvrtc.version}", size_bytes=len(made.cubin), kernels=kernels_of(made.log)
    )
    return code, pack


def source_of(module: Any) -> str | None:
    """The CUDA C++ of a built module's kernels, or None where it has none."""
    if module.kind == _KIND:
        source: str = module.inspect_source(_KIND)
        return source
    return next((found for one in module.imports if (found := source_of(one)) is not None), None)


def _pack(module: Any, source: str, cubin: bytes, folder: Path) -> str:
    import tvm

    blob = tvm.get_global_func("runtime.ModulePackImportsToTensor")(module).numpy().tobytes()
    held, assembly = folder / "imports.bin", folder / "imports.s"
    held.write_bytes(replaced(blob, _KIND, lambda one: with_cubin(one, source, cubin)))
    assembly.write_text(_ASSEMBLY.format(path=held))
    return str(assembly)


def _errors(log: str) -> str:
    """The lines of a log that tell what is wrong, the first few of them."""
    lines = [line.strip() for line in log.splitlines() if "error" in line.lower()] or log.strip().splitlines()
    return "; ".join(lines[:_SHOWN])
