"""From a sweep's records to plain arrays: each variant's labels, outputs and times, and what failed or taints it."""

from __future__ import annotations

from pathlib import Path

from deltann.kinds.bisect import BisectData
from deltann.kinds.compile import CompileData
from deltann.kinds.convert import ConvertData, suspicious
from deltann.kinds.mutate import Equivalence, MutateData
from deltann.kinds.quantize import QuantizeData
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.plan.context import NativeModel, VariantPlan
from deltann.store.base import ArtifactStore
from deltann_analyzer.measured import Failure, Measured
from deltann_analyzer.readings import read_labels, read_times
from deltann_analyzer.records import Graph, Records

_WITHOUT_ERROR = {
    Outcome.INVALID_OUTPUT: "answered NaN or Inf for some inputs",
    Outcome.IMPORT_MISMATCH: "computes something else than its source, before any optimisation",
}


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
    made = [
        *plan.convert_jobs,
        *(i for i in (plan.quantize_job, plan.mutate_job, plan.import_job, plan.compile_job) if i is not None),
    ]
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
        quantized=_quantized(graph, plan),
    )
    for index in chain:
        result = graph.result(index)
        if result is not None:
            measured.toolchain.update(result.toolchain)
    _read_module(measured, graph)
    measured.equivalence = _equivalence(graph, plan)
    _read_bisection(measured, graph)
    read_labels(measured, graph, store, context.manifest_of(plan.model).n, context.study.compare.k, spill)
    read_times(measured, graph, store)
    return measured


def _info(graph: Graph, plan: VariantPlan, native: NativeModel | None) -> ModelInfo | None:
    """The description of the model file that the variant runs or was compiled from."""
    if plan.quantize_job is not None:
        found = _quantized(graph, plan)
        return found.info if found is not None else None
    if plan.mutate_job is not None:
        result = graph.result(plan.mutate_job)
        return MutateData.model_validate(result.data).info if result is not None and result.data else None
    if plan.convert_jobs:
        result = graph.result(plan.convert_jobs[-1])
        return ConvertData.model_validate(result.data).info if result is not None and result.data else None
    return native.info if native is not None else None


def _quantized(graph: Graph, plan: VariantPlan) -> QuantizeData | None:
    """How the model was quantised; None for one that was not, or could not be."""
    result = graph.result(plan.quantize_job)
    return QuantizeData.model_validate(result.data) if result is not None and result.data else None


def _equivalence(graph: Graph, plan: VariantPlan) -> Equivalence | None:
    """Whether the mutant was ever seen to answer otherwise; None for what is no mutant, and where nobody looked."""
    if plan.mutation is None:
        return None
    result = graph.result(plan.mutate_job if plan.mutate_job is not None else plan.compile_job)
    if result is None or not result.data:
        return None
    if result.kind == "mutate":
        return MutateData.model_validate(result.data).equivalence
    found = CompileData.model_validate(result.data).mutated
    return None if found is None else found.equivalence


def _read_module(measured: Measured, graph: Graph) -> None:
    """Size and kernels of the compiled module; the size of the model file where nothing was compiled."""
    if measured.plan.compile_job is None:
        measured.size_bytes = (measured.info.size_bytes or None) if measured.info is not None else None
        return
    result = graph.result(measured.plan.compile_job)
    module = result.artifacts.get("module") if result is not None else None
    measured.size_bytes = module.size if module is not None else None
    if result is not None and result.data and result.kind == "compile":
        data = CompileData.model_validate(result.data)
        measured.kernels, measured.unscheduled = data.kernels, data.unscheduled
        measured.passes = data.passes


def _read_bisection(measured: Measured, graph: Graph) -> None:
    """What makes it answer otherwise than what it was held against; nothing where the job has no result."""
    result = graph.result(measured.plan.bisect_job)
    if result is not None and result.outcome.usable:
        measured.bisected = BisectData.model_validate(result.data)
        measured.reproducers = result.artifacts.get("reproducers")


def _taint(graph: Graph, plan: VariantPlan) -> str | None:
    """What makes the variant's answers suspect although it ran: a bad conversion step, or a bad import."""
    for index in (*plan.convert_jobs, *(() if plan.read_job is None else (plan.read_job,))):
        result = graph.result(index)
        data = ConvertData.model_validate(result.data) if result is not None and result.data else None
        if data is not None and suspicious(data.parity):
            return f"conversion step {data.step.source} → {data.step.target} ({data.step.tool})"
    if plan.import_job is not None and graph.outcome(plan.import_job) is Outcome.IMPORT_MISMATCH:
        return f"import into {plan.engine} ({graph.job(plan.import_job).label or 'import'})"
    return None
