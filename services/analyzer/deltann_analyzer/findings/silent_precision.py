"""Engines that computed in another precision than they were asked for, or than the model has, and did not say so."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.report.models import Finding, Pair, Variant
from deltann_analyzer import wording
from deltann_analyzer.findings.evidence import Evidence

_OWN_CHOICE = "default"
_OF_MODEL = {"float32": "fp32", "float16": "fp16"}


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding per variant, with what it did to labels where the wanted precision was run too."""
    for one, measured in zip(evidence.variants, evidence.measured, strict=True):
        if measured.plan.quantize_job is not None:
            continue  # its precision is the scheme's, which the model holds, and nothing that an engine was asked for
        chosen = one.precision == _OWN_CHOICE
        model = _OF_MODEL.get(measured.info.input.dtype) if measured.info is not None else None
        wanted = model if chosen else one.precision
        if wanted is None or one.precision_used in (None, wanted):
            continue
        why = f"nothing was asked and the model is {model}" if chosen else f"{wanted} was asked"
        pair = _against(evidence, one, wanted)
        yield Finding(
            severity="warning",
            kind="silent_precision",
            text=f"{evidence.names[one.id]} computed in {one.precision_used}, although {why}; {one.engine} gave no "
            f"warning.{_labels(evidence, one, pair)}",
            value=pair.top1_disagreement if pair is not None else None,
            variants=[one.id] if pair is None else [pair.a, pair.b],
            inputs=[] if pair is None else pair.inputs_that_differ[:10],
        )


def _against(evidence: Evidence, one: Variant, wanted: str) -> Pair | None:
    """The pair with the same variant in the precision that was wanted, where that one did run in it."""
    for pair in evidence.along("precision"):
        if one.id in (pair.a, pair.b):
            other = evidence.variant[pair.b if pair.a == one.id else pair.a]
            if other.precision_used == wanted and pair.top1_disagreement is not None:
                return pair
    return None


def _labels(evidence: Evidence, one: Variant, pair: Pair | None) -> str:
    if pair is None:
        return ""
    other = pair.b if pair.a == one.id else pair.a
    share = wording.share(pair.top1_disagreement)
    return f" Against {evidence.names[other]}, {pair.n_differ} of {pair.n} labels differ ({share})."
