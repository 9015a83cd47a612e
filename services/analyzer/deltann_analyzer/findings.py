"""What a person should know first, in plain words: derived from the report's own figures. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from deltann.outcome import Outcome
from deltann.report.models import Conversion, Finding, Inputs, Pair, Severity, Variant
from deltann_analyzer import wording

Variants = Mapping[str, Variant]
Names = Mapping[str, str]

_ORDER: dict[Severity, int] = {"fault": 0, "warning": 1, "note": 2}
_STEPS_OF_A_PAIR = ("conversion", "optimization", "engine", "target", "schedule", "precision", "library")
"""Axes on which a person chooses a step; another framework's own native or another device is no slow-down of one."""


def findings(
    variants: Sequence[Variant],
    conversions: Sequence[Conversion],
    pairs: Sequence[Pair],
    inputs: Inputs,
    names: Names,
) -> list[Finding]:
    """All findings, the gravest first. ``names`` are what a person calls the variants, by id."""
    by_id = {variant.id: variant for variant in variants}
    single = [pair for pair in pairs if pair.axis != "multiple"]
    found = [
        *silent_faults(conversions),
        *failures(variants, conversions, names),
        *mismatched_imports(variants),
        *invalid_outputs(variants, names),
        *preprocessing_faults(single, by_id, names),
        *largest_label_difference(single, by_id, names),
        *slower_levels(single, by_id, names),
        *largest_slowdown(single, by_id, names),
        *left_out(inputs),
    ]
    return in_order(found)


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """The gravest first; among equals what is one of many last, and the larger figure first."""
    return sorted(
        found,
        key=lambda finding: (_ORDER[finding.severity], finding.kind == "slower_level", -(finding.value or 0.0)),
    )


def silent_faults(conversions: Iterable[Conversion]) -> list[Finding]:
    """Conversions that ended well and changed what the model answers: the guilty step, and the steps it clears."""
    found = []
    for conversion in conversions:
        if conversion.silent_fault is None:
            continue
        at = conversion.silent_fault
        step = conversion.steps[at]
        cleared = [other.label for other in conversion.steps[:at] if other.verdict == "clear"]
        clear = f" The steps before it are cleared: {', '.join(cleared)}." if cleared else ""
        agree = step.parity.top1_agreement if step.parity is not None else None
        rel = step.parity.max_rel if step.parity is not None else None
        keeps = (
            ""
            if agree is None or step.parity is None
            else f" keeps {wording.share(agree)} of labels on {step.parity.n} seeded inputs"
        )
        far = " gives NaN or Inf" if rel is None else f" moves outputs by up to {wording.distance(rel)} of the largest"
        found.append(
            Finding(
                severity="fault",
                kind="silent_conversion_fault",
                text=f"{conversion.model}: converting {conversion.source} to {conversion.target} reported no "
                f"error, but step "
                f"{at + 1} of {len(conversion.steps)}, {step.label} by {step.tool}"
                + (f" ({step.version})" if step.version else "")
                + f", changed the model: it{keeps}{' and' if keeps else ''}{far}.{clear}",
                value=None if agree is None else 1.0 - agree,
                conversions=[conversion.id],
            )
        )
    return found


def failures(variants: Sequence[Variant], conversions: Sequence[Conversion], names: Names) -> list[Finding]:
    """One finding for each thing that failed, with the variants that it lost."""
    lost: dict[tuple[str, str, Outcome, str], list[Variant]] = defaultdict(list)
    for variant in variants:
        if variant.error is not None and not variant.outcome.usable:
            lost[(variant.model, variant.error.stage, variant.outcome, variant.error.message)].append(variant)
    failed: dict[str, list[Conversion]] = defaultdict(list)
    for conversion in conversions:
        if not conversion.outcome.usable and conversion.outcome is not Outcome.SKIPPED:
            failed[conversion.message or "It left no message."].append(conversion)
    found = []
    for (model, stage, outcome, message), gone in lost.items():
        behind = failed.pop(message, [])
        what = _conversions(behind) if behind else f"the step {stage!r}"
        who = names[gone[0].id] if len(gone) == 1 else f"{len(gone)} variants"
        found.append(_failure(f"{model}: {what} {wording.ended(outcome)}, which loses {who}", message, gone, behind))
    for message, behind in failed.items():
        text = f"{behind[0].model}: {_conversions(behind)} {wording.ended(behind[0].outcome)}"
        found.append(_failure(text, message, [], behind))
    return found


