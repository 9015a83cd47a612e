"""Makes the shared fixtures of this folder's tests known."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from stacks import redis_url

__all__ = ["redis_url"]
