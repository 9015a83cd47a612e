"""The operations that the evaluator knows, one module per family, each with a table ``OPS``.

An operation is a function of the parameters that MIL names: arrays, strings, and lists of arrays. What is optional in
MIL has MIL's default. After coremltools' ``converters/mil/mil/ops/defs``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltann_engines.mil.ops import (
    convolution,
    elementwise,
    linear,
    normalisation,
    pooling,
    recurrent,
    reduction,
    shaping,
)

OPS: dict[str, Callable[..., Any]] = {
    **convolution.OPS,
    **elementwise.OPS,
    **linear.OPS,
    **normalisation.OPS,
    **pooling.OPS,
    **recurrent.OPS,
    **reduction.OPS,
    **shaping.OPS,
}
