"""A built module as a shared library, linked for its processor and saying what it needs of its device."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deltann_engines.placement import SECTION

from deltann.errors import WorkError
from deltann.targets import Needs
from deltann.targets.needs import CPU


def link(built: Any, path: Path, needs: Needs) -> Path:
    """Write a module that TVM has built.

    Raises:
        WorkError: where this host has no compiler that links for the module's processor.
        RuntimeError: where TVM built nothing for the device that is to compute, and what the linker says.
    """
    if needs.runtime not in (CPU, *_kinds(built.mod)):
        raise RuntimeError(
            f"Error: no kernel became code for {needs.runtime}: TVM built all of them for the processor that drives it"
        )
    linker = linker_of(needs.machine)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "needs.s")
        told.write_text(_section(needs.model_dump_json()))
        built.export_library(str(path), cc=linker, addons=[str(told)])
    return path


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
