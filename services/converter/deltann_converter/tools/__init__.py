"""The conversion tools, one file each. Adding one is a file with a ``TOOL`` (or several) and a row below."""

from __future__ import annotations

import subprocess
from importlib import import_module
from importlib.metadata import version

from deltann.errors import JobFailure
from deltann.model import Format, Framework
from deltann.outcome import Outcome
from deltann_converter.tools.base import Made, Tool

_MODULES = (
    "torch_onnx",
    "tf2onnx",
    "onnx2torch",
    "onnx2keras",
    "keras_export",
    "tflite_converter",
    "onnx2tf",
    "coreml",
)


def registered() -> tuple[Tool, ...]:
    """All tools, the preferred one of each edge first."""
    return tuple(tool for name in _MODULES for tool in import_module(f"{__name__}.{name}").TOOLS)


def select(source: Framework, target: Framework, fmt: Format, name: str | None) -> Tool:
    """The tool for an edge: the one of that name, or the preferred one.

    Raises:
        JobFailure: ``convert_failed`` where there is none, naming those that there are.
    """
    edge = [tool for tool in registered() if tool.source == source and tool.target == target]
    for tool in edge:
        if fmt in tool.formats and name in (None, tool.name):
            return tool
    known = ", ".join(f"{tool.name} ({'/'.join(tool.formats)})" for tool in edge) or "none"
    raise JobFailure(
        Outcome.CONVERT_FAILED,
        "select",
        f"there is no tool {name or ''} that converts a {fmt} model from {source} to {target}; there are: {known}",
    )


def versions(tool: Tool) -> str:
    """Names and versions of what a tool consists of, in its own environment where it has one."""
    if tool.python is None:
        return ", ".join(f"{name} {version(name)}" for name in tool.distributions)
    code = (
        "import sys; from importlib.metadata import version as v; print(', '.join(f'{n} {v(n)}' for n in sys.argv[1:]))"
    )
    command = [tool.python, "-c", code, *tool.distributions]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


__all__ = ["Made", "Tool", "registered", "select", "versions"]
