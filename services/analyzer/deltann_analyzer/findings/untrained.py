"""Trainings that gave no model."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each."""
    for one in evidence.context.untrained:
        yield Finding(
            severity="fault",
            kind="training_failed",
            text=f"{one.model}/{one.instance} could not be trained and is left out: {one.why}",
        )
