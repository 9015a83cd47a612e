"""What was substituted when a model was resolved: random weights, another version."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding per native that has a note."""
    for native in evidence.context.natives:
        if native.note:
            yield Finding(severity="note", kind="substitution", text=f"{native.id}: {native.note.rstrip('.')}.")
