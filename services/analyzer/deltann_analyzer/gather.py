"""From a sweep's records to plain arrays: each variant's labels, outputs and times, and what failed or taints it."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deltann.artifact import ArtifactRef
from deltann.job import JobResult
from deltann.kinds.convert import ConvertData, Parity
from deltann.kinds.execute import ExecuteData, ExecuteParams, TimeData
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.plan.context import NativeModel, VariantPlan
from deltann.store.base import ArtifactStore
from deltann_analyzer.records import Graph, Records

PARITY_MAX_REL = 1e-3
"""A conversion step whose largest relative difference is beyond it changed the model."""

_WITHOUT_ERROR = {
    Outcome.INVALID_OUTPUT: "answered NaN or Inf for some inputs",
    Outcome.IMPORT_MISMATCH: "computes something else than its source, before any optimisation",
}


@dataclass(frozen=True)
class Failure:
    """The job that lost a variant or conversion, and why. ``job`` is its index in the plan."""

    job: int
    outcome: Outcome
    stage: str
    type: str
    message: str
    log: ArtifactRef | None = None


@dataclass
class Measured:
    """A variant and all that was measured of it.

    ``labels`` int32 [N, k] and ``scores`` float32 [N, k] (−1 and NaN where an input has no valid answer), ``valid``
    bool [N]; ``outputs`` float32 [N, classes], mapped from disk, or None; ``ns`` int64 [inputs, repeats], or None.
    """

    plan: VariantPlan
    outcome: Outcome
    failure: Failure | None
    tainted_by: str | None
    info: ModelInfo | None
    labels: npt.NDArray[np.int32] | None = None
    scores: npt.NDArray[np.float32] | None = None
    valid: npt.NDArray[np.bool_] | None = None
    outputs: npt.NDArray[np.float32] | None = None
    executed: ExecuteData | None = None
    ns: npt.NDArray[np.int64] | None = None
    first_ns: int | None = None
    timed: TimeData | None = None
    size_bytes: int | None = None
    device: str | None = None
    toolchain: dict[str, str] = field(default_factory=dict)


def suspicious(parity: Parity | None) -> bool:
    """Whether a parity check says that the step changed the model."""
    if parity is None:
        return False
    too_far = parity.max_rel is None or parity.max_rel > PARITY_MAX_REL
    other_label = parity.top1_agreement is not None and parity.top1_agreement < 1.0
    return too_far or other_label or parity.n_invalid > 0


def failure_of(graph: Graph, index: int) -> Failure:
    """Why a job ended as it did."""
    result, job = graph.result(index), graph.job(index)
    error = result.error if result is not None else None
    if error is None:
        said = "did not run" if result is None else _WITHOUT_ERROR.get(result.outcome, "failed and left no message")
        message = f"{job.label or job.kind} {said}."
        return Failure(index, graph.outcome(index), job.kind, "", message, result.log if result else None)
    return Failure(
        index, graph.outcome(index), error.stage, error.type, error.message, result.log if result is not None else None
    )


def gather(records: Records, store: ArtifactStore, folder: Path) -> list[Measured]:
    """All variants of a sweep, in the order of its plan. Whole outputs are laid into ``folder`` and mapped from there.

    Raises:
        CorruptArtifactError: if a stored array is gone or has other bytes than its digest says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    natives = {native.id: native for native in records.context.natives}
    by_place = {(native.model, native.instance): native for native in natives.values()}
    return [
        _measure(records, store, plan, by_place.get((plan.model, plan.instance)), folder / f"{position}.npy")
        for position, plan in enumerate(records.context.variants)
    ]


def _measure(
    records: Records, store: ArtifactStore, plan: VariantPlan, native: NativeModel | None, spill: Path
) -> Measured:
    graph, context = records.graph, records.context
    made = [*plan.convert_jobs, *(i for i in (plan.import_job, plan.compile_job) if i is not None)]
    chain = [*made, *plan.execute_jobs, *(() if plan.time_job is None else (plan.time_job,))]
    lost = graph.first_failure(chain)
    outcomes = {graph.outcome(index) for index in chain}
    outcome = Outcome.OK
    if lost is not None:
        outcome = graph.outcome(lost)
    else:
        for kind in (Outcome.INVALID_OUTPUT, Outcome.IMPORT_MISMATCH):
            if kind in outcomes:
                outcome, lost = kind, next(index for index in chain if graph.outcome(index) is kind)
                break
    measured = Measured(
        plan=plan,
        outcome=outcome,
        failure=None if lost is None else failure_of(graph, lost),
        tainted_by=_taint(graph, plan),
        info=_info(graph, plan, native),
    )
    for index in chain:
        result = graph.result(index)
        if result is not None:
            measured.toolchain.update(result.toolchain)
    measured.size_bytes = _size(graph, plan, measured.info)
    _read_labels(measured, graph, store, context.manifest.n, context.study.compare.k, spill)
    _read_times(measured, graph, store)
    return measured


