"""The analyzer as a service: one kind of job."""

from __future__ import annotations

from deltann.kinds.analyze import AnalyzeParams
from deltann.outcome import Outcome
from deltann.service import Kind, Service

ANALYZE = Kind(
    name="analyze",
    params=AnalyzeParams,
    handler="deltann_analyzer.handler:analyze",
    failure=Outcome.RUN_FAILED,
    toolchain=lambda params: ("deltann-analyzer", "numpy", "scipy", "pyarrow"),
    seconds=3600.0,
)

SERVICE = Service("analyzer", (ANALYZE,))
