"""What a module needs of the device that runs it, written into the module when it is made."""

from __future__ import annotations

from pydantic import ConfigDict

from deltann.base import Data

CPU = "cpu"

_X86 = {
    **{"sse3": "pni", "ssse3": "ssse3", "sse4.1": "sse4_1", "sse4.2": "sse4_2", "popcnt": "popcnt", "cx16": "cx16"},
    **{"sahf": "lahf_lm", "avx": "avx", "avx2": "avx2", "fma": "fma", "f16c": "f16c", "bmi": "bmi1", "bmi2": "bmi2"},
    **{"lzcnt": "abm", "movbe": "movbe", "gfni": "gfni", "sse4a": "sse4a", "fma4": "fma4", "xop": "xop", "tbm": "tbm"},
    **{f"avx512{name}": f"avx512{name}" for name in ("f", "bw", "cd", "dq", "vl", "ifma", "vbmi")},
    **{f"avx512{name}": f"avx512_{name}" for name in ("vnni", "bf16", "fp16", "vbmi2", "bitalg", "vpopcntdq")},
    **{"avxvnni": "avx_vnni", "amx-tile": "amx_tile", "amx-int8": "amx_int8", "amx-bf16": "amx_bf16"},
}
_ARM = {
    **{"neon": "asimd", "dotprod": "asimddp", "fullfp16": "asimdhp", "rdm": "asimdrdm"},
    **{"fp16fml": "asimdfhm", "lse": "atomics", "rcpc": "lrcpc", "jsconv": "jscvt", "complxnum": "fcma"},
    **{"i8mm": "i8mm", "bf16": "bf16", "sve": "sve", "sve2": "sve2", "sme": "sme"},
}
LINUX_FLAGS: dict[str, dict[str, str]] = {"x86_64": _X86, "aarch64": _ARM}
"""By machine: the instruction sets that LLVM uses unasked, as LLVM calls them, and as Linux does in ``/proc/cpuinfo``.

Cryptography is left out: LLVM gives it to a Cortex-A72, a Raspberry Pi 4 has none, and no kernel of a model uses it.
"""


class Needs(Data):
    """What a module needs.

    Args:
        target: what it was compiled for, as a person named it.
        runtime: TVM's name of the device that computes: ``cpu``, ``cuda``, ``opencl``, …
        machine: of the processor, as ``uname -m`` has it; empty where it is not known.
        features: of the processor, as Linux calls them.
        arch: of a CUDA device: ``sm_87``.
    """

    model_config = ConfigDict(extra="ignore")  # a compiler of a later version may ask for more

    target: str
    runtime: str = CPU
    machine: str = ""
    features: tuple[str, ...] = ()
    arch: str = ""