def _conversions(behind: Sequence[Conversion]) -> str:
    named = ", ".join(f"{conversion.source} → {conversion.target}" for conversion in behind[:3])
    more = f" and {len(behind) - 3} more" if len(behind) > 3 else ""
    return f"the {'conversion' if len(behind) == 1 else 'conversions'} {named}{more}"


def _failure(what: str, message: str, gone: list[Variant], conversions: list[Conversion]) -> Finding:
    logs = [log for log in (*(c.log for c in conversions), *(v.error.log for v in gone if v.error)) if log]
    return Finding(
        severity="fault",
        kind="failure",
        text=f"{what}. {message}",
        variants=[variant.id for variant in gone],
        conversions=[conversion.id for conversion in conversions],
        log=logs[0] if logs else None,
    )


def mismatched_imports(variants: Sequence[Variant]) -> list[Finding]:
    """Models that a compiler reads differently than their own engine, before it optimises anything."""
    groups: dict[tuple[str, str], list[Variant]] = defaultdict(list)
    for variant in variants:
        if variant.tainted_by is not None and variant.tainted_by.startswith("import"):
            groups[(variant.model, variant.tainted_by)].append(variant)
    return [
        Finding(
            severity="fault",
            kind="import_mismatch",
            text=f"{model}: the {taint} computes something else than the model's own engine, before any optimisation. "
            f"Everything behind it ({len(group)} variants) is marked as tainted.",
            variants=[variant.id for variant in group],
        )
        for (model, taint), group in groups.items()
    ]


def invalid_outputs(variants: Sequence[Variant], names: Names) -> list[Finding]:
    """Variants that answered NaN or Inf."""
    return [
        Finding(
            severity="fault",
            kind="invalid_output",
            text=f"{names[variant.id]} answers NaN or Inf for {variant.n_invalid} of "
            f"{variant.n + variant.n_invalid} inputs.",
            value=variant.n_invalid / (variant.n + variant.n_invalid),
            variants=[variant.id],
        )
        for variant in variants
        if variant.n_invalid
    ]


def preprocessing_faults(pairs: Iterable[Pair], by_id: Variants, names: Names) -> list[Finding]:
    """The largest label difference that preprocessing alone makes, per model and pair of recipes."""
    worst: dict[tuple[str, str, str], Pair] = {}
    for pair in pairs:
        if pair.axis == "preprocessing" and pair.top1_disagreement:
            a, b = by_id[pair.a], by_id[pair.b]
            key = (f"{a.model}/{a.instance}", a.preprocessing, b.preprocessing)
            if key not in worst or pair.top1_disagreement > (worst[key].top1_disagreement or 0.0):
                worst[key] = pair
    found = []
    for pair in worst.values():
        a, b, share = by_id[pair.a], by_id[pair.b], pair.top1_disagreement or 0.0
        right = ""
        if a.accuracy_top1 is not None and b.accuracy_top1 is not None:
            right = f" Accuracy goes from {wording.share(a.accuracy_top1)} to {wording.share(b.accuracy_top1)}."
        found.append(
            Finding(
                severity="fault" if share >= 0.05 else "warning",
                kind="preprocessing_fault",
                text=f"{names[a.id]}: preparing the inputs with {b.preprocessing} instead of {a.preprocessing} "
                f"changes the label "
                f"of {wording.share(share)} of {pair.n} inputs, with the same model and engine.{right}",
                value=share,
                variants=[pair.a, pair.b],
                inputs=pair.inputs_that_differ[:10],
            )
        )
    return found


