"""What a study chooses of single engines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from deltann.base import Data
from deltann.engines import Engine
from deltann.spec.lists import Some


class EngineChoices(Data):
    """What to choose of an engine, each an axis. The first is the reference; nothing is the engine's own default."""

    levels: Some[str] | None = Field(default=None, description="Of its graph optimisation: onnxruntime, iree")
    precisions: Some[str] | None = Field(default=None, description="openvino; default is what it chooses by itself")
    libraries: Some[str] | None = Field(
        default=None, description="Of kernels: torch, keras, tensorflow, tflite, onnxruntime"
    )


def _nothing(choices: dict[Engine, EngineChoices]) -> bool:
    """A study that chooses nothing has the id that it had before there was a choice."""
    return not choices


ChosenOptions = Annotated[
    dict[Engine, EngineChoices],
    Field(exclude_if=_nothing, description="What to choose of single engines; `compile` has TVM's"),
]
