"""The trained models on the page: their curves, and mean and spread of what a conversion did to the instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deltann.report.training import Measure, Spread, TrainingReport, TrainingRun
from deltann_analyzer import wording

_WIDTH, _HEIGHT = 260, 90
_SHOWN: tuple[tuple[str, Measure], ...] = (
    ("Accuracy before", "accuracy_before"),
    ("after", "accuracy_after"),
    ("Labels that differ", "disagreement"),
    ("Absolute error", "error_abs"),
    ("Relative error", "error_rel"),
    ("Size before", "size_before"),
    ("after", "size_after"),
    ("Load, ms", "load_ms_after"),
    ("Inference, ms", "time_ms_after"),
)


def training_tables(found: TrainingReport | None) -> dict[str, Any] | None:
    """What the template shows; None where nothing was trained."""
    if found is None:
        return None
    groups: dict[tuple[str, str, str], dict[Measure, Spread]] = {}
    for one in found.spreads:
        groups.setdefault((one.model, one.framework, one.way), {})[one.measure] = one
    return {
        "columns": [name for name, _ in _SHOWN],
        "rows": [
            {
                "name": f"{model} · {framework} {way}",
                "n": max(one.n for one in measures.values()),
                "cells": [_cell(measures, measure) for _, measure in _SHOWN],
            }
            for (model, framework, way), measures in groups.items()
        ],
        "frameworks": found.frameworks,
        "charts": _charts([run for run in found.runs if run.curves]),
        "width": _WIDTH,
        "height": _HEIGHT,
    }


def _cell(measures: Mapping[Measure, Spread], measure: Measure) -> str:
    """Mean ± sample standard deviation."""
    found = measures.get(measure)
    if found is None:
        return wording.NONE
    write = _write(measure)
    return write(found.mean) + ("" if found.std is None else f" ± {write(found.std)}")


def _write(measure: Measure) -> Callable[[float], str]:
    if measure.startswith(("accuracy", "disagreement")):
        return wording.share
    if measure.startswith("error"):
        return wording.small
    if measure.startswith("size"):
        return lambda value: wording.size(round(value))
    return wording.milliseconds


def _charts(runs: Sequence[TrainingRun]) -> list[dict[str, Any]]:
    """Per model and framework the accuracies of all instances over the epochs, training and validation."""
    found = []
    for key in dict.fromkeys((run.model, run.framework) for run in runs):
        mine = [run for run in runs if (run.model, run.framework) == key]
        last = [run.curves[-1] for run in mine]
        kept = [epoch.validation_accuracy for epoch in last if epoch.validation_accuracy is not None]
        found.append(
            {
                "name": f"{key[0]} · {key[1]}",
                "instances": len(mine),
                "epochs": max(len(run.curves) for run in mine),
                "seconds": sum(run.seconds or 0.0 for run in mine) / len(mine),
                "memory": max(run.memory_peak_bytes or 0 for run in mine),
                "accuracy": sum(epoch.accuracy for epoch in last) / len(last),
                "validation": sum(kept) / len(kept) if kept else None,
                "resumed": sum(1 for run in mine if run.resumed),
                "lines": [_line([epoch.accuracy for epoch in run.curves]) for run in mine],
                "kept": [_line(_known([epoch.validation_accuracy for epoch in run.curves])) for run in mine],
            }
        )
    return found


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _line(values: Sequence[float]) -> str:
    """Points of a polyline: epochs across, 0 to 1 upwards."""
    step = _WIDTH / max(1, len(values) - 1)
    return " ".join(f"{at * step:.1f},{(1 - value) * _HEIGHT:.1f}" for at, value in enumerate(values))
