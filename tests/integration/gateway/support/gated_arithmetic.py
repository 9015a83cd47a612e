"""The arithmetic service, with an analysis whose gates can be broken. Imported by workers and their children."""

from __future__ import annotations

from dataclasses import replace

import deltann_arithmetic as arithmetic

from deltann.base import Data
from deltann.service import JobContext, Produced, Service


class Gates(Data):
    gates_ok: bool = True


def analyze(params: Gates, context: JobContext) -> Produced:
    """The arithmetic report, and gates as the plan has them."""
    made = arithmetic.analyze(arithmetic.Report(), context)
    return Produced(made.artifacts, {**dict(made.data), "gates_ok": params.gates_ok})


KINDS = {kind.name: kind for kind in arithmetic.SERVICE.kinds}
KINDS["analyze"] = replace(KINDS["analyze"], params=Gates, handler="gated_arithmetic:analyze")
SERVICE = Service("arithmetic", tuple(KINDS.values()))
