"""The report's part on trained models, from its variants and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from deltann.model import ENGINE_OF
from deltann.plan.context import NativeModel, SweepContext
from deltann.report.models import Pair, Variant
from deltann.report.training import InstanceMeasures, TrainingReport, TrainingRun
from deltann_analyzer.training.spread import differences, spreads


def training_report(context: SweepContext, variants: Sequence[Variant], pairs: Sequence[Pair]) -> TrainingReport | None:
    """All of it; None for a sweep that trains nothing."""
    trained = [native for native in context.natives if native.trained is not None]
    if not trained and not context.untrained:
        return None
    instances = [row for native in trained for row in _rows(native, variants, pairs)]
    number = {(native.model, native.instance): native.number for native in trained}
    natives = [one for one in variants if (one.model, one.instance) in number and is_native(one)]
    return TrainingReport(
        runs=list(_runs(context)),
        instances=instances,
        spreads=spreads(instances),
        frameworks=differences(natives, number),
    )


def is_native(variant: Variant) -> bool:
    """Whether a variant is a model as it was trained, in its own engine."""
    own = variant.engine == ENGINE_OF[variant.framework]
    return own and variant.conversion is None and not variant.chain and variant.mutation is None


def _runs(context: SweepContext) -> Iterator[TrainingRun]:
    for native in context.natives:
        if native.trained is not None:
            facts = native.trained.model_dump(exclude={"curves"})
            yield TrainingRun(
                model=native.model,
                instance=native.instance,
                framework=native.info.framework,
                curves=list(native.trained.curves),
                **facts,
            )
    for one in context.untrained:
        yield TrainingRun(model=one.model, instance=one.instance, failed=one.why)


def _rows(native: NativeModel, variants: Sequence[Variant], pairs: Sequence[Pair]) -> Iterator[InstanceMeasures]:
    """Each variant that is held against the trained model itself, in the order of the pairs."""
    known = {one.id: one for one in variants}
    for pair in pairs:
        a, b = known[pair.a], known[pair.b]
        if (a.model, a.instance) == (native.model, native.instance) == (b.model, b.instance) and is_native(a):
            yield _row(native, a, b, pair)


def _row(native: NativeModel, a: Variant, b: Variant, pair: Pair) -> InstanceMeasures:
    way = b.id.removeprefix(native.id).strip()
    return InstanceMeasures(**measures(a, b, pair), framework=native.info.framework, way=way)


def measures(a: Variant, b: Variant, pair: Pair) -> dict[str, Any]:
    """Whose they are, and all measures of :class:`InstanceMeasures`: ``a`` is before, ``b`` after."""
    error = next(iter(pair.errors.values()), None)
    lost = None if a.accuracy_top1 is None or b.accuracy_top1 is None else a.accuracy_top1 - b.accuracy_top1
    return {
        "model": b.model,
        "instance": b.instance,
        "accuracy_before": a.accuracy_top1,
        "accuracy_after": b.accuracy_top1,
        "accuracy_lost": lost,
        "disagreement": pair.top1_disagreement,
        "error_abs": error.abs.mean if error else None,
        "error_rel": error.rel.mean if error else None,
        "size_before": a.size_bytes,
        "size_after": b.size_bytes,
        "load_ms_before": a.load_ms,
        "load_ms_after": b.load_ms,
        "time_ms_before": _median(a),
        "time_ms_after": _median(b),
        "sum_ms_before": _sum(a),
        "sum_ms_after": _sum(b),
        "memory_before": a.memory_peak_bytes,
        "memory_after": b.memory_peak_bytes,
    }


def _median(variant: Variant) -> float | None:
    return variant.time_ms.median if variant.time_ms is not None else None


def _sum(variant: Variant) -> float | None:
    median = _median(variant)
    return None if median is None or variant.load_ms is None else variant.load_ms + median
