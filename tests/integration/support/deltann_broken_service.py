"""The service of candidates in a process that has broken passes too."""

from __future__ import annotations

import deltann_broken
from deltann_compiler import levels
from deltann_compiler.bisect.candidate import SERVICE

from deltann.passes import PASSES

levels.TABLE = deltann_broken.TABLE
PASSES.update(deltann_broken.FACTS)  # type: ignore[arg-type]
__all__ = ["SERVICE"]
