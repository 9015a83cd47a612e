"""The step that costs most time."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding, Variant
from deltann.spec.models import Axis
from deltann_analyzer.findings.evidence import Evidence

_STEPS: tuple[Axis, ...] = (
    "conversion", "optimization", "engine", "target", "schedule", "precision", "library"
)  # fmt: skip
"""Axes on which a person chooses a step; another framework's own native or another device is no slow-down of one."""


def find(evidence: Evidence) -> Iterator[Finding]:
    """The largest slow-down beyond its interval."""
    slow = [pair for pair in evidence.along(*_STEPS) if pair.time_ci95_pct is not None and pair.time_ci95_pct[0] > 0]
    if not slow:
        return
    worst = max(slow, key=lambda pair: pair.time_change_pct or 0.0)
    yield Finding(
        severity="warning",
        kind="largest_slowdown",
        text=f"The largest slow-down is along the axis {worst.axis}: {evidence.names[worst.b]} takes "
        f"{_median(evidence.variant[worst.b])} ms, {evidence.names[worst.a]} {_median(evidence.variant[worst.a])} ms "
        f"({worst.time_change_pct:+.0f} %).",
        value=(worst.time_change_pct or 0.0) / 100,
        variants=[worst.a, worst.b],
    )


def _median(variant: Variant) -> str:
    return f"{variant.time_ms.median:.2f}" if variant.time_ms and variant.time_ms.median is not None else "?"
