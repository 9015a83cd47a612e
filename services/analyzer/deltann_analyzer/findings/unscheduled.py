"""Compiled modules of which kernels kept their plain loops: right, but slower than their level promises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from deltann.report.models import Finding, Variant
from deltann_analyzer import wording
from deltann_analyzer.findings.evidence import Evidence

_NAMED = 3


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each set of kernels; the same model compiled for several uses keeps the same ones."""
    groups: dict[tuple[str, tuple[str, ...]], list[Variant]] = defaultdict(list)
    for variant in evidence.variants:
        if variant.unscheduled:
            groups[(variant.model, tuple(variant.unscheduled))].append(variant)
    for (_, kernels), group in groups.items():
        first = group[0]
        others = f" and {wording.count(len(group) - 1, 'more variant')}" if len(group) > 1 else ""
        more = f" and {len(kernels) - _NAMED} more" if len(kernels) > _NAMED else ""
        yield Finding(
            severity="warning",
            kind="unscheduled_kernels",
            text=f"{evidence.names[first.id]}{others}: {len(kernels)} of {wording.count(first.kernels or 0, 'kernel')} "
            f"kept plain loops, because no schedule fitted: {', '.join(kernels[:_NAMED])}{more}. Labels are not "
            "touched by that, times are: they say little about the level.",
            value=len(kernels) / first.kernels if first.kernels else None,
            variants=[variant.id for variant in group],
        )
