"""The pair whose labels differ most."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding
from deltann_analyzer import wording
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """That pair, or that no label changed at all."""
    known = [pair for pair in evidence.along() if pair.top1_disagreement is not None]
    if not known:
        return
    worst = max(known, key=lambda pair: pair.top1_disagreement or 0.0)
    share = worst.top1_disagreement or 0.0
    if not share:
        text = f"No label changed in any of the {len(known)} pairs that were compared."
        yield Finding(severity="note", kind="largest_label_difference", text=text, value=0.0)
        return
    behind = f" It lies behind a fault: {worst.tainted_by}." if worst.tainted_by else ""
    yield Finding(
        severity="warning",
        kind="largest_label_difference",
        text=f"The largest label difference is along the axis {worst.axis}: {evidence.names[worst.b]} gives another "
        f"label than {evidence.names[worst.a]} for {worst.n_differ} of {worst.n} inputs ({wording.share(share)})."
        f"{behind}",
        value=share,
        variants=[worst.a, worst.b],
        inputs=worst.inputs_that_differ[:10],
    )
