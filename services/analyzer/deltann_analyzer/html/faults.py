"""Conversion steps that got nodes wrong: errors along the graph, suspects with their evidence, and how tensors look."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from deltann.faults.layers import LayerFacts, Picture
from deltann.report.faults import StepFault
from deltann_analyzer import wording

_WIDTH, _HEIGHT = 860.0, 190.0
_LEAST, _MOST = -8, 3
"""Powers of ten that the chart of errors shows; what is larger, and what is infinite, is at its upper edge."""
_BARS = 90.0
_LAYERS = 400
"""Layers that the table shows; all are in report.json."""
_LOW, _HIGH = np.array([250, 248, 243]), np.array([24, 60, 120])


def fault_sections(faults: Sequence[StepFault]) -> list[dict[str, Any]]:
    """What the template shows of each step."""
    return [_section(one) for one in faults]


def _section(fault: StepFault) -> dict[str, Any]:
    layers = fault.layers.layers if fault.layers is not None else ()
    blamed = {one.node for one in fault.suspects}
    return {
        "fault": fault,
        "title": f"{fault.model}: {fault.step}" + (f" by {fault.tool}" if fault.tool else ""),
        "said": _said(fault),
        "chart": _chart(layers, blamed) if layers else None,
        "suspects": list(zip(fault.suspects, fault.repairs, strict=True)),
        "ranked": sorted((one for one in layers if one.p is not None and one.p <= 0.05), key=lambda one: one.p or 0.0)[
            :10
        ],
        "layers": [(one, one.node in blamed) for one in layers[:_LAYERS]],
        "more": max(0, len(layers) - _LAYERS),
        "unmatched": fault.layers.unmatched if fault.layers is not None else (),
        "pictures": [_drawn(one) for one in (fault.layers.pictures if fault.layers is not None else ())],
    }


def _said(fault: StepFault) -> str:
    if fault.agreement is None:
        return ""
    error = fault.agreement.error
    far = "no valid output" if error is None else f"a mean relative error of {wording.distance(error)}"
    return f"{len(fault.agreement.differing)} of {fault.agreement.n} labels differ from the step's source, with {far}."


def _y(error: float | None) -> float:
    """Of an error in the chart; what is null was infinite, or could not be compared."""
    power = _MOST if error is None else math.log10(max(error, 10.0**_LEAST))
    return round(_HEIGHT * (1 - (min(power, _MOST) - _LEAST) / (_MOST - _LEAST)), 1)


def _chart(layers: Sequence[LayerFacts], blamed: set[str]) -> dict[str, Any]:
    """One point for each layer: its error in the model as it runs, and its own, fed right."""
    step = _WIDTH / max(len(layers) - 1, 1)
    points = [
        {
            "x": round(at * step, 1),
            "y": _y(one.error),
            "own": _y(one.own_error) if one.own_error is not None or one.node in blamed else None,
            "blamed": one.node in blamed,
            "text": f"{one.node} ({one.op_type}): error {wording.small(one.error)}, own {wording.small(one.own_error)}",
        }
        for at, one in enumerate(layers)
        if one.source is not None
    ]
    ticks = [{"y": _y(10.0**power), "text": f"1e{power}"} for power in range(_LEAST, _MOST + 1, 2)]
    line = " ".join(f"{point['x']},{point['y']}" for point in points)
    return {"points": points, "line": line, "ticks": ticks, "width": _WIDTH, "height": _HEIGHT}


def _drawn(picture: Picture) -> dict[str, Any]:
    right, found, difference = (np.array(one) for one in (picture.right_map, picture.found_map, picture.difference_map))
    low, high = float(min(right.min(), found.min())), float(max(right.max(), found.max()))
    return {
        "node": picture.node,
        "what": picture.what,
        "maps": [
            ("source", _image(right, low, high)),
            ("target", _image(found, low, high)),
            ("difference", _image(difference, 0.0, float(difference.max()))),
        ],
        "range": f"{low:.3g} to {high:.3g}; difference up to {float(difference.max()):.3g}",
        "bars": [
            ("source", _bars(picture.right, max(picture.right + picture.found))),
            ("target", _bars(picture.found, max(picture.right + picture.found))),
            ("difference", _bars(picture.difference, max(picture.difference))),
        ],
        "edges": [
            f"{picture.edges[0]:.3g} to {picture.edges[-1]:.3g}",
            f"{picture.edges[0]:.3g} to {picture.edges[-1]:.3g}",
            f"{picture.difference_edges[0]:.3g} to {picture.difference_edges[-1]:.3g}",
        ],
    }


def _image(values: np.ndarray, low: float, high: float) -> str:
    """A PNG of one pixel for each value, as a data address."""
    share = (values - low) / (high - low) if high > low else np.zeros_like(values)
    colours = np.round(_LOW + (_HIGH - _LOW) * share[..., None]).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(colours).save(file, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _bars(counts: Sequence[int], most: int) -> list[dict[str, float]]:
    """Heights by the logarithm: most values of a layer are in a few bins."""
    scale = math.log1p(most) or 1.0
    return [{"x": at * 5.0, "h": round(_BARS * math.log1p(count) / scale, 1)} for at, count in enumerate(counts)]
