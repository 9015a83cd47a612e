"""The compiler's job kinds."""

from __future__ import annotations

from deltann.kinds.compile import CompileParams, ImportParams
from deltann.outcome import Outcome
from deltann.service import Kind, Service
from deltann_compiler.processor import cpu_fingerprint

_TVM = ("apache-tvm", "apache-tvm-ffi")


def _facts(params: CompileParams) -> dict[str, str]:
    """A module for ``host`` is for this very processor: another host of the same store must not be given it."""
    return {"processor": cpu_fingerprint()} if params.target == "host" else {}


IMPORT = Kind(
    name="import",
    params=ImportParams,
    handler="deltann_compiler.importing:import_model",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: "import",
    signed=True,
    toolchain=lambda params: (*_TVM, "torch", "onnx", "onnxruntime", "tflite"),
    seconds=1200.0,
)
COMPILE = Kind(
    name="compile",
    params=CompileParams,
    handler="deltann_compiler.compiling:compile_model",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: "tvm",
    signed=True,
    toolchain=lambda params: _TVM,
    facts=_facts,
    seconds=1200.0,
)

SERVICE = Service("compiler", (IMPORT, COMPILE))
