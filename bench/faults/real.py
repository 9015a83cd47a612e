"""Real models as ONNX, converted by the converter itself, to put faults into; kept in DeltaNN's home."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from deltann.cli.convert import convert_here
from deltann.cli.home import resolve_home
from deltann.cli.single import Bench

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[3] / "shared"))
REAL: dict[str, str] = {
    "mobilenet_v2": str(SHARED / "data" / "models" / "mobilenet_v2" / "mobilenet_v2.keras"),
    "efficientnet_lite0": "efficientnet_lite0",
    "resnet101v2": "keras:ResNet101V2@random(seed=1)",
    "inception_v3": "torchvision:inception_v3@random(seed=1)",
}
"""Sources by name. The first two have trained weights; those of the others are drawn, so that labels say little."""


@cache
def load(name: str) -> Any:
    """The ``onnx.ModelProto`` of a real model."""
    import onnx

    bench = Bench.at(resolve_home(None))
    ready = bench.model(REAL[name])
    made = convert_here(bench, ready, "onnx", tool=None, normalise=True, direct=False)
    return onnx.load(bench.store.materialise(made.model, bench.cache))
