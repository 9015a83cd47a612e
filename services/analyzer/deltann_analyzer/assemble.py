"""From what was gathered to the report: the one place that knows the whole of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltann.kinds.convert import PARITY_MAX_REL
from deltann.plan.context import SweepContext
from deltann.report.attacks import AttackReport
from deltann.report.models import (
    InputLeftOut,
    Inputs,
    RboSettings,
    Report,
    Settings,
    StepFault,
    SweepFacts,
)
from deltann_analyzer import compare
from deltann_analyzer.conversions import conversion_facts
from deltann_analyzer.disagreement import disagreements
from deltann_analyzer.findings import Evidence, findings
from deltann_analyzer.judging import judge
from deltann_analyzer.logs import Logs
from deltann_analyzer.measured import Measured
from deltann_analyzer.mutants import mutation_report
from deltann_analyzer.naming import variant_names
from deltann_analyzer.pairs import PairIndex, find_pairs
from deltann_analyzer.questions import questions
from deltann_analyzer.records import Records
from deltann_analyzer.training import training_report
from deltann_analyzer.variants import variant_facts


@dataclass(frozen=True)
class Analysis:
    """The report, and what its tables and its page need beside it."""

    report: Report
    measured: Sequence[Measured]
    pairs: Sequence[PairIndex]
    names: dict[str, str]

    @property
    def unmutated(self) -> Analysis:
        """The same without mutants: what the page shows beside its part on them."""
        kept = [at for at, one in enumerate(self.measured) if one.plan.mutation is None]
        place = {at: new for new, at in enumerate(kept)}
        pairs = [PairIndex(place[one.a], place[one.b], one.axis) for one in self.pairs if {one.a, one.b} <= set(kept)]
        return Analysis(self.report.unmutated, [self.measured[at] for at in kept], pairs, self.names)


def assemble(
    records: Records,
    measured: Sequence[Measured],
    faults: list[StepFault],
    sweep: SweepFacts,
    logs: Logs,
    attacks: AttackReport | None = None,
) -> Analysis:
    """Compare everything and state it."""
    context, settings = records.context, records.context.study.compare
    names = variant_names(context.variants, context.conversions)
    indices = find_pairs(context.variants, context.conversions, axes=settings.axes, all_pairs=settings.all_pairs)
    variants = [
        variant_facts(one, context.manifest_of(one.plan.model).labels, logs, compare.times_of(one)) for one in measured
    ]
    conversions = [conversion_facts(plan, records.graph, logs) for plan in context.conversions]
    pairs = compare.compare_pairs(measured, indices, settings, lambda model: context.manifest_of(model).ids)
    inputs = _inputs(context)
    plain = [one for one in measured if one.plan.mutation is None]
    known = {one.plan.id for one in plain}
    usual = [one for one in variants if one.id in known]
    between = [pair for pair in pairs if pair.a in known and pair.b in known]
    evidence = Evidence(context, plain, usual, conversions, between, inputs, names, faults)
    report = Report(
        sweep=sweep,
        settings=_settings(context),
        inputs=inputs,
        conversions=conversions,
        variants=variants,
        pairs=pairs,
        disagreement=disagreements(plain),
        questions=questions(usual, between),
        findings=findings(evidence),
        gates=judge(context.study.gates, usual, between, plain),
        faults=faults,
        mutation=mutation_report(measured, settings, context.manifest.labels, context.manifest.ids),
        training=training_report(context, usual, between),
        attacks=attacks,
        study=context.study.model_dump(mode="json", by_alias=True),
    )
    return Analysis(report, measured, indices, names)


def _inputs(context: SweepContext) -> Inputs:
    everywhere = (context.manifest, *context.manifests.values())
    return Inputs(
        n=context.manifest.n,
        own={model: manifest.n for model, manifest in context.manifests.items()},
        left_out=[InputLeftOut(id=out.id, why=out.why) for manifest in everywhere for out in manifest.left_out],
    )


def _settings(context: SweepContext) -> Settings:
    compare_by, timing = context.study.compare, context.study.timing
    return Settings(
        k=compare_by.k,
        rbo=RboSettings(p=compare_by.rbo_p, depth=compare_by.rbo_depth),
        bootstrap_seed=compare_by.bootstrap_seed,
        parity_max_rel=PARITY_MAX_REL,
        timing=None if timing is None else timing.model_dump(),
    )
