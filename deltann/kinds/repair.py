"""Kinds ``localize`` and ``repair``: what is wrong with a converted ONNX model, and the model put right."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.model import Framework, ModelInfo
from deltann.preprocess.steps import Recipe


class LocalizeParams(Data):
    """Hold role ``target`` against role ``source`` over roles ``shard0`` to ``shard<shards − 1>``.

    Either is a source of the job, or what a needed job calls ``model``. Artifacts out, where the two disagree:
    ``suspects``, a JSON list of :class:`deltann.faults.suspect.Suspect`, the most likely first; ``layers``, a
    :class:`deltann.faults.layers.Layers`; ``reproducers``, a folder with one for each of the first suspects, by rank.
    Data out: :class:`LocalizeData`. Positions count over all shards.
    """

    source: Framework
    target: Framework
    source_info: ModelInfo | None = Field(default=None, description="Null where a job makes the source")
    target_info: ModelInfo | None = Field(default=None, description="Null where a job makes the target")
    source_recipe: Recipe
    target_recipe: Recipe
    data_kind: str = "images"
    shards: int = Field(default=1, ge=1)
    limit: int | None = Field(default=None, ge=1, description="Only the first so many inputs")
    doubted: bool = Field(
        default=False, description="Only where the conversion that made the target failed its own parity check"
    )


class Disagreement(Data):
    """How far the target is from the source over all inputs.

    ``differing`` are the positions of inputs with another top-1 label, or no valid output. ``error`` is the mean over
    inputs of max|a − b| / max(max|a|, 1e-6), null where an output is missing or invalid.
    """

    n: int
    differing: tuple[int, ...]
    error: float | None


class LocalizeData(Data):
    """``inputs`` are the positions of those that were looked at layer by layer, the worst first.

    ``agreement`` is null where the conversion was not doubted, so that nothing was run. ``followed`` is the tool that
    converted the target to ONNX, where it is none.
    """

    agreement: Disagreement | None
    inputs: tuple[int, ...]
    suspects: int
    note: str = ""
    followed: str = ""


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
    """``stopped`` says why nothing more was tried; ``info`` describes the repaired model, which is ONNX.

    ``followed`` is the tool that converted the target to ONNX, where it is none.
    """

    before: Disagreement
    after: Disagreement
    steps: tuple[RepairStep, ...]
    stopped: str
    info: ModelInfo
    followed: str = ""
