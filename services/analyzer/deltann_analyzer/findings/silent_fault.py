"""Conversions that ended well and changed what the model answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deltann.report.models import Conversion, ConversionStep, Finding, StepFault
from deltann_analyzer import wording
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """The guilty step of each such conversion, and the steps that it clears."""
    for conversion in evidence.conversions:
        if conversion.silent_fault is None:
            continue
        parity = conversion.steps[conversion.silent_fault].parity
        agree = parity.top1_agreement if parity is not None else None
        yield Finding(
            severity="fault",
            kind="silent_conversion_fault",
            text=_text(conversion, conversion.silent_fault) + _where(conversion, evidence.faults),
            value=None if agree is None else 1.0 - agree,
            conversions=[conversion.id],
        )


def _where(conversion: Conversion, faults: Sequence[StepFault]) -> str:
    """The first node that is wrong by itself, and what is wrong with it."""
    label = conversion.steps[conversion.silent_fault or 0].label
    for one in faults:
        if conversion.id in one.conversions and one.step == label and one.suspects:
            first = one.suspects[0]
            kind = "" if first.kind == "unknown" else f": {first.kind}"
            more = f", and {wording.count(len(one.suspects) - 1, 'other node')}" if len(one.suspects) > 1 else ""
            return f" Its node {first.node} ({first.op_type}) is wrong by itself{kind}{more}."
    return ""


def _text(conversion: Conversion, at: int) -> str:
    step = conversion.steps[at]
    cleared = [other.label for other in conversion.steps[:at] if other.verdict == "clear"]
    clear = f" The steps before it are cleared: {', '.join(cleared)}." if cleared else ""
    version = f" ({step.version})" if step.version else ""
    return (
        f"{conversion.model}: converting {conversion.source} to {conversion.target} reported no error, but step "
        f"{at + 1} of {len(conversion.steps)}, {step.label} by {step.tool}{version}, changed the model: it"
        f"{_change(step)}.{clear}"
    )


def _change(step: ConversionStep) -> str:
    parity = step.parity
    if parity is None or parity.max_rel is None:
        far = " gives NaN or Inf"
    else:
        far = f" moves outputs by up to {wording.distance(parity.max_rel)} of the largest"
    if parity is None or parity.top1_agreement is None:
        return far
    return f" keeps {wording.share(parity.top1_agreement)} of labels on {parity.n} seeded inputs and{far}"
