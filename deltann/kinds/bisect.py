"""Kind ``bisect``: the pass and the operators by which two builds of one model come to answer differently."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.kinds.compile import CompileParams, Precision, Schedule
from deltann.model import ModelInfo
from deltann.passes import PassChoice
from deltann.preprocess.steps import Recipe
from deltann.targets import HOST

TOLERANCE = 1e-3
"""As large a difference, relative to the root mean square of an output, is no rounding of float32."""

Symptom = Literal["differs", "compile_failed", "run_failed", "crashed", "timed_out"]
"""What a build shows against another: another answer, or how it ended in place of one."""


class Setting(PassChoice):
    """How one of the two is compiled."""

    level: int = Field(ge=0, le=4)
    schedule: Schedule = "standard"
    precision: Precision = "fp32"

    def wanted(self, target: str) -> CompileParams:
        """The same as a compile job has it."""
        return CompileParams(target=target, **self.model_dump())

    @property
    def name(self) -> str:
        """What a person calls it: ``level 4 fp16 -FuseOps``."""
        parts = [f"level {self.level}", self.precision, self.schedule, self.changes]
        return " ".join(part for part in parts if part and part not in ("fp32", "standard"))


class BisectParams(Data):
    """Hold ``b`` against ``a``, builds of role ``model``, an ONNX, over roles ``shard0`` to ``shard<shards − 1>``.

    Artifacts out, where something is found: ``reproducers``, a folder with one folder for each
    :attr:`Finding.reproducer`. Data out: :class:`BisectData`. Positions count over all shards.

    Needs ``answers_a`` and ``answers_b``, execute jobs of the two over ``shard0``, may say where the two differ: then
    only the worst of these inputs are looked at, and nothing is built where there are none.
    """

    info: ModelInfo | None = Field(default=None, description="Of the model, where no job gives it")
    target: str = Field(default=HOST, description="Its text, as deltann.targets.read_target gives it")
    a: Setting
    b: Setting
    recipe: Recipe
    data_kind: str = "images"
    shards: int = Field(default=1, ge=1)
    tolerance: float = Field(default=TOLERANCE, gt=0, description="Up to which two answers are the same")
    seconds: float = Field(default=1800.0, gt=0, description="After so long nothing is made smaller any more")
    candidate_seconds: float = Field(default=300.0, gt=0, description="A build that is not done by then hangs")


class Comparison(Data):
    """How far one build is from another over ``n`` inputs.

    ``error`` is the largest difference relative to the root mean square of the first one's output, null where the
    second gave none, or NaN where the first did not (and the other way round). ``differing`` are positions of inputs
    whose error is over the tolerance. ``symptom`` is null where the two agree; ``message`` says more of a failure.
    """

    a: str
    b: str
    n: int
    differing: tuple[int, ...] = ()
    error: float | None = None
    symptom: Symptom | None = None
    message: str = ""


class NamedPass(Data):
    """A pass that makes the difference, and with what it joins: its level, a schedule, a precision."""

    name: str
    joins: str


class NamedNode(Data):
    """A node of the ONNX graph. ``output`` is the first value that it writes: what it is found by if it has no name."""

    name: str
    op_type: str
    output: str


class Finding(Data):
    """What makes the two of a comparison differ.

    ``passes`` are those without any of which the difference is gone; there are none where TVM computes a node otherwise
    before any pass has run. ``avoided_by`` are passes that the second can leave out, each by itself, to agree.
    ``nodes`` are the smallest sub-graph that still shows it, fed with ONNX Runtime's values on input ``position``, and
    ``alone`` its error. ``minimal`` is False where the time ended before it was proven that no node can be left out.
    ``reproduced`` says that the reproducer was run, and showed it.
    """

    comparison: Comparison
    position: int
    passes: tuple[NamedPass, ...]
    avoided_by: tuple[str, ...]
    nodes: tuple[NamedNode, ...]
    alone: float | None
    minimal: bool
    reproducer: str
    reproduced: bool


class BisectData(Data):
    """``candidates`` counts the builds that were made, and ``failed`` those of them that gave no answer, by outcome."""

    comparisons: tuple[Comparison, ...]
    findings: tuple[Finding, ...]
    candidates: int
    failed: dict[str, int]
