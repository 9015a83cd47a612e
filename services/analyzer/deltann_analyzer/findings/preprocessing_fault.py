"""Labels that preprocessing alone changes."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding, Pair
from deltann_analyzer import wording
from deltann_analyzer.findings.evidence import Evidence

_FAULT = 0.05
"""From this share of labels on it is more than a warning."""


def find(evidence: Evidence) -> Iterator[Finding]:
    """The largest label difference per model and pair of recipes."""
    worst: dict[tuple[str, str, str], Pair] = {}
    for pair in evidence.along("preprocessing"):
        if pair.top1_disagreement:
            a, b = evidence.variant[pair.a], evidence.variant[pair.b]
            key = (f"{a.model}/{a.instance}", a.preprocessing, b.preprocessing)
            if key not in worst or pair.top1_disagreement > (worst[key].top1_disagreement or 0.0):
                worst[key] = pair
    for pair in worst.values():
        a, b, share = evidence.variant[pair.a], evidence.variant[pair.b], pair.top1_disagreement or 0.0
        right = ""
        if a.accuracy_top1 is not None and b.accuracy_top1 is not None:
            right = f" Accuracy goes from {wording.share(a.accuracy_top1)} to {wording.share(b.accuracy_top1)}."
        yield Finding(
            severity="fault" if share >= _FAULT else "warning",
            kind="preprocessing_fault",
            text=f"{evidence.names[a.id]}: preparing the inputs with {b.preprocessing} instead of {a.preprocessing} "
            f"changes the label of {wording.share(share)} of {pair.n} inputs, with the same model and engine.{right}",
            value=share,
            variants=[pair.a, pair.b],
            inputs=pair.inputs_that_differ[:10],
        )
