"""Quantised models on the page: what fewer bits cost, and which classes pay."""

from __future__ import annotations

from typing import Any

from deltann.kinds.quantize import SCHEMES
from deltann.report.quantization import QuantizationReport, QuantizedModel
from deltann_analyzer import wording

_CLASSES = 3
"""That lost most, of each model."""


def quantization_table(found: QuantizationReport | None) -> dict[str, Any] | None:
    """What the template shows; None where nothing was quantised."""
    if found is None:
        return None
    schemes = dict.fromkeys(one.scheme for one in found.models)
    return {
        "schemes": [(scheme, SCHEMES[scheme].about) for scheme in schemes],
        "rows": [_row(one) for one in found.models],
    }


def _row(one: QuantizedModel) -> dict[str, Any]:
    ratio = one.size_after / one.size_before if one.size_after and one.size_before else None
    speed = one.time_ms_after / one.time_ms_before if one.time_ms_after and one.time_ms_before else None
    paid = [each for each in one.classes if each.lost > 0][:_CLASSES]
    return {
        "name": f"{one.model} · {one.instance} · {one.way}",
        "before": wording.share(one.accuracy_before),
        "after": wording.share(one.accuracy_after),
        "differ": wording.share(one.disagreement),
        "error": wording.NONE if one.error_abs is None else wording.small(one.error_abs),
        "size": wording.NONE if ratio is None else f"{ratio:.2f}",
        "time": wording.NONE if speed is None else f"{speed:.2f}",
        "paid": ", ".join(
            f"{each.label}: {wording.share(each.accuracy_before)} → {wording.share(each.accuracy_after)} of {each.n}"
            for each in paid
        )
        or wording.NONE,
    }
