"""Models that a compiler reads differently than their own engine, before it optimises anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from deltann.report.models import Finding, Variant
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding per import, with all that is behind it."""
    groups: dict[tuple[str, str], list[Variant]] = defaultdict(list)
    for variant in evidence.variants:
        if variant.tainted_by is not None and variant.tainted_by.startswith("import"):
            groups[(variant.model, variant.tainted_by)].append(variant)
    for (model, taint), group in groups.items():
        yield Finding(
            severity="fault",
            kind="import_mismatch",
            text=f"{model}: the {taint} computes something else than the model's own engine, before any optimisation. "
            f"Everything behind it ({len(group)} variants) is marked as tainted.",
            variants=[variant.id for variant in group],
        )
