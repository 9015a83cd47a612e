"""The rows of the report's ``variants``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deltann.model import ModelInfo
from deltann.report.models import Times, Variant, VariantError
from deltann_analyzer.logs import Logs
from deltann_analyzer.measured import Failure, Measured


def variant_facts(measured: Measured, truth: Sequence[int | None], logs: Logs, times: Times | None) -> Variant:
    """One variant as the report has it."""
    plan, info = measured.plan, measured.info
    top1, top5 = accuracy(measured, truth)
    ran = measured.timed or measured.executed
    return Variant(
        id=plan.id,
        model=plan.model,
        instance=plan.instance,
        source=plan.source,
        framework=plan.framework,
        chain=list(plan.chain),
        conversion=plan.conversion,
        parent=plan.parent,
        engine=plan.engine,
        target=plan.target,
        opt_level=plan.opt_level,
        schedule=plan.schedule,
        precision=plan.precision,
        library=plan.library,
        precision_used=ran.used.precision if ran is not None else None,
        library_used=ran.used.library if ran is not None else None,
        preprocessing=plan.preprocessing,
        mutation=plan.mutation,
        pool=plan.pool,
        device=measured.device,
        threads=ran.threads if ran is not None else None,
        toolchain=dict(sorted(measured.toolchain.items())),
        weights_fingerprint=_fingerprint(info, "weights_fingerprint"),
        graph_fingerprint=_fingerprint(info, "graph_fingerprint"),
        outcome=measured.outcome,
        error=_error(measured.failure, logs),
        tainted_by=measured.tainted_by,
        kernels=measured.kernels,
        passes=list(measured.passes),
        unscheduled=list(measured.unscheduled),
        n=0 if measured.valid is None else int(measured.valid.sum()),
        n_invalid=0 if measured.valid is None else int((~measured.valid).sum()),
        accuracy_top1=top1,
        accuracy_top5=top5,
        load_ms=ran.load_ms if ran is not None else None,
        size_bytes=measured.size_bytes,
        memory_peak_bytes=ran.memory_peak_bytes if ran is not None else None,
        time_ms=times,
    )


def beyond_classes(measured: Measured, truth: Sequence[int | None]) -> int | None:
    """The largest label of the data set, where the model has no class for it; else None."""
    classes = measured.executed.classes if measured.executed is not None else None
    largest = max((label for label in truth if label is not None), default=None)
    return largest if classes is not None and largest is not None and largest >= classes else None


def accuracy(measured: Measured, truth: Sequence[int | None]) -> tuple[float | None, float | None]:
    """Shares of the labelled inputs whose label comes first, and among the first five.

    An invalid answer is a wrong one. Null without labels, without answers, and where the data set has labels that the
    model has no class for; the second is null too where fewer than five answers are kept.
    """
    rows = [row for row, label in enumerate(truth) if label is not None]
    if measured.labels is None or not rows or beyond_classes(measured, truth) is not None:
        return None, None
    wanted = np.array([truth[row] for row in rows], np.int64)
    hits: npt.NDArray[np.bool_] = measured.labels[rows] == wanted[:, None]
    top5 = float(hits[:, :5].any(axis=1).mean()) if hits.shape[1] >= 5 else None
    return float(hits[:, 0].mean()), top5


def _fingerprint(info: ModelInfo | None, name: str) -> str | None:
    return (getattr(info, name) or None) if info is not None else None


def _error(failure: Failure | None, logs: Logs) -> VariantError | None:
    if failure is None:
        return None
    return VariantError(stage=failure.stage, type=failure.type, message=failure.message, log=logs.path(failure.log))
