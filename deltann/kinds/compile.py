"""Kinds ``import`` and ``compile``: a model into TVM's IR, checked, and from there a module per level and target."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from deltann.base import Data
from deltann.kinds.convert import Parity
from deltann.kinds.device_code import DeviceCode
from deltann.kinds.mutate import Equivalence
from deltann.model import ModelInfo
from deltann.mutation import Mutation
from deltann.passes import PassChoice
from deltann.targets import HOST, Needs

ImportRoute = Literal["pytorch", "tflite", "onnx"]
LevelName = Literal["basic", "default", "extended"]
LEVELS: dict[str, int] = {"basic": 0, "default": 2, "extended": 4}
"""Names of optimisation levels; the numbers 0 to 4 are names of themselves."""

Schedule = Literal["standard", "naive"]
"""How loops are laid out: ``naive`` keeps the source's layout and plain loops, to hold a schedule against."""

Precision = Literal["fp32", "fp16", "bf16"]
"""Of convolutions, matrix products and what follows them; inputs and outputs are float32, and so are sums."""


_REUSE = (
    "Compile each kernel by itself, and none that this process has compiled before: for mutants, which differ in few. "
    "The module computes the same, bit by bit, and its kernels have no names that say what they do"
)


class ImportParams(Data):
    """Import role ``model`` (need or source) into the compiler's IR and check it, unoptimised, on seeded inputs.

    Artifacts out: ``ir``. Data out: :class:`ImportData`. A mismatch has outcome ``import_mismatch`` and an artifact.
    """

    compiler: str = "tvm"
    info: ModelInfo | None = None
    parity_inputs: int = Field(default=4, ge=1)
    max_rel: float = Field(default=1e-3, description="A larger Parity.max_rel is a mismatch")
    seed: int = 0
    reuse: bool = Field(default=False, exclude_if=lambda reuse: not reuse, description=_REUSE)


class ImportData(Data):
    """``info`` describes the imported graph: input and output names, shapes, layout as in the source."""

    info: ModelInfo
    route: ImportRoute
    parity: Parity | None


class CompileParams(PassChoice):
    """Compile role ``ir`` for a target. Artifacts out: ``module``. Data out: :class:`CompileData`."""

    compiler: str = "tvm"
    info: ModelInfo | None = Field(default=None, description="Of the IR, where no import job gives it")
    target: str = Field(default=HOST, description="Its text, as deltann.targets.read_target gives it")
    level: int = Field(ge=0, le=4)
    schedule: str = "standard"
    precision: str = "fp32"
    reuse: bool = Field(default=False, exclude_if=lambda reuse: not reuse, description=_REUSE)
    mutation: Mutation | None = Field(
        default=None,
        exclude_if=lambda mutation: mutation is None,
        description="Of the IR; or of the kernels, held against role `module`, which is without it, where it is given",
    )


class ModuleMutation(Data):
    """What a mutation did to the kernels or to the graph: how many places it fits, what they are called, the first 20.

    ``before`` and ``after`` are structural hashes of what was mutated, which differ. ``equivalence`` is null where the
    module cannot run on the compiler's host.
    """

    fits: int
    places: list[str]
    before: str
    after: str
    equivalence: Equivalence | None


class CompileData(Data):
    """``target`` is the resolved TVM target; ``passes`` the names that ran, in order."""

    info: ModelInfo
    target: dict[str, Any]
    needs: Needs | None = Field(default=None, description="What the module needs of its device")
    passes: list[str]
    size_bytes: int
    cpu_seconds: float
    kernels: int
    unscheduled: list[str] = Field(default=[], description="Kernels that kept their plain loops")
    device_code: DeviceCode | None = Field(default=None, description="For CUDA: the machine code within the module")
    mutated: ModuleMutation | None = Field(default=None, exclude_if=lambda mutated: mutated is None)


class ExplainParams(CompileParams):
    """Compile role ``ir`` pass by pass, and keep nothing but what each did. Data out: :class:`ExplainData`."""


class ExplainedPass(Data):
    """A pass of the table, in the order in which they run, and what it did to this model.

    ``joins`` is its level or, for what is of no level, the schedule or precision that it comes with, or ``always``.
    ``changed``, ``operators`` (calls that ``main`` makes) and ``kernels`` (functions of loops) are after it; null for
    what did not run, and for LLVM's own passes, which work on what comes after.
    """

    name: str
    joins: str
    what: str = ""
    ran: bool
    changed: bool | None = None
    operators: int | None = None
    kernels: int | None = None


class ExplainData(Data):
    """The whole table for one model. ``target`` is the resolved TVM target."""

    target: dict[str, Any]
    level: int
    passes: list[ExplainedPass]
