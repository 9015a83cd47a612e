"""The compiler's service, whose mutants have seconds instead of minutes."""

from __future__ import annotations

from dataclasses import replace

from deltann_compiler.service import MUTATE

from deltann.service import Service

SECONDS = 12.0
NAME = "deltann_hasty:SERVICE"
SERVICE = Service("compiler", (replace(MUTATE, seconds=SECONDS),))
