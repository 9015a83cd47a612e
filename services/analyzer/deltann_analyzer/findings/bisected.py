"""Passes and operators by which levels and precisions of a model answer differently, where the study asks."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.kinds import bisect
from deltann.report.models import Finding
from deltann_analyzer.findings.evidence import Evidence
from deltann_analyzer.measured import Measured

_SHOWN = 3


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each of a search's own."""
    for one in evidence.measured:
        ids = evidence.context.manifest_of(one.plan.model).ids
        for found in one.bisected.findings if one.bisected is not None else ():
            yield Finding(
                severity="warning",
                kind="bisected",
                text=_text(evidence, one, found),
                value=found.comparison.error,
                variants=[str(one.plan.against), one.plan.id],
                inputs=[ids[place] for place in found.comparison.differing or (found.position,)],
            )


def _text(evidence: Evidence, one: Measured, found: bisect.Finding) -> str:
    names = evidence.names
    between = f"{names[one.plan.id]} against {names[str(one.plan.against)]}"
    did = " and ".join(each.name for each in found.passes)
    by = f"by {did}" if did else "by what TVM makes of it before any pass"
    far = "NaN on one side only" if found.alone is None else f"a relative error of {found.alone:.2g}"
    if found.comparison.symptom != "differs":
        far = str(found.comparison.symptom)
    nodes = ", ".join(f"{each.op_type} {each.name}" for each in found.nodes[:_SHOWN])
    more = f" and {len(found.nodes) - _SHOWN} more" if len(found.nodes) > _SHOWN else ""
    where = f" It shows on {nodes}{more} alone: {far}." if found.nodes else " No part of the model shows it alone."
    avoided = f" Without {' or '.join(found.avoided_by)} they agree." if found.avoided_by else ""
    kept = f" It is reproduced by reproducers/{one.plan.bisect_job}/{found.reproducer}." if found.reproducer else ""
    return f"{between}: {found.comparison.b} is otherwise than {found.comparison.a} {by}.{where}{avoided}{kept}"
