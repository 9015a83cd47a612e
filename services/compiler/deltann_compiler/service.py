"""The compiler's job kinds."""

from __future__ import annotations

from deltann.kinds.compile import CompileParams, ImportParams
from deltann.outcome import Outcome
from deltann.service import Kind, Service

_TVM = ("apache-tvm", "apache-tvm-ffi")

IMPORT = Kind(
    name="import",
    params=ImportParams,
    handler="deltann_compiler.importing:import_model",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: "import",
    toolchain=lambda params: (*_TVM, "torch", "onnx", "onnxruntime", "tflite"),
    seconds=1200.0,
)
COMPILE = Kind(
    name="compile",
    params=CompileParams,
    handler="deltann_compiler.compiling:compile_model",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: "tvm",
    toolchain=lambda params: _TVM,
    seconds=1200.0,
)

SERVICE = Service("compiler", (IMPORT, COMPILE))
