"""Inputs that could not be used."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding
from deltann_analyzer import wording
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding for all of them."""
    inputs = evidence.inputs
    if not inputs.left_out:
        return
    named = "; ".join(f"{out.id}: {out.why}" for out in inputs.left_out[:3])
    more = f" and {len(inputs.left_out) - 3} more" if len(inputs.left_out) > 3 else ""
    yield Finding(
        severity="warning",
        kind="inputs_left_out",
        text=f"Left out: {wording.count(len(inputs.left_out), 'input')} ({named}{more}). {inputs.n} were used.",
        inputs=[out.id for out in inputs.left_out[:100]],
    )
