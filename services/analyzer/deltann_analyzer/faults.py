"""What the localisation of a sweep's conversion steps found."""

from __future__ import annotations

from pydantic import TypeAdapter

from deltann.faults.edits import brief
from deltann.faults.layers import Layers
from deltann.faults.suspect import Suspect
from deltann.job import JobResult
from deltann.kinds.convert import ConvertData, ConvertParams
from deltann.kinds.repair import LocalizeData
from deltann.outcome import Outcome
from deltann.plan.context import LocalizationPlan
from deltann.report.faults import StepFault
from deltann.store.base import ArtifactStore
from deltann_analyzer.gather import failure_of
from deltann_analyzer.records import Records

_SUSPECTS: TypeAdapter[list[Suspect]] = TypeAdapter(list[Suspect])


def step_faults(records: Records, store: ArtifactStore) -> list[StepFault]:
    """The steps whose target disagrees with its source, in the order of the plan."""
    found = (_fault(one, records, store) for one in records.context.localizations)
    return [one for one in found if one is not None]


def _fault(plan: LocalizationPlan, records: Records, store: ArtifactStore) -> StepFault | None:
    graph, context = records.graph, records.context
    outcome, result = graph.outcome(plan.job), graph.result(plan.job)
    if outcome is Outcome.SKIPPED:
        return None
    asked = ConvertParams.model_validate(graph.job(plan.step).params)
    having = [one for one in context.conversions if plan.step in one.jobs]
    plain = StepFault(
        conversions=[one.id for one in having],
        step=f"{asked.source} → {asked.target}",
        tool=_tool(graph.result(plan.step)),
        model=having[0].model,
        outcome=outcome,
    )
    if result is None or not outcome.usable:
        return plain.model_copy(update={"message": failure_of(graph, plan.job).message})
    data = LocalizeData.model_validate(result.data)
    if not result.artifacts:
        return None
    suspects = _SUSPECTS.validate_json(store.read(result.artifacts["suspects"]))
    layers = Layers.model_validate_json(store.read(result.artifacts["layers"]))
    return plain.model_copy(
        update={
            "message": data.note or None,
            "followed": data.followed,
            "agreement": data.agreement,
            "inputs": [context.manifest_of(plain.model).ids[at] for at in layers.inputs],
            "suspects": [one.model_copy(update={"edits": ()}) for one in suspects],
            "repairs": [[brief(edit) for edit in one.edits] for one in suspects],
            "layers": layers,
        }
    )


def _tool(result: JobResult | None) -> str | None:
    if result is None or not result.data:
        return None
    step = ConvertData.model_validate(result.data).step
    return f"{step.tool} ({step.version})"
