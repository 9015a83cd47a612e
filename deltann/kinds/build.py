"""Kind ``build``: a model, by a compiler that takes ONNX itself, into the module that its engine runs."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.engines import Engine
from deltann.model import ModelInfo


class BuildParams(Data):
    """Build role ``model`` (need or source), an ONNX, for this host.

    Artifacts out: ``module``. Data out: :class:`BuildData`.

    ``level`` is one of the engine's in :data:`deltann.engines.ENGINES`; None is what the compiler does by itself.
    """

    compiler: Engine
    level: str | None = None
    info: ModelInfo | None = Field(default=None, description="Of the model, where no job gives it")


class BuildData(Data):
    """``info`` describes the module: input and output as in the model, with a batch of 1."""

    info: ModelInfo
    cpu_seconds: float
