"""A built module as a shared library, linked for its processor and saying what it needs of its device."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from deltann_engines.placement import SECTION

from deltann.errors import JobFailure, WorkError
from deltann.outcome import Outcome
from deltann.targets import Needs
from deltann.targets.needs import CPU

Pack = Callable[[Any, bool, str, str], str]
"""``fpack_imports`` of TVM's ``export_library``: from a module, whether it is a system library, a prefix of its symbols
and a folder to write into, to the path of a file for the linker that holds all modules that it imports."""


def check_code(module: Any, needs: Needs) -> None:
    """Hold a built module against the device that is to compute.

    Raises:
        JobFailure: ``compile_failed`` where none of its kernels became code for it.
    """
    if needs.runtime not in (CPU, *_kinds(module)):
        raise JobFailure(
            Outcome.COMPILE_FAILED,
            "compile",
            f"No kernel of this model became code for {needs.runtime}: TVM built all of them for the processor that "
            f"drives it. Compile for a target without {needs.runtime}.",
        )


def link(built: Any, path: Path, needs: Needs, pack: Pack | None = None, addons: Sequence[str] = ()) -> None:
    """Write a module that TVM has built.

    Args:
        built: what ``tvm.compile`` made.
        path: of the shared library.
        needs: what it says that it needs.
        pack: what packs the modules that it imports, where TVM's own way does not do.
        addons: object files that are linked with it.

    Raises:
        WorkError: where this host has no compiler that links for the module's processor.
        RuntimeError: what the linker says.
    """
    linker = linker_of(needs.machine)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "needs.s")
        told.write_text(_section(needs.model_dump_json()))
        built.export_library(str(path), cc=linker, fpack_imports=pack, addons=[str(told), *addons])


def _kinds(module: Any) -> Iterator[str]:
    """The kinds of code that a module and those it imports hold."""
    yield module.kind
    for part in module.imports:
        yield from _kinds(part)


def linker_of(machine: str) -> str | None:
    """The C compiler that links for a machine; None for this host's own, as TVM finds it.

    Raises:
        WorkError: where it is not installed.
    """
    if machine in ("", platform.machine()):
        return None
    name = f"{machine}-linux-gnu-gcc"
    if shutil.which(name) is None:
        raise WorkError(
            f"Modules for {machine} are linked with {name}, which is not on the PATH of this compiler's host. Install "
            f"it (apt-get install gcc-{machine.replace('_', '-')}-linux-gnu on Debian and Ubuntu) and run it again."
        )
    return name


def _section(text: str) -> str:
    """Assembly of any machine: a section that is never loaded into memory."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'.section {SECTION},"",%progbits\n.ascii "{escaped}"\n.section .note.GNU-stack,"",%progbits\n'
