"""Compilation targets by name: the one table of them."""

from __future__ import annotations

from typing import Any

HOST = "host"
"""The processor of the machine that compiles."""

TARGETS: dict[str, dict[str, Any]] = {
    "x86-64-v2": {"kind": "llvm", "mcpu": "x86-64-v2"},
    "x86-64-v3": {"kind": "llvm", "mcpu": "x86-64-v3"},
    "x86-64-v4": {"kind": "llvm", "mcpu": "x86-64-v4"},
}
"""What a name stands for, in the compiler's terms; ``host`` is found out where it compiles."""

NAMES: tuple[str, ...] = (HOST, *TARGETS)
