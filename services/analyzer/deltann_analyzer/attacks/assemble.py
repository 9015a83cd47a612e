"""The report's part on attacks, from the adversarial sets and what each variant answered to them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltann.job import JobResult
from deltann.kinds.attack import AttackData
from deltann.plan.context import AttackPlan, NativeModel
from deltann.report.attacks import AttackMeasures, AttackReport, AttackRun
from deltann.store.base import ArtifactStore
from deltann_analyzer.attacks.means import means, robustness
from deltann_analyzer.gather import failure_of
from deltann_analyzer.measured import Measured
from deltann_analyzer.metrics.robustness import under_attack
from deltann_analyzer.records import Graph, Records

Arrays = dict[str, NDArray[Any]]


def attack_report(records: Records, store: ArtifactStore, measured: Sequence[Measured]) -> AttackReport | None:
    """All of it; None for a sweep without attacks.

    Raises:
        CorruptArtifactError: if a stored array is gone or has other bytes than its digest says.
    """
    context, graph = records.context, records.graph
    if not context.attacks:
        return None
    natives = {native.id: native for native in context.natives}
    known = {one.plan.id: one for one in measured}
    rows = [row for plan in context.attacks for row in _measures(plan, natives[plan.native], graph, store, known)]
    return AttackReport(
        runs=[_run(plan, natives[plan.native], graph) for plan in context.attacks],
        measures=rows,
        means=(averaged := means(rows)),
        robustness=robustness(averaged),
    )


def _run(plan: AttackPlan, native: NativeModel, graph: Graph) -> AttackRun:
    facts: dict[str, Any] = {
        "attack": plan.attack,
        "model": native.model,
        "instance": native.instance,
        "framework": native.info.framework,
    }
    result = graph.result(plan.job)
    if result is None or not result.outcome.usable:
        return AttackRun(**facts, failed=failure_of(graph, graph.cause(plan.job)).message)
    return AttackRun(**facts, **AttackData.model_validate(result.data).model_dump(exclude={"fooled"}))


def _measures(
    plan: AttackPlan, native: NativeModel, graph: Graph, store: ArtifactStore, known: Mapping[str, Measured]
) -> Iterator[AttackMeasures]:
    """A row for each variant that answered to the set, and that the original did."""
    made = _arrays(store, graph.result(plan.job), "shard")
    before = _arrays(store, graph.result(plan.runs[plan.original]), "outputs")
    original = known[plan.original]
    if made is None or before is None or original.labels is None:
        return
    classes, rows = made["y"], made["rows"]
    for identity, job in plan.runs.items():
        variant = known[identity]
        after = _arrays(store, graph.result(job), "outputs")
        if identity == plan.original or after is None or variant.labels is None:
            continue
        alike = original.executed is not None and variant.executed is not None
        alike = alike and original.executed.space == variant.executed.space  # type: ignore[union-attr]
        none = np.empty((len(classes), 0), np.float32)
        found = under_attack(
            classes,
            (original.labels[rows, 0], variant.labels[rows, 0]),
            (before["labels"][:, 0], after["labels"][:, 0]),
            (before["outputs"], after["outputs"]) if alike else (none, none),
            before["valid"] & after["valid"],
        )
        across = (variant.plan.model, variant.plan.instance) != (native.model, native.instance)
        yield AttackMeasures(
            attack=plan.attack,
            model=native.model,
            framework=native.info.framework,
            instance=native.instance,
            way=f"given to {variant.plan.framework}" if across else identity.removeprefix(native.id).strip(),
            across=across,
            n=found.n,
            left_out=len(classes) - found.n,
            success_before=found.success_before,
            success_after=found.success_after,
            misclassification=found.misclassification,
            error_abs=found.abs_error,
        )


def _arrays(store: ArtifactStore, result: JobResult | None, role: str) -> Arrays | None:
    ref = result.artifacts.get(role) if result is not None and result.outcome.usable else None
    if ref is None:
        return None
    with np.load(io.BytesIO(store.read(ref)), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