def _info(graph: Graph, plan: VariantPlan, native: NativeModel | None) -> ModelInfo | None:
    """The description of the model file that the variant runs or was compiled from."""
    if plan.convert_jobs:
        result = graph.result(plan.convert_jobs[-1])
        return ConvertData.model_validate(result.data).info if result is not None and result.data else None
    return native.info if native is not None else None


def _size(graph: Graph, plan: VariantPlan, info: ModelInfo | None) -> int | None:
    if plan.compile_job is not None:
        result = graph.result(plan.compile_job)
        module = result.artifacts.get("module") if result is not None else None
        return module.size if module is not None else None
    return info.size_bytes if info is not None and info.size_bytes else None


def _taint(graph: Graph, plan: VariantPlan) -> str | None:
    """What makes the variant's answers suspect although it ran: a bad conversion step, or a bad import."""
    for index in plan.convert_jobs:
        result = graph.result(index)
        data = ConvertData.model_validate(result.data) if result is not None and result.data else None
        if data is not None and suspicious(data.parity):
            return f"conversion step {data.step.source} → {data.step.target} ({data.step.tool})"
    if plan.import_job is not None and graph.outcome(plan.import_job) is Outcome.IMPORT_MISMATCH:
        return f"import into {plan.engine} ({graph.job(plan.import_job).label or 'import'})"
    return None


def _arrays(store: ArtifactStore, result: JobResult | None, role: str) -> dict[str, npt.NDArray[Any]] | None:
    ref = result.artifacts.get(role) if result is not None else None
    if ref is None:
        return None
    with np.load(io.BytesIO(store.read(ref)), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _read_labels(measured: Measured, graph: Graph, store: ArtifactStore, n: int, k: int, spill: Path) -> None:
    """Lay the shards of a variant together; nothing where a shard is missing, for shares would then mislead."""
    shards = []
    for index in measured.plan.execute_jobs:
        result = graph.result(index)
        arrays = _arrays(store, result, "outputs")
        if result is None or arrays is None or not result.outcome.usable:
            return
        shards.append((ExecuteParams.model_validate(graph.job(index).params), arrays, result))
    if not shards:
        return
    width = max(arrays["labels"].shape[1] for _, arrays, _ in shards)
    labels = np.full((n, width), -1, np.int32)
    scores = np.full((n, width), np.nan, np.float32)
    valid = np.zeros(n, np.bool_)
    outputs = None
    if all("outputs" in arrays for _, arrays, _ in shards):
        shape = (n, shards[0][1]["outputs"].shape[1])
        outputs = np.lib.format.open_memmap(spill, mode="w+", dtype=np.float32, shape=shape)
    for params, arrays, _ in shards:
        rows = slice(params.start, params.stop)
        labels[rows, : arrays["labels"].shape[1]] = arrays["labels"]
        scores[rows, : arrays["scores"].shape[1]] = arrays["scores"]
        valid[rows] = arrays["valid"]
        if outputs is not None:
            outputs[rows] = arrays["outputs"]
    labels[~valid] = -1
    if outputs is not None:
        outputs.flush()
        measured.outputs = np.load(spill, mmap_mode="r")
    measured.labels, measured.scores, measured.valid = labels[:, :k], scores[:, :k], valid
    each = [ExecuteData.model_validate(result.data) for _, _, result in shards]
    measured.executed = each[0].model_copy(
        update={
            "n": sum(data.n for data in each),
            "n_invalid": int((~valid).sum()),
            "memory_peak_bytes": max(data.memory_peak_bytes for data in each),
        }
    )
    measured.device = measured.executed.device


def _read_times(measured: Measured, graph: Graph, store: ArtifactStore) -> None:
    result = graph.result(measured.plan.time_job)
    arrays = _arrays(store, result, "times")
    if result is None or arrays is None or not result.outcome.usable:
        return
    measured.ns, measured.first_ns = arrays["ns"].astype(np.int64), int(arrays["first_ns"])
    measured.timed = TimeData.model_validate(result.data)
    measured.device = measured.timed.device or measured.device
