"""The modules that a TVM module imports, as they lie in its shared library: TVM's layout, read and written.

    u64 size of what follows
    u64[] and u64[], the tree of imports: indices of children, and where each module's begin
    for each module its kind as a string; and for all but the library itself ("_lib") its bytes as a string

Numbers are little-endian; arrays and strings begin with their length as u64. The bytes of a CUDA module are a string
with its format ("cuda" for source, "cubin" for machine code), the map of its kernels, and a string with its code.
After apache-tvm-ffi 0.1.14, library_module.cc, whose loader reads this.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

_LIBRARY = b"_lib"
_SIZE = 8


def replaced(blob: bytes, kind: str, change: Callable[[bytes], bytes]) -> bytes:
    """The blob with the bytes of every module of one kind changed.

    Raises:
        ValueError: where the blob is not in this layout.
    """
    size, at = _number(blob, 0), _SIZE
    if size != len(blob) - _SIZE:
        raise ValueError(f"TVM packed {len(blob) - _SIZE} bytes of modules and says {size}: not the layout known here")
    for _ in range(2):
        at += _SIZE + _SIZE * _number(blob, at)
    parts = [blob[_SIZE:at]]
    while at < len(blob):
        name, at = _string(blob, at)
        parts.append(packed(name))
        if name != _LIBRARY:
            held, at = _string(blob, at)
            parts.append(packed(change(held) if name == kind.encode() else held))
    return packed(b"".join(parts))


def with_cubin(module: bytes, source: str, cubin: bytes) -> bytes:
    """The bytes of a CUDA module that holds machine code in place of its source.

    Raises:
        ValueError: where the module does not hold this source.
    """
    begin, end = packed(b"cuda"), packed(source.encode())
    if not (module.startswith(begin) and module.endswith(end)):
        raise ValueError("TVM packed its CUDA kernels in another way than the one known here")
    return packed(b"cubin") + module[len(begin) : -len(end)] + packed(cubin)


def packed(value: bytes) -> bytes:
    """A string with its length before it."""
    return struct.pack("<Q", len(value)) + value


def _number(blob: bytes, at: int) -> int:
    value: int = struct.unpack_from("<Q", blob, at)[0]
    return value


def _string(blob: bytes, at: int) -> tuple[bytes, int]:
    end = at + _SIZE + _number(blob, at)
    if end > len(blob):
        raise ValueError("TVM's modules end before their length: not the layout known here")
    return blob[at + _SIZE : end], end
