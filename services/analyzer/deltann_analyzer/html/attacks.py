"""Models under attack on the page: success rates as bars, and R per model and format."""

from __future__ import annotations

from typing import Any

from deltann.report.attacks import AttackReport

_WIDTH = 160


def attack_tables(found: AttackReport | None) -> dict[str, Any] | None:
    """What the template shows; None where nothing was attacked."""
    if found is None:
        return None
    ways = list(dict.fromkeys(one.way for one in found.robustness))
    by_place = {(one.model, one.framework, one.way): one for one in found.robustness}
    return {
        "rows": [
            {
                "name": f"{one.model} · {one.framework} {one.way}",
                "one": one,
                "before": one.success_before * _WIDTH,
                "after": one.success_after * _WIDTH,
            }
            for one in found.means
        ],
        "width": _WIDTH,
        "ways": ways,
        "r": [
            {"name": f"{model} · {framework}", "cells": [by_place.get((model, framework, way)) for way in ways]}
            for model, framework in dict.fromkeys((one.model, one.framework) for one in found.robustness)
        ],
        "partial": [run for run in found.runs if run.unfinished or run.impossible],
        "failed": [run for run in found.runs if run.failed is not None],
    }
