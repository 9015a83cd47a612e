"""What a conversion tool declares, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deltann.kinds.convert import Route
from deltann.model import Format, Framework, ModelInfo


@dataclass(frozen=True)
class Options:
    """What a study may decide: the opset to ask for, and whether ONNX is normalised for the converter that reads it."""

    opset: int = 17
    normalise: bool = True


@dataclass(frozen=True)
class Made:
    """A converted model: where it lies, its format, and what normalising changed."""

    path: Path
    format: Format
    normalised: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Tool:
    """A conversion tool.

    Args:
        name: as in specs and reports.
        distributions: what it consists of; their versions are part of every result.
        source: framework it reads, in one of ``formats``.
        target: framework it writes.
        route: ``onnx`` for a step into or out of ONNX, ``direct`` otherwise.
        convert: ``convert(path, info, out folder, options) -> Made``; raises whatever the tool raises.
        python: the Python of the tool's own environment, where it has one: its distributions are there, not here.
    """

    name: str
    distributions: tuple[str, ...]
    source: Framework
    target: Framework
    formats: tuple[Format, ...]
    route: Route
    convert: Callable[[Path, ModelInfo, Path, Options], Made]
    python: str | None = None
