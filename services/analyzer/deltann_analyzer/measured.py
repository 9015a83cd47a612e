"""A variant and all that was measured of it, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deltann.artifact import ArtifactRef
from deltann.kinds.bisect import BisectData
from deltann.kinds.execute import ExecuteData, TimeData
from deltann.kinds.mutate import Equivalence
from deltann.kinds.quantize import QuantizeData
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.plan.context import VariantPlan


@dataclass(frozen=True)
class Failure:
    """The job that lost a variant or conversion, and why. ``job`` is its index in the plan."""

    job: int
    outcome: Outcome
    stage: str
    type: str
    message: str
    log: ArtifactRef | None = None


@dataclass
class Measured:
    """A variant and all that was measured of it.

    ``labels`` int32 [N, k] and ``scores`` float32 [N, k] (−1 and NaN where an input has no valid answer), ``valid``
    bool [N]; ``outputs`` float32 [N, classes], mapped from disk, or None; ``ns`` int64 [inputs, repeats], or None.
    """

    plan: VariantPlan
    outcome: Outcome
    failure: Failure | None
    tainted_by: str | None
    info: ModelInfo | None
    labels: npt.NDArray[np.int32] | None = None
    scores: npt.NDArray[np.float32] | None = None
    valid: npt.NDArray[np.bool_] | None = None
    outputs: npt.NDArray[np.float32] | None = None
    executed: ExecuteData | None = None
    ns: npt.NDArray[np.int64] | None = None
    first_ns: int | None = None
    timed: TimeData | None = None
    size_bytes: int | None = None
    kernels: int | None = None
    passes: Sequence[str] = ()
    unscheduled: Sequence[str] = ()
    device: str | None = None
    equivalence: Equivalence | None = None
    bisected: BisectData | None = None
    quantized: QuantizeData | None = None
    reproducers: ArtifactRef | None = None
    toolchain: dict[str, str] = field(default_factory=dict)
