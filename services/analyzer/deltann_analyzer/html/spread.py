"""How times spread: one box per variant, over every single repeat, drawn as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deltann_analyzer import wording
from deltann_analyzer.assemble import Analysis
from deltann_analyzer.measured import Measured

MAX_BOXES = 120
_POINTS, _ALL_POINTS = 60, 3000
"""Dots of one box at most, and of all together: they make the page large."""
_WIDTH = 560.0


def spreads(analysis: Analysis) -> list[dict[str, Any]]:
    """One chart per model: 5 to 95 % whiskers, the quartiles as a box, the median, and single repeats as dots."""
    models = dict.fromkeys(one.plan.model for one in analysis.measured)
    charts = (_chart(model, analysis) for model in models)
    return [chart for chart in charts if chart is not None]


def _chart(model: str, analysis: Analysis) -> dict[str, Any] | None:
    timed = [one for one in analysis.measured if one.plan.model == model and one.ns is not None and one.ns.size]
    if not timed:
        return None
    shown = timed[:MAX_BOXES]
    samples = [one.ns.reshape(-1) / 1e6 for one in shown if one.ns is not None]
    ends = [np.percentile(sample, (1, 99)) for sample in samples]
    low, high = min(float(end[0]) for end in ends), max(float(end[1]) for end in ends)
    scale = _Scale(low, high)
    return {
        "model": model,
        "of": len(timed),
        "log": scale.log,
        "width": _WIDTH,
        "ticks": [{"x": scale.x(tick), "text": wording.milliseconds(tick)} for tick in scale.ticks()],
        "boxes": [
            _box(one, sample, analysis.names[one.plan.id], scale, min(_POINTS, _ALL_POINTS // len(shown)))
            for one, sample in zip(shown, samples, strict=True)
        ],
    }


def _box(one: Measured, sample: Any, name: str, scale: _Scale, points: int) -> dict[str, Any]:
    p5, q1, median, q3, p95 = (float(value) for value in np.percentile(sample, (5, 25, 50, 75, 95)))
    step = max(1, -(-len(sample) // points))
    return {
        "name": name.removeprefix(f"{one.plan.model}: "),
        "kind": "compiled" if one.plan.compile_job is not None else "own",
        "p5": scale.x(p5),
        "q1": scale.x(q1),
        "median": scale.x(median),
        "q3": scale.x(q3),
        "p95": scale.x(p95),
        "text": f"{name}: median {wording.milliseconds(median)} ms, half between {wording.milliseconds(q1)} and "
        f"{wording.milliseconds(q3)} ms, {len(sample)} inferences",
        "label": wording.milliseconds(median),
        "points": [scale.x(float(value)) for value in sample[::step]],
    }


class _Scale:
    """Milliseconds to x: linear from zero, or logarithmic where values span more than a factor of 20."""

    def __init__(self, low: float, high: float) -> None:
        self.log = low > 0 and high > 20 * low
        self.low = low / 1.1 if self.log else 0.0
        self.high = max(high * 1.05, 1e-9)

    def x(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.log:
            return round(_WIDTH * math.log(value / self.low) / math.log(self.high / self.low), 1)
        return round(_WIDTH * value / self.high, 1)

    def ticks(self) -> Sequence[float]:
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            marks = [base * 10.0**power for power in powers for base in (1, 2, 5)]
        else:
            rough = self.high / 5
            unit = 10 ** math.floor(math.log10(rough))
            step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough)
            marks = [step * at for at in range(6)]
        return [mark for mark in marks if self.low <= mark <= self.high]
