"""Numbers on their way into JSON: null in place of NaN and Inf."""

from __future__ import annotations

import math
from typing import SupportsFloat


def number(value: SupportsFloat | None) -> float | None:
    """A finite float, or None."""
    if value is None:
        return None
    plain = float(value)
    return plain if math.isfinite(plain) else None
