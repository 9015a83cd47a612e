"""From what was gathered to the report: the one place that knows the whole of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltann.plan.context import SweepContext
from deltann.report.models import (
    Finding,
    InputLeftOut,
    Inputs,
    RboSettings,
    Report,
    Settings,
    SweepFacts,
)
from deltann_analyzer import compare, questions
from deltann_analyzer.conversions import conversion_facts
from deltann_analyzer.disagreement import disagreements
from deltann_analyzer.findings import findings, in_order
from deltann_analyzer.gather import PARITY_MAX_REL, Measured
from deltann_analyzer.judging import judge, sensitivity_table
from deltann_analyzer.logs import Logs
from deltann_analyzer.naming import variant_names
from deltann_analyzer.pairs import PairIndex, find_pairs
from deltann_analyzer.records import Records
from deltann_analyzer.variants import beyond_classes, variant_facts


@dataclass(frozen=True)
class Analysis:
    """The report, and what its tables and its page need beside it."""

    report: Report
    measured: Sequence[Measured]
    pairs: Sequence[PairIndex]
    names: dict[str, str]


def assemble(records: Records, measured: Sequence[Measured], sweep: SweepFacts, logs: Logs) -> Analysis:
    """Compare everything and state it."""
    context, settings = records.context, records.context.study.compare
    names = variant_names(context.variants, context.conversions)
    indices = find_pairs(context.variants, context.conversions, axes=settings.axes, all_pairs=settings.all_pairs)
    truth, ids = context.manifest.labels, context.manifest.ids
    variants = [variant_facts(one, truth, logs, compare.times_of(one)) for one in measured]
    conversions = [conversion_facts(plan, records.graph, logs) for plan in context.conversions]
    pairs = compare.compare_pairs(measured, indices, settings, ids)
    inputs = Inputs(
        n=context.manifest.n, left_out=[InputLeftOut(id=out.id, why=out.why) for out in context.manifest.left_out]
    )
    found = findings(variants, conversions, pairs, inputs, names)
    found += [*_unfit_labels(measured, truth), *_notes(context)]
    report = Report(
        sweep=sweep,
        settings=_settings(context),
        inputs=inputs,
        conversions=conversions,
        variants=variants,
        pairs=pairs,
        disagreement=disagreements(measured),
        questions={**questions.questions(variants, pairs), "sensitivity": sensitivity_table(variants, pairs)},
        findings=in_order(found),
        gates=judge(context.study.gates, variants, pairs, measured),
        study=context.study.model_dump(mode="json", by_alias=True),
    )
    return Analysis(report, measured, indices, names)


def _settings(context: SweepContext) -> Settings:
    compare_by, timing = context.study.compare, context.study.timing
    return Settings(
        k=compare_by.k,
        rbo=RboSettings(p=compare_by.rbo_p, depth=compare_by.rbo_depth),
        bootstrap_seed=compare_by.bootstrap_seed,
        parity_max_rel=PARITY_MAX_REL,
        timing=None if timing is None else timing.model_dump(),
    )


def _unfit_labels(measured: Sequence[Measured], truth: Sequence[int | None]) -> list[Finding]:
    """A data set with labels that a model has no class for: one finding per native."""
    found: dict[tuple[str, str], Finding] = {}
    for one in measured:
        largest = beyond_classes(one, truth)
        key = (one.plan.model, one.plan.instance)
        if largest is not None and one.executed is not None and key not in found:
            found[key] = Finding(
                severity="fault",
                kind="class_mismatch",
                text=f"{one.plan.model}: the data set has labels up to {largest}, but the model answers "
                f"{one.executed.classes} "
                "classes (0-based, without background), so no accuracy is given. Name the right data set, or state the "
                "model's classes and class_offset in the study.",
                variants=[one.plan.id],
            )
    return list(found.values())


def _notes(context: SweepContext) -> list[Finding]:
    """What was substituted when a model was resolved: random weights, another version."""
    return [
        Finding(severity="note", kind="substitution", text=f"{native.id}: {native.note.rstrip('.')}.")
        for native in context.natives
        if native.note
    ]
