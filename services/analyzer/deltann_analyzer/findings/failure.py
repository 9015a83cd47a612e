"""Everything that failed, once, with the variants that it lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from deltann.outcome import Outcome
from deltann.report.models import Conversion, Finding, Variant
from deltann_analyzer import wording
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each thing that failed."""
    lost: dict[tuple[str, str, Outcome, str], list[Variant]] = defaultdict(list)
    for variant in evidence.variants:
        if variant.error is not None and not variant.outcome.usable:
            lost[(variant.model, variant.error.stage, variant.outcome, variant.error.message)].append(variant)
    failed: dict[str, list[Conversion]] = defaultdict(list)
    for conversion in evidence.conversions:
        if not conversion.outcome.usable and conversion.outcome is not Outcome.SKIPPED:
            failed[conversion.message or "It left no message."].append(conversion)
    for (model, stage, outcome, message), gone in lost.items():
        behind = failed.pop(message, [])
        what = _named(behind) if behind else f"the step {stage!r}"
        who = evidence.names[gone[0].id] if len(gone) == 1 else f"{len(gone)} variants"
        yield _failure(f"{model}: {what} {wording.ended(outcome)}, which loses {who}", message, gone, behind)
    for message, behind in failed.items():
        text = f"{behind[0].model}: {_named(behind)} {wording.ended(behind[0].outcome)}"
        yield _failure(text, message, [], behind)


def _named(behind: Sequence[Conversion]) -> str:
    named = ", ".join(f"{conversion.source} → {conversion.target}" for conversion in behind[:3])
    more = f" and {len(behind) - 3} more" if len(behind) > 3 else ""
    return f"the {'conversion' if len(behind) == 1 else 'conversions'} {named}{more}"


def _failure(what: str, message: str, gone: Sequence[Variant], conversions: Sequence[Conversion]) -> Finding:
    logs = [log for log in (*(c.log for c in conversions), *(v.error.log for v in gone if v.error)) if log]
    return Finding(
        severity="fault",
        kind="failure",
        text=f"{what}. {message}",
        variants=[variant.id for variant in gone],
        conversions=[conversion.id for conversion in conversions],
        log=logs[0] if logs else None,
    )
