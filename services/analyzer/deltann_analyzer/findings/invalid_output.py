"""Variants that answered NaN or Inf."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding per variant."""
    for variant in evidence.variants:
        if variant.n_invalid:
            n = variant.n + variant.n_invalid
            yield Finding(
                severity="fault",
                kind="invalid_output",
                text=f"{evidence.names[variant.id]} answers NaN or Inf for {variant.n_invalid} of {n} inputs.",
                value=variant.n_invalid / n,
                variants=[variant.id],
            )
