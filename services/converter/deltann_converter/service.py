"""The converter's job kinds."""

from __future__ import annotations

from deltann.kinds.convert import ConvertParams
from deltann.kinds.quantize import QUANTIZE as QUANTIZE_KIND
from deltann.kinds.quantize import SCHEMES, QuantizeParams
from deltann.kinds.repair import LocalizeParams, RepairParams
from deltann.kinds.resolve import ResolveDataParams, ResolveModelParams
from deltann.model import Framework
from deltann.outcome import Outcome
from deltann.service import Kind, Service
from deltann_converter.loaders import DISTRIBUTIONS as LOADER_DISTRIBUTIONS
from deltann_converter.loaders import LOADERS
from deltann_converter.quantize import quantizer
from deltann_converter.tools import registered

_ENGINES: dict[Framework, str] = {
    "pytorch": "torch",
    "keras": "tensorflow",
    "tensorflow": "tensorflow",
    "tflite": "ai-edge-litert",
    "onnx": "onnxruntime",
    "coreml": "coremltools",
}


def _convert_toolchain(params: ConvertParams) -> tuple[str, ...]:
    """What the edge's tools consist of, and the engines that run both sides for the parity check."""
    tools = (tool for tool in registered() if (tool.source, tool.target) == (params.source, params.target))
    chosen = [tool for tool in tools if params.tool in (None, tool.name) and tool.python is None]
    used = {name for tool in chosen for name in tool.distributions}
    return tuple(sorted(used | {_ENGINES[params.source], _ENGINES[params.target]}))


def _quantize_toolchain(params: QuantizeParams) -> tuple[str, ...]:
    """What makes the scheme's models, the engine of what it makes, and what a model on its way there may pass."""
    passed = {"onnx2keras", "onnx"} if SCHEMES[params.scheme].makes == "tflite" else set()
    engine = _ENGINES[SCHEMES[params.scheme].makes]
    return tuple(sorted({*quantizer(params.scheme).distributions, engine, *passed}))


def _resolve_toolchain(params: ResolveModelParams) -> tuple[str, ...]:
    return (*LOADER_DISTRIBUTIONS.get(params.source, ()), "torch", "torchvision", "keras", "tensorflow", "onnx")


def _localize_toolchain(params: LocalizeParams) -> tuple[str, ...]:
    """The engines of both sides, ONNX Runtime, and what converts the target to ONNX where it is none."""
    into = {
        name
        for tool in registered()
        if (tool.source, tool.target) == (params.target, "onnx")
        for name in tool.distributions
    }
    engines = {_ENGINES[params.source], _ENGINES[params.target]}
    return tuple(sorted(into | engines | {"onnx", "onnxruntime", "numpy", "scipy"}))


RESOLVE_MODEL = Kind(
    name="resolve_model",
    params=ResolveModelParams,
    handler="deltann_converter.resolve_model:resolve_model",
    failure=Outcome.RUN_FAILED,
    toolchain=_resolve_toolchain,
    seconds=1800.0,
)


def _carrier(params: ResolveDataParams) -> tuple[str, ...]:
    """The package that brings a named set."""
    package, _, name = params.source.partition(":")
    return (package,) if name and package.isidentifier() else ()


RESOLVE_DATA = Kind(
    name="resolve_data",
    params=ResolveDataParams,
    handler="deltann_converter.resolve_data:resolve_data",
    failure=Outcome.RUN_FAILED,
    affinity=lambda params: " ".join(("data", *_carrier(params))),  # TensorFlow must not meet torchvision
    toolchain=lambda params: ("numpy", "pillow", *_carrier(params)),
    seconds=3600.0,
)
CONVERT = Kind(
    name="convert",
    params=ConvertParams,
    handler="deltann_converter.convert:convert",
    failure=Outcome.CONVERT_FAILED,
    toolchain=_convert_toolchain,
    memory_mb=16_384,
    seconds=900.0,
)
QUANTIZE = Kind(
    name=QUANTIZE_KIND,
    params=QuantizeParams,
    handler="deltann_converter.quantize.job:quantize",
    failure=Outcome.CONVERT_FAILED,
    toolchain=_quantize_toolchain,
    memory_mb=16_384,
    seconds=1800.0,
)
LOCALIZE = Kind(
    name="localize",
    params=LocalizeParams,
    handler="deltann_converter.repair.jobs:localize_model",
    failure=Outcome.REPAIR_FAILED,
    toolchain=_localize_toolchain,
    memory_mb=16_384,
    seconds=1800.0,
)
REPAIR = Kind(
    name="repair",
    params=RepairParams,
    handler="deltann_converter.repair.jobs:repair_model",
    failure=Outcome.REPAIR_FAILED,
    toolchain=_localize_toolchain,
    memory_mb=16_384,
    seconds=3600.0,
)

SERVICE = Service(
    "converter",
    (RESOLVE_MODEL, RESOLVE_DATA, CONVERT, QUANTIZE, LOCALIZE, REPAIR),
    loaders=tuple(LOADERS),
    tools=tuple((tool.source, tool.target, tool.name) for tool in registered()),
)
