"""The part of the report on conversion steps that got nodes wrong."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.faults.layers import Layers
from deltann.faults.suspect import Suspect
from deltann.kinds.repair import Disagreement
from deltann.outcome import Outcome


class StepFault(Data):
    """What was found of a conversion step that changed the model.

    Args:
        conversions: ids of the conversions that have this step.
        step: label of the step, source → target.
        tool: that made it.
        model: whose.
        outcome: of the search.
        message: why it found nothing, where it failed or no node is wrong by itself.
        followed: the tool that converted the target to ONNX, where it is none: nodes are those of that.
        agreement: of the target with its source over the inputs that were looked at.
        inputs: ids of the inputs that were looked at layer by layer, the worst first.
        suspects: the most likely first, without their edits.
        repairs: for each suspect its edits in words, tensors by their sides alone.
        layers: of the target; null where the two agree.
    """

    conversions: list[str]
    step: str
    tool: str | None
    model: str
    outcome: Outcome
    message: str | None = None
    followed: str = ""
    agreement: Disagreement | None = None
    inputs: list[str] = Field(default=[])
    suspects: list[Suspect] = Field(default=[])
    repairs: list[list[str]] = Field(default=[])
    layers: Layers | None = None
