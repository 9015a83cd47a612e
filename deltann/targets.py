"""Compilation targets by name: the one table of them."""

from __future__ import annotations

from typing import Any, Literal, get_args

Target = Literal["host", "x86-64-v2", "x86-64-v3", "x86-64-v4", "opencl"]
"""The names that a study may give."""

HOST: Target = "host"
"""The processor of the machine that compiles."""

NAMES: tuple[Target, ...] = get_args(Target)

TARGETS: dict[str, dict[str, Any]] = {
    "x86-64-v2": {"kind": "llvm", "mcpu": "x86-64-v2"},
    "x86-64-v3": {"kind": "llvm", "mcpu": "x86-64-v3"},
    "x86-64-v4": {"kind": "llvm", "mcpu": "x86-64-v4"},
    "opencl": {"kind": "opencl", "host": {"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "x86-64-v2"}},
}
"""What a name stands for, in the compiler's terms; ``host`` is found out where it compiles."""
