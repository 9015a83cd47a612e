"""What a person should know first, in plain words: derived from the report's own figures. Pure.

A kind of finding is a module with a function ``find(evidence)``, registered in ``_KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from deltann.report.models import Finding, Severity
from deltann_analyzer.findings import (
    bisected,
    class_mismatch,
    failure,
    import_mismatch,
    inputs_left_out,
    invalid_output,
    label_difference,
    preprocessing_fault,
    silent_fault,
    silent_precision,
    slowdown,
    slower_level,
    substitution,
    unscheduled,
    untrained,
)
from deltann_analyzer.findings.evidence import Evidence

__all__ = ["Evidence", "findings"]

_KINDS: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    silent_fault.find,
    failure.find,
    untrained.find,
    import_mismatch.find,
    invalid_output.find,
    preprocessing_fault.find,
    silent_precision.find,
    label_difference.find,
    bisected.find,
    slower_level.find,
    slowdown.find,
    unscheduled.find,
    inputs_left_out.find,
    class_mismatch.find,
    substitution.find,
)
_GRAVITY: dict[Severity, int] = {"fault": 0, "warning": 1, "note": 2}
_ONE_OF_MANY = ("slower_level", "unscheduled_kernels")
"""Kinds that can come once for every variant."""


def findings(evidence: Evidence) -> list[Finding]:
    """All findings, the gravest first; among equals what is one of many last, and the larger figure first."""
    return sorted(
        (finding for find in _KINDS for finding in find(evidence)),
        key=lambda finding: (_GRAVITY[finding.severity], finding.kind in _ONE_OF_MANY, -(finding.value or 0.0)),
    )
