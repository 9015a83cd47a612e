"""The report's part on quantised models, from its variants and pairs along the precision axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from deltann.report.models import Pair, Variant
from deltann.report.quantization import ClassLoss, QuantizationReport, QuantizedModel
from deltann_analyzer.measured import Measured
from deltann_analyzer.training.assemble import measures
from deltann_analyzer.training.spread import spreads

_Truth = Callable[[str], Sequence[int | None]]


def quantization_report(
    measured: Sequence[Measured], variants: Sequence[Variant], pairs: Sequence[Pair], truth: _Truth
) -> QuantizationReport | None:
    """All of it; None for a sweep that quantises nothing.

    Args:
        measured: the variants as they were gathered.
        variants: the same as the report has them.
        pairs: of the report.
        truth: the right labels of a model's inputs, by the model's name.
    """
    if all(one.plan.quantize_job is None for one in measured):
        return None
    models = list(_models(measured, variants, pairs, truth))
    return QuantizationReport(models=models, spreads=spreads(models))


def _models(
    measured: Sequence[Measured], variants: Sequence[Variant], pairs: Sequence[Pair], truth: _Truth
) -> Iterator[QuantizedModel]:
    known = {one.plan.id: one for one in measured}
    facts = {one.id: one for one in variants}
    for pair in pairs:
        a, b = known[pair.a], known[pair.b]
        if b.quantized is None or a.plan.quantize_job is not None or pair.axis != "precision":
            continue
        yield QuantizedModel(
            **measures(facts[pair.a], facts[pair.b], pair),
            framework=b.plan.source,
            way=f"{b.plan.framework} {b.quantized.scheme}",
            scheme=b.quantized.scheme,
            a=pair.a,
            b=pair.b,
            version=b.quantized.version,
            calibrated_on=b.quantized.calibrated_on,
            classes=class_losses(a, b, truth(b.plan.model)),
        )


def class_losses(a: Measured, b: Measured, truth: Sequence[int | None]) -> list[ClassLoss]:
    """Classes whose accuracy changed, the largest loss first; an invalid answer is a wrong one."""
    if a.labels is None or b.labels is None:
        return []
    known = np.array([row for row, label in enumerate(truth) if label is not None], np.int64)
    wanted = np.array([label for label in truth if label is not None], np.int64)
    before, after = (one[known, 0] == wanted for one in (a.labels, b.labels))
    found = []
    for label in np.unique(wanted):
        rows = wanted == label
        shares = float(before[rows].mean()), float(after[rows].mean())
        if shares[0] != shares[1]:
            found.append(
                ClassLoss(
                    label=int(label),
                    n=int(rows.sum()),
                    accuracy_before=shares[0],
                    accuracy_after=shares[1],
                    lost=shares[0] - shares[1],
                )
            )
    return sorted(found, key=lambda one: -one.lost)
