"""A target in ONNX, where its nodes can be looked at and put right: itself, or converted once more."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

from deltann.errors import JobFailure, first_line
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann_converter.tools import select
from deltann_converter.tools.base import Options


@dataclass(frozen=True)
class Followed:
    """An ONNX file that computes what a target does; ``tool`` made it, and is empty where it is the target itself."""

    path: Path
    info: ModelInfo
    tool: str = ""

    @property
    def made(self) -> bool:
        """Whether it had to be made."""
        return bool(self.tool)


def follow(target: Path, info: ModelInfo, folder: Path) -> Followed:
    """A target of any framework in ONNX.

    Args:
        target: its file.
        info: its description.
        folder: for what is made, which is made.

    Raises:
        JobFailure: ``repair_failed``, where it cannot be converted.
    """
    if info.format == "onnx":
        return Followed(target, info)
    from deltann_engines.describe import describe

    tool = select(info.framework, "onnx", info.format, None)
    folder.mkdir()
    try:
        made = tool.convert(target, info, folder, Options())
        found = describe(
            made.path, made.format, output=info.output_kind, classes=info.classes, class_offset=info.class_offset
        )
    except Exception as error:
        traceback.print_exception(error)
        said = f"the target is a {info.format}, and {tool.name} could not convert it to ONNX to follow it there"
        raise JobFailure(Outcome.REPAIR_FAILED, "follow", f"{said}: {first_line(error)}") from error
    return Followed(made.path, found, tool.name)
