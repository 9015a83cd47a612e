"""Some lines for the terminal."""

from __future__ import annotations

from collections import Counter

from deltann.outcome import Outcome
from deltann.report.models import Report
from deltann_analyzer import wording


def summary(report: Report) -> list[str]:
    """What was run; labels; times; faults; gates. Always these five lines, and one more where there are mutants."""
    mutants = _mutants(report)
    report = report.unmutated
    good = sum(variant.outcome is Outcome.OK for variant in report.variants)
    converted = sum(
        conversion.outcome is Outcome.OK and conversion.silent_fault is None for conversion in report.conversions
    )
    return [
        f"Ran {good} of {len(report.variants)} variants on {wording.given(report.inputs)}; "
        f"{converted} of {len(report.conversions)} conversions kept the model.",
        _labels(report),
        _times(report),
        _faults(report),
        _gates(report),
        *mutants,
    ]


def _mutants(report: Report) -> list[str]:
    if report.mutation is None:
        return []
    score = report.mutation.scores[0]
    states = Counter(mutant.state for mutant in report.mutation.mutants)
    apart = sum(one.differing for one in report.mutation.families)
    known = "no score" if score.score is None else f"score {score.score:.2f}"
    return [
        f"Mutants: first labels kill {score.killed} of {score.mutants} ({known}), {len(score.smallest)} inputs do; "
        f"{states['equivalent?']} equivalent?, {states['no_mutant'] + states['not_run']} missing; "
        f"{apart} of {len(report.mutation.devices)} differ between builds."
    ]


def _labels(report: Report) -> str:
    known = [pair for pair in report.pairs if pair.top1_disagreement is not None]
    differ = [pair for pair in known if pair.top1_disagreement]
    if not known:
        return "Labels: no pair could be compared."
    if not differ:
        return f"Labels: equal in all {len(known)} pairs."
    worst = max(differ, key=lambda pair: pair.top1_disagreement or 0.0)
    return (
        f"Labels: differ in {len(differ)} of {len(known)} pairs, "
        f"at most on {wording.share(worst.top1_disagreement)} of inputs (axis {worst.axis})."
    )


def _times(report: Report) -> str:
    known = [pair for pair in report.pairs if pair.axis == "optimization" and pair.time_change_pct is not None]
    if not known:
        timed = sum(variant.time_ms is not None for variant in report.variants)
        return f"Times: {timed} variants were timed; there are no optimisation levels to compare."
    slower = sum(finding.kind == "slower_level" for finding in report.findings)
    low, high = (choose(pair.time_change_pct or 0.0 for pair in known) for choose in (min, max))
    return (
        f"Times: optimisation levels change the median by {wording.change(low)} to {wording.change(high)}; "
        f"slower than a lower level: {slower}."
    )


def _faults(report: Report) -> str:
    faults = [finding for finding in report.findings if finding.severity == "fault"]
    if not faults:
        return "Faults: none found."
    first = faults[0].text
    return f"Faults: {len(faults)}; the first: {first if len(first) <= 240 else first[:239] + '…'}"


def _gates(report: Report) -> str:
    if not report.gates:
        return "Gates: the study sets none."
    broken = [gate for gate in report.gates if not gate.ok]
    if not broken:
        return "Gates: the only one holds." if len(report.gates) == 1 else f"Gates: all {len(report.gates)} hold."
    named = ", ".join(
        f"{gate.name} {'?' if gate.value is None else format(gate.value, '.4g')} > {gate.limit:g}" for gate in broken
    )
    return f"Gates: {len(broken)} of {len(report.gates)} broken ({named})."
