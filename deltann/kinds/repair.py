"""Kinds ``localize`` and ``repair``: what is wrong with a converted ONNX model, and the model put right."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.model import ModelInfo
from deltann.preprocess.steps import Recipe


class LocalizeParams(Data):
    """Hold role ``target``, an ONNX, against role ``source`` over roles ``shard0`` to ``shard<shards − 1>``.

    Artifacts out: ``suspects``, a JSON list of :class:`deltann.faults.suspect.Suspect`, the most likely first.
    Data out: :class:`LocalizeData`. Positions count over all shards.
    """

    source: ModelInfo
    target: ModelInfo
    source_recipe: Recipe
    target_recipe: Recipe
    data_kind: str = "images"
    shards: int = Field(default=1, ge=1)


class Disagreement(Data):
    """How far the target is from the source over all inputs.

    ``differing`` are the positions of inputs with another top-1 label, or no valid output. ``error`` is the mean over
    inputs of max|a − b| / max(max|a|, 1e-6), null where an output is missing or invalid.
    """

    n: int
    differing: tuple[int, ...]
    error: float | None


class LocalizeData(Data):
    """``inputs`` are the positions of those that were looked at layer by layer, the worst first."""

    agreement: Disagreement
    inputs: tuple[int, ...]
    suspects: int
    note: str = ""


class RepairParams(LocalizeParams):
    """The same, and put the target right. Artifacts out: ``model`` and ``patch``, a JSON list of the kept edits.

    Data out: :class:`RepairData`.
    """

    seconds: float = Field(default=600.0, gt=0, description="After so long no further edit is tried")


class RepairStep(Data):
    """Edits that were tried together. ``agreement`` is with them; where they were not kept, they were reverted."""

    node: str
    kind: str
    edits: tuple[str, ...]
    kept: bool
    agreement: Disagreement


class RepairData(Data):
    """``stopped`` says why nothing more was tried."""

    before: Disagreement
    after: Disagreement
    steps: tuple[RepairStep, ...]
    stopped: str
