"""What the header of a shared library says: the processor it is for, and whether the file is whole."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""Values of ``e_machine`` by the names that ``uname -m`` has for them."""
_AFTER_IDENTITY = {1: "HHIIIIIHHHHHH", 2: "HHIQQQIHHHHHH"}
"""Fields of the header behind ``e_ident`` for 32 and 64 bits, from ``e_type`` to ``e_shstrndx``."""


@dataclass(frozen=True)
class Header:
    """``machine`` is None for a processor that has no name here; ``whole`` is False for a file that was cut short."""

    machine: str | None
    whole: bool


def read(path: Path) -> Header | None:
    """The header of an ELF file, or None for a file of another kind.

    The table of sections is the last thing that linkers write: a file that ends before it was truncated.
    """
    with path.open("rb") as file:
        head = file.read(64)
    fields = _AFTER_IDENTITY.get(head[4]) if len(head) > 16 and head[:4] == b"\x7fELF" else None
    if fields is None:
        return None
    layout = struct.Struct(("<" if head[5] == 1 else ">") + fields)
    if len(head) < 16 + layout.size:
        return Header(None, whole=False)
    _, machine, _, _, _, sections, _, _, _, _, size, count, _ = layout.unpack_from(head, 16)
    return Header(_MACHINES.get(machine), whole=path.stat().st_size >= sections + size * count)
