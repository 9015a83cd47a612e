"""The executor's job kinds."""

from __future__ import annotations

from deltann.fleet.board import board_address
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.outcome import Outcome
from deltann.service import Kind, Service

_DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "keras": ("keras", "tensorflow", "onnx2keras"),
    "tensorflow": ("tensorflow",),
    "tflite": ("ai-edge-litert",),
    "onnxruntime": ("onnxruntime",),
    "tvm": ("apache-tvm", "apache-tvm-ffi"),
}


def _toolchain(params: ExecuteParams | TimeParams) -> tuple[str, ...]:
    return (*_DISTRIBUTIONS[params.engine], "numpy", "pillow")


def _affinity(params: ExecuteParams | TimeParams) -> str:
    """Frameworks do not meet in one process, nor do two numbers of threads, which some fix once and for all.

    A board serves one process at a time: none stays warm, with its connection.
    """
    return f"{params.engine}/{params.threads}" if board_address() is None else ""


EXECUTE = Kind(
    name="execute",
    params=ExecuteParams,
    handler="deltann_executor.execute:execute",
    failure=Outcome.RUN_FAILED,
    affinity=_affinity,
    toolchain=_toolchain,
    seconds=1800.0,
)
TIME = Kind(
    name="time",
    params=TimeParams,
    handler="deltann_executor.timing:time_variant",
    failure=Outcome.RUN_FAILED,
    affinity=_affinity,
    toolchain=_toolchain,
    device_bound=True,
    exclusive=True,
    seconds=900.0,
)

SERVICE = Service("executor", (EXECUTE, TIME), _DISTRIBUTIONS)
