"""Kind ``convert``: one step of a conversion, by one tool, checked against the model it started from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.model import Framework, ModelInfo

Route = Literal["onnx", "direct"]

DIRECT: frozenset[tuple[Framework, Framework]] = frozenset(
    {
        ("keras", "tensorflow"),
        ("keras", "tflite"),
        ("tensorflow", "tflite"),
        ("pytorch", "coreml"),
        ("keras", "coreml"),
    }
)
"""Edges that have a direct tool."""


class ConvertParams(Data):
    """Convert role ``model`` (need or source) to ``target``. ``tool`` null means the preferred one.

    Artifacts out: ``model``. Data out: :class:`ConvertData`.
    """

    source: Framework
    target: Framework
    info: ModelInfo | None = Field(
        default=None, description="Description of the source where no job gives it (a native)"
    )
    tool: str | None = None
    normalise: bool = True
    opset: int = 17
    parity_inputs: int = Field(default=8, ge=1)
    seed: int = 0


class Step(Data):
    """The record of one step."""

    tool: str
    version: str
    route: Route
    source: Framework
    target: Framework
    opset: int | None = None
    normalised: list[str] = []
    seconds: float
    warnings: list[str] = []
    size_before: int
    size_after: int
    checked_by: str = Field(default="", description="The engine that ran the result for the parity check")


class Parity(Data):
    """Outputs after a step against outputs before it, on ``n`` seeded inputs in the engines of each side.

    ``max_abs`` is the largest |a − b|. ``max_rel`` is the largest over inputs of max|a − b| / max(max|a|, 1e-6):
    relative to the input's largest output, since single logits pass through zero.
    ``top1_agreement`` is a share 0..1. ``n_invalid`` counts inputs with NaN or Inf on the converted side.
    """

    n: int
    n_invalid: int = 0
    max_abs: float | None
    max_rel: float | None
    top1_agreement: float | None


PARITY_MAX_REL = 1e-3
"""A conversion step whose largest relative difference is beyond it changed the model."""


def suspicious(parity: Parity | None) -> bool:
    """Whether a parity check says that the step changed the model; one that was not made says nothing."""
    if parity is None:
        return False
    too_far = parity.max_rel is None or parity.max_rel > PARITY_MAX_REL
    other_label = parity.top1_agreement is not None and parity.top1_agreement < 1.0
    return too_far or other_label or parity.n_invalid > 0


class ConvertData(Data):
    """Data of a conversion step: description of what came out, the record, and the parity check."""

    info: ModelInfo
    step: Step
    parity: Parity | None
