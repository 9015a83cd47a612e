"""A data set with labels that a model has no class for."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding
from deltann_analyzer.findings.evidence import Evidence
from deltann_analyzer.variants import beyond_classes


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding per native."""
    said: set[tuple[str, str]] = set()
    for one in evidence.measured:
        largest = beyond_classes(one, evidence.context.manifest_of(one.plan.model).labels)
        key = (one.plan.model, one.plan.instance)
        if largest is None or one.executed is None or key in said:
            continue
        said.add(key)
        yield Finding(
            severity="fault",
            kind="class_mismatch",
            text=f"{one.plan.model}: the data set has labels up to {largest}, but the model answers "
            f"{one.executed.classes} classes (0-based, without background), so no accuracy is given. Name the right "
            "data set, or state the model's classes and class_offset in the study.",
            variants=[one.plan.id],
        )
