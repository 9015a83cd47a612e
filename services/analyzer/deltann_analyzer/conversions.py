"""The conversions of a sweep, step by step, and which step is to blame where outputs changed in silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltann.kinds.convert import ConvertData, ConvertParams, Parity, suspicious
from deltann.outcome import Outcome
from deltann.plan.context import ConversionPlan
from deltann.report.models import Conversion, ConversionStep, ParityFacts
from deltann_analyzer.gather import failure_of
from deltann_analyzer.logs import Logs
from deltann_analyzer.numbers import number
from deltann_analyzer.records import Graph


def conversion_facts(plan: ConversionPlan, graph: Graph, logs: Logs) -> Conversion:
    """What became of one conversion. Its parity is the worst of its steps, each judged against what it started from."""
    steps = [_step(index, graph, logs) for index in plan.jobs]
    guilty = next((at for at, step in enumerate(steps) if _bad(step)), None)
    lost = graph.first_failure(plan.jobs)
    failure = None if lost is None else failure_of(graph, lost)
    return Conversion(
        id=plan.id,
        model=plan.model,
        source=plan.source,
        target=plan.target,
        chain=list(plan.chain),
        normalise=plan.normalise,
        steps=[step.model_copy(update={"verdict": _verdict(at, step, guilty)}) for at, step in enumerate(steps)],
        outcome=Outcome.OK
        if lost is None
        else graph.outcome(next(i for i in plan.jobs if not graph.outcome(i).usable)),
        parity=worst([step.parity for step in steps]),
        silent_fault=guilty if lost is None else None,
        message=None if failure is None else failure.message,
        log=logs.path(failure.log) if failure is not None else None,
    )


def worst(parities: Sequence[ParityFacts | None]) -> ParityFacts | None:
    """The worst of each figure over several checks; None where there is no check."""
    known = [parity for parity in parities if parity is not None]
    if not known:
        return None
    return ParityFacts(
        n=min(parity.n for parity in known),
        n_invalid=max(parity.n_invalid for parity in known),
        max_abs=_known(max, [parity.max_abs for parity in known]),
        max_rel=_known(max, [parity.max_rel for parity in known]),
        top1_agreement=_known(min, [parity.top1_agreement for parity in known]),
    )


def _known(choose: Callable[[list[float]], float], values: list[float | None]) -> float | None:
    """One number that could not be computed leaves the worst unknown."""
    numbers = [value for value in values if value is not None]
    return choose(numbers) if len(numbers) == len(values) else None


def _bad(step: ConversionStep) -> bool:
    return step.outcome.usable and suspicious(Parity(**step.parity.model_dump()) if step.parity is not None else None)


def _verdict(at: int, step: ConversionStep, guilty: int | None) -> str:
    if step.outcome is Outcome.SKIPPED:
        return "not run"
    if not step.outcome.usable:
        return "failed"
    if _bad(step):
        return "guilty"
    if guilty is not None and at > guilty:
        return "behind a fault"
    return "unchecked" if step.parity is None else "clear"


def _step(index: int, graph: Graph, logs: Logs) -> ConversionStep:
    params = ConvertParams.model_validate(graph.job(index).params)
    outcome, result = graph.outcome(index), graph.result(index)
    log = logs.path(result.log) if result is not None and not outcome.usable else None
    label = f"{params.source} → {params.target}"
    if result is None or not result.data or not outcome.usable:
        return ConversionStep(label=label, tool=params.tool, outcome=outcome, log=log)
    data = ConvertData.model_validate(result.data)
    step, parity = data.step, data.parity
    return ConversionStep(
        label=label,
        tool=step.tool,
        version=step.version,
        route=step.route,
        opset=step.opset,
        normalised=step.normalised,
        seconds=step.seconds,
        warnings=step.warnings,
        size_before=step.size_before,
        size_after=step.size_after,
        checked_by=step.checked_by,
        outcome=outcome,
        parity=None
        if parity is None
        else ParityFacts(
            n=parity.n,
            n_invalid=parity.n_invalid,
            max_abs=number(parity.max_abs),
            max_rel=number(parity.max_rel),
            top1_agreement=number(parity.top1_agreement),
        ),
        log=log,
    )
