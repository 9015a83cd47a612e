"""NVIDIA's runtime compiler, of the CUDA version that an architecture needs.

CUDA 13 knows no architecture before sm_75, so not the boards TX1 to Xavier; and code of an older CUDA version runs with
more drivers than that of a newer one. So several versions are looked for, and the oldest that knows the architecture is
taken. Each is loaded by itself, by ctypes and from its own folder: the bindings of ``cuda-bindings`` exist once in an
environment, for the version that PyTorch pins.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from deltann.errors import JobFailure
from deltann.outcome import Outcome
from deltann_compiler.cuda.prelude import HEADERS

DISTRIBUTIONS = ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc")
"""Distributions that bring the compiler, the oldest version first."""


class RefusedError(Exception):
    """NVRTC does not compile the source; the message is its log."""


@dataclass(frozen=True)
class Compiled:
    """Machine code (an ELF file) and what the compiler said about it."""

    cubin: bytes
    log: str


@dataclass(frozen=True)
class Nvrtc:
    """One loaded version of the compiler.

    Args:
        library: the loaded library.
        version: as "12.9".
        architectures: the numbers of the sm_NN that it makes code for.
    """

    library: ctypes.CDLL
    version: str
    architectures: frozenset[int]

    def compile(self, source: str, arch: str, options: tuple[str, ...] = ()) -> Compiled:
        """Compile CUDA C++ into machine code.

        Args:
            source: one translation unit.
            arch: as "sm_87".
            options: further options of NVRTC.

        Raises:
            RefusedError: with the compiler's log.
        """
        program = ctypes.c_void_p()
        texts = [text.encode() for text in HEADERS.values()]
        names = [name.encode() for name in HEADERS]
        self._call(
            "nvrtcCreateProgram", ctypes.byref(program), source.encode(), b"kernels.cu", len(names), _strings(texts),
            _strings(names),
        )  # fmt: skip
        try:
            given = [f"--gpu-architecture={arch}", "--ptxas-options=-v", "--disable-warnings", *options]
            result = self.library.nvrtcCompileProgram(program, len(given), _strings([one.encode() for one in given]))
            log = self._read(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
            if result:
                raise RefusedError(log.strip() or self._told(result))
            return Compiled(self._read(program, "CUBIN"), log)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _read(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def _call(self, name: str, *args: object) -> None:
        if result := getattr(self.library, name)(*args):
            raise RefusedError(f"{name}: {self._told(result)}")

    def _told(self, result: int) -> str:
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
        told: bytes = self.library.nvrtcGetErrorString(result)
        return told.decode()


def number_of(arch: str) -> int:
    """87 of "sm_87", 90 of "sm_90a".

    Raises:
        JobFailure: ``compile_failed`` for anything else.
    """
    found = re.fullmatch(r"sm_(\d+)[af]?", arch)
    if found is None:
        raise JobFailure(
            Outcome.COMPILE_FAILED,
            "target",
            f"CUDA's architectures are written as sm_87, and this target has {arch!r}: give the device's own.",
        )
    return int(found[1])


def compiler_for(arch: str) -> Nvrtc:
    """The oldest installed NVRTC that knows an architecture.

    Raises:
        JobFailure: ``compile_failed`` where none does, saying what there is.
    """
    number = number_of(arch)
    for one in installed():
        if number in one.architectures:
            return one
    known = "; ".join(
        f"{one.version} knows sm_{min(one.architectures)} to {max(one.architectures)}" for one in installed()
    )
    raise JobFailure(
        Outcome.COMPILE_FAILED,
        "target",
        f"No installed NVRTC compiles for {arch}: {known or 'there is none'}. "
        f"Install {' or '.join(DISTRIBUTIONS)} beside the compiler, or take a target of another architecture.",
    )


@cache
def installed() -> tuple[Nvrtc, ...]:
    """The versions in this environment, oldest first."""
    return tuple(_load(path) for path in map(_library, DISTRIBUTIONS) if path is not None)


def _library(distribution: str) -> Path | None:
    """The library's file in a distribution, or None where that is not installed."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(one.locate())) for one in files if re.fullmatch(r"libnvrtc\.so\.\d+", one.name)), None)


def _load(path: Path) -> Nvrtc:
    # It opens its built-ins by name alone; loaded before, they are found whatever the search path of this process.
    for builtins in path.parent.glob("libnvrtc-builtins.so*"):
        ctypes.CDLL(str(builtins))
    library = ctypes.CDLL(str(path))
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(numbers)
    return Nvrtc(library, f"{major.value}.{minor.value}", frozenset(numbers))


def _strings(values: list[bytes]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(values))(*values)