def largest_label_difference(pairs: Sequence[Pair], by_id: Variants, names: Names) -> list[Finding]:
    """The pair whose labels differ most, or that none does."""
    known = [pair for pair in pairs if pair.top1_disagreement is not None]
    if not known:
        return []
    worst = max(known, key=lambda pair: pair.top1_disagreement or 0.0)
    share = worst.top1_disagreement or 0.0
    if not share:
        text = f"No label changed in any of the {len(known)} pairs that were compared."
        return [Finding(severity="note", kind="largest_label_difference", text=text, value=0.0)]
    a, b = by_id[worst.a], by_id[worst.b]
    return [
        Finding(
            severity="warning",
            kind="largest_label_difference",
            text=f"The largest label difference is along the axis {worst.axis}: {names[b.id]} gives another label "
            f"than {names[a.id]} "
            f"for {worst.n_differ} of {worst.n} inputs ({wording.share(share)})."
            + (" It lies behind a fault: " + worst.tainted_by + "." if worst.tainted_by else ""),
            value=share,
            variants=[worst.a, worst.b],
            inputs=worst.inputs_that_differ[:10],
        )
    ]


def slower_levels(pairs: Iterable[Pair], by_id: Variants, names: Names) -> list[Finding]:
    """Every higher optimisation level that is slower than a lower one beyond its interval."""
    found = []
    for pair in pairs:
        if pair.axis != "optimization":
            continue
        a, b = by_id[pair.a], by_id[pair.b]
        change, interval = pair.time_change_pct, pair.time_ci95_pct
        if a.opt_level is None or b.opt_level is None or change is None or interval is None:
            continue
        low, high = (a, b) if a.opt_level < b.opt_level else (b, a)
        if not (interval[0] > 0 if low is a else interval[1] < 0):
            continue
        slower = change if low is a else (100 / (1 + change / 100) - 100 if change > -100 else None)
        interval_text = f" (95 % interval {interval[0]:+.1f} to {interval[1]:+.1f} %)" if low is a else ""
        found.append(
            Finding(
                severity="warning",
                kind="slower_level",
                text=f"{names[high.id]} is slower than at level {low.opt_level}, by {slower or 0.0:.1f} % of its median"
                f"{interval_text}, although the level is higher.",
                value=slower,
                variants=[low.id, high.id],
            )
        )
    return found


def largest_slowdown(pairs: Sequence[Pair], by_id: Variants, names: Names) -> list[Finding]:
    """The step that costs most time, beyond its interval."""
    slow = [
        pair
        for pair in pairs
        if pair.axis in _STEPS_OF_A_PAIR and pair.time_ci95_pct is not None and pair.time_ci95_pct[0] > 0
    ]
    if not slow:
        return []
    worst = max(slow, key=lambda pair: pair.time_change_pct or 0.0)
    a, b = by_id[worst.a], by_id[worst.b]
    before = f"{a.time_ms.median:.2f}" if a.time_ms and a.time_ms.median is not None else "?"
    after = f"{b.time_ms.median:.2f}" if b.time_ms and b.time_ms.median is not None else "?"
    return [
        Finding(
            severity="warning",
            kind="largest_slowdown",
            text=f"The largest slow-down is along the axis {worst.axis}: {names[b.id]} takes {after} ms, "
            f"{names[a.id]} {before} ms "
            f"({worst.time_change_pct:+.0f} %).",
            value=(worst.time_change_pct or 0.0) / 100,
            variants=[worst.a, worst.b],
        )
    ]


def left_out(inputs: Inputs) -> list[Finding]:
    """Inputs that could not be used."""
    if not inputs.left_out:
        return []
    named = "; ".join(f"{out.id}: {out.why}" for out in inputs.left_out[:3])
    more = f" and {len(inputs.left_out) - 3} more" if len(inputs.left_out) > 3 else ""
    return [
        Finding(
            severity="warning",
            kind="inputs_left_out",
            text=f"Left out: {wording.count(len(inputs.left_out), 'input')} ({named}{more}). {inputs.n} were used.",
            inputs=[out.id for out in inputs.left_out[:100]],
        )
    ]
