"""The engines by name: what each reads, what a study may choose of it, and what it needs. The one table of them.

An engine is a row here and the module ``deltann_engines.<name>_engine``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deltann.base import Data

Engine = Literal[
    "torch", "keras", "tensorflow", "tflite", "onnxruntime", "tvm", "openvino", "iree", "onnxruntime-web",
    "mil-reference", "coreml",
]  # fmt: skip


class EngineOptions(Data):
    """How an engine is asked to run a model, or what it says that it did.

    Asked, None is the engine's own choice; of what it did, None is what it does not tell.
    """

    level: str | None = None
    precision: str | None = None
    library: str | None = None


DEFAULT = EngineOptions()
"""Nothing is asked."""


def are_default(options: EngineOptions) -> bool:
    """Whether they are left out of a job's parameters, which are then as before there was a choice."""
    return options == DEFAULT


@dataclass(frozen=True)
class EngineFacts:
    """A row of the table. Of precisions and libraries the first is what runs where a study says nothing.

    Args:
        distributions: that it needs, as :mod:`deltann.installed` names them; the first has its version.
        reads_onnx: whether it takes any model through its ONNX, and not only those of the framework that it is of.
        beside: the engine whose models it takes too.
        system: what the machine has to be, as Python's ``platform`` calls it; None for any.
        shown: what people are told that it is, where its name alone would mislead.
        compiler: distributions of the compiler that makes the modules it runs; none where it takes models themselves.
        levels: of its graph optimisation, the lowest first; where a study names none, the engine chooses.
        precisions: ``default`` is what the engine chooses by itself.
        libraries: of kernels; ``default`` is what the engine chooses by itself.
    """

    distributions: tuple[str, ...]
    reads_onnx: bool = False
    beside: str | None = None
    system: str | None = None
    shown: str | None = None
    compiler: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ("fp32",)
    libraries: tuple[str, ...] = ("default",)


ENGINES: dict[Engine, EngineFacts] = {
    "torch": EngineFacts(("torch",), libraries=("default", "onednn", "native")),
    "keras": EngineFacts(("keras", "tensorflow", "onnx2keras"), libraries=("default", "onednn", "eigen")),
    "tensorflow": EngineFacts(("tensorflow",), libraries=("default", "onednn", "eigen")),
    "tflite": EngineFacts(("ai-edge-litert",), libraries=("default", "xnnpack", "builtin", "reference")),
    "onnxruntime": EngineFacts(
        ("onnxruntime",),
        reads_onnx=True,
        levels=("disabled", "basic", "extended", "all"),
        libraries=("default", "cpu", "dnnl", "openvino", "xnnpack", "acl", "cuda", "tensorrt"),
    ),
    "tvm": EngineFacts(("apache-tvm", "apache-tvm-ffi"), compiler=("apache-tvm", "apache-tvm-ffi")),
    "openvino": EngineFacts(("openvino",), reads_onnx=True, precisions=("default", "fp32", "bf16", "fp16")),
    "iree": EngineFacts(
        ("iree-base-runtime",),
        reads_onnx=True,
        compiler=("iree-base-compiler", "onnx"),
        levels=("O0", "O1", "O2", "O3"),
    ),
    "mil-reference": EngineFacts(("coremltools", "torch"), shown="mil-reference (DeltaNN's evaluator, not CoreML)"),
    "coreml": EngineFacts(("coremltools",), beside="mil-reference", system="Darwin"),
    "onnxruntime-web": EngineFacts(("npm:onnxruntime-web", "chromium"), reads_onnx=True),
}


def shown(engine: Engine) -> str:
    """What people are told that an engine is."""
    return ENGINES[engine].shown or engine


def level_words(engine: Engine, level: int) -> str:
    """What a person calls the level that is so far above the engine's lowest."""
    names = ENGINES[engine].levels
    return names[level] if names else f"level {level}"
