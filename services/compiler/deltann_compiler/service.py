"""The compiler's job kinds."""

from __future__ import annotations

from deltann.engines import ENGINES
from deltann.kinds.bisect import BisectParams
from deltann.kinds.build import BuildParams
from deltann.kinds.compile import CompileParams, ExplainParams, ImportParams
from deltann.kinds.mutate import MutateParams
from deltann.outcome import Outcome
from deltann.service import Kind, Service
from deltann.targets import HOST, TARGETS
from deltann_compiler.cuda import nvrtc
from deltann_compiler.processor import cpu_fingerprint

_TVM = ("apache-tvm", "apache-tvm-ffi")
_OF_CUDA = ('"cuda"', "nvidia/")
"""In the text of a target that has no name: TVM's kind, and its tags."""


def _toolchain(params: CompileParams) -> tuple[str, ...]:
    """TVM, and for a CUDA device what makes machine code of its kernels."""
    known = TARGETS.get(params.target)
    cuda = known.needs.runtime == "cuda" if known else any(word in params.target for word in _OF_CUDA)
    return (*_TVM, *nvrtc.DISTRIBUTIONS) if cuda else _TVM


def _facts(params: CompileParams | BisectParams) -> dict[str, str]:
    """A module for ``host`` is for this very processor: another host of the same store must not be given it."""
    return {"processor": cpu_fingerprint()} if params.target == HOST else {}


MUTATE = Kind(
    name="mutate",
    params=MutateParams,
    handler="deltann_compiler.mutating:mutate_model",
    failure=Outcome.MUTATE_FAILED,
    affinity=lambda params: "mutate",
    toolchain=lambda params: ("onnx", "onnxruntime", "numpy"),
    seconds=600.0,
)
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
    toolchain=_toolchain,
    facts=_facts,
    seconds=1200.0,
)
EXPLAIN = Kind(
    name="explain",
    params=ExplainParams,
    handler="deltann_compiler.explaining:explain_model",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: "tvm",
    toolchain=_toolchain,
    facts=_facts,
    seconds=1200.0,
)

BUILD = Kind(
    name="build",
    params=BuildParams,
    handler="deltann_compiler.building:build_model",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: f"build/{params.compiler}",
    signed=True,
    toolchain=lambda params: ENGINES[params.compiler].compiler,
    facts=lambda params: {"processor": cpu_fingerprint()},
    seconds=1200.0,
)

BISECT = Kind(
    name="bisect",
    params=BisectParams,
    handler="deltann_compiler.bisect.job:bisect_model",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: "tvm",
    toolchain=lambda params: (*_TVM, "onnx", "onnxruntime", "numpy"),
    facts=_facts,
    seconds=3600.0,
)

SERVICE = Service("compiler", (MUTATE, IMPORT, COMPILE, EXPLAIN, BUILD, BISECT))
