"""What a sweep's status says in numbers and short lines."""

from __future__ import annotations

from deltann.sweep import KindCounts, SweepStatus

STAGES = {
    "resolve_model": "resolve models",
    "resolve_data": "resolve data",
    "convert": "convert",
    "quantize": "quantise",
    "mutate": "mutate",
    "import": "import into compiler",
    "compile": "compile",
    "build": "build by other compilers",
    "execute": "run",
    "bisect": "find what differs",
    "time": "time",
    "analyze": "analyse",
}
"""Job kinds in the order in which they come, and what a person calls them. Others follow under their own names."""


def stages(status: SweepStatus) -> list[tuple[str, KindCounts]]:
    """The stages that have jobs, in order."""
    known = [(name, status.counts[kind]) for kind, name in STAGES.items() if kind in status.counts]
    return known + [(kind, counts) for kind, counts in status.counts.items() if kind not in STAGES]


def total(counts: KindCounts) -> int:
    """All jobs of a kind."""
    return counts.waiting + counts.queued + counts.running + counts.done


def failures_in(counts: KindCounts) -> int:
    """How many failed or were skipped because of one that did."""
    return sum(number for outcome, number in counts.outcomes.items() if outcome != "ok")


def failed(status: SweepStatus) -> int:
    """Jobs that did not end well, those that were skipped for it left out."""
    return sum(failures_in(counts) - counts.outcomes.get("skipped", 0) for counts in status.counts.values())


def new_failures(status: SweepStatus, known: int) -> list[str]:
    """The latest failures beyond the first ``known``, each in one line. Old ones may have been dropped already."""
    fresh = min(len(status.failures), max(0, failed(status) - max(0, known)))
    latest = status.failures[len(status.failures) - fresh :]
    return [f"{failure.label}: {failure.outcome}: {' '.join(failure.message.split())[:200]}" for failure in latest]


def done(status: SweepStatus) -> int:
    """Jobs that have ended."""
    return sum(counts.done for counts in status.counts.values())


def clock(seconds: float) -> str:
    """Seconds as m:ss or h:mm:ss."""
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"
