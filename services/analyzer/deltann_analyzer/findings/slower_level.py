"""Optimisation levels that are slower than a lower one."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.engines import level_words
from deltann.report.models import Finding
from deltann_analyzer.findings.evidence import Evidence


def find(evidence: Evidence) -> Iterator[Finding]:
    """Every higher level that is slower beyond its interval."""
    for pair in evidence.along("optimization"):
        a, b = evidence.variant[pair.a], evidence.variant[pair.b]
        change, interval = pair.time_change_pct, pair.time_ci95_pct
        if a.opt_level is None or b.opt_level is None or change is None or interval is None:
            continue
        low, high = (a, b) if a.opt_level < b.opt_level else (b, a)
        if not (interval[0] > 0 if low is a else interval[1] < 0):
            continue
        slower = change if low is a else (100 / (1 + change / 100) - 100 if change > -100 else None)
        interval_text = f" (95 % interval {interval[0]:+.1f} to {interval[1]:+.1f} %)" if low is a else ""
        yield Finding(
            severity="warning",
            kind="slower_level",
            text=f"{evidence.names[high.id]} is slower than at {level_words(low.engine, low.opt_level)}, by "
            f"{slower or 0.0:.1f} % of its median{interval_text}, although the level is higher.",
            value=slower,
            variants=[low.id, high.id],
        )
