"""What the page says before anything else: the verdict, the figures looked for first, and the leading findings."""

from __future__ import annotations

from collections import Counter
from typing import Any

from deltann.report.models import Finding, Report
from deltann_analyzer import wording

LEADING = 10
_OF_A_KIND = 2


def verdict(report: Report) -> dict[str, str]:
    """The one sentence at the top, and how grave it is."""
    faults = sum(finding.severity == "fault" for finding in report.findings)
    broken = [gate for gate in report.gates if not gate.ok]
    if broken:
        named = "; ".join(
            f"{wording.words(gate.name)} {wording.cell(gate.value)}, limit {gate.limit:g}" for gate in broken
        )
        gates = f"{'A gate is' if len(broken) == 1 else f'{len(broken)} gates are'} broken ({named})"
        found = f", and {wording.count(faults, 'fault')} found" if faults else ""
        return {"level": "fault", "text": f"{gates}{found}."}
    if report.gates:
        held = "The gate holds" if len(report.gates) == 1 else f"All {len(report.gates)} gates hold"
    else:
        held = "The study sets no gates"
    if faults:
        return {"level": "fault", "text": f"{held}, but {wording.count(faults, 'fault')} found."}
    warnings = sum(finding.severity == "warning" for finding in report.findings)
    if warnings:
        return {"level": "warning", "text": f"{held}. No fault was found; {wording.count(warnings, 'warning')}."}
    return {"level": "good", "text": f"{held}. No fault was found."}


def tiles(report: Report) -> list[dict[str, Any]]:
    """The figures that are looked for first, each with the section that explains it."""
    ok = sum(variant.outcome == "ok" for variant in report.variants)
    converted = sum(conversion.outcome == "ok" and conversion.silent_fault is None for conversion in report.conversions)
    known = [pair for pair in report.pairs if pair.top1_disagreement is not None]
    differ = [pair for pair in known if pair.top1_disagreement]
    levels = [pair.time_change_pct for pair in report.pairs if pair.axis == "optimization"]
    changes = [change for change in levels if change is not None]
    return [
        _tile(
            f"{ok} / {len(report.variants)}", "variants ran without fault", "labels-times", ok < len(report.variants)
        ),
        _tile(
            f"{converted} / {len(report.conversions)}",
            "conversions kept the model",
            "conversions" if report.conversions else "findings",
            converted < len(report.conversions),
        ),
        _tile(f"{len(differ)} / {len(known)}", "pairs with a changed label", "agreement", bool(differ)),
        _tile(
            wording.share(max((pair.top1_disagreement or 0.0 for pair in known), default=None)),
            "of labels changed in the worst pair",
            "changed",
            bool(differ),
        ),
        _tile(
            wording.change(max(changes, default=None)),
            "worst change of time by an optimisation level",
            "labels-times",
            max(changes, default=0.0) > 0,
        ),
    ]


def leading(findings: list[Finding]) -> tuple[list[Finding], list[Finding]]:
    """The findings to begin with and the rest, both in order: a kind that comes often must not hide the others."""
    seen: Counter[str] = Counter()
    first: list[Finding] = []
    for finding in findings:
        seen[finding.kind] += 1
        if seen[finding.kind] <= _OF_A_KIND and len(first) < LEADING:
            first.append(finding)
    return first, [finding for finding in findings if not any(finding is one for one in first)]


def _tile(value: str, label: str, section: str, bad: bool) -> dict[str, Any]:
    return {"value": value, "label": label, "section": section, "bad": bad}
