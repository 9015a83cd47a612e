"""How numbers are written for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from deltann.outcome import Outcome
from deltann.report.models import Inputs

NONE = "–"


def share(value: float | None) -> str:
    """A share as percent, never rounded to nothing: ``< 0.1 %``."""
    if value is None:
        return NONE
    if value == 0 or value == 1:
        return f"{value:.0%}".replace("%", " %")
    return "< 0.1 %" if value < 0.001 else "> 99.9 %" if value > 0.999 else f"{value * 100:.1f} %"


def change(value: float | None) -> str:
    """A change in percent, with its sign."""
    if value is None:
        return NONE
    return f"{value:+.0f} %" if abs(value) >= 10 else f"{value:+z.1f} %"


def milliseconds(value: float | None) -> str:
    """Three figures of a duration in milliseconds."""
    if value is None:
        return NONE
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def seconds(value: float | None) -> str:
    """A duration a person can grasp."""
    if value is None:
        return NONE
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def size(value: int | None) -> str:
    """Bytes in the unit that fits."""
    if value is None:
        return NONE
    scaled = float(value)
    for unit in ("B", "kB", "MB"):
        if scaled < 1000:
            return f"{scaled:.0f} {unit}" if unit == "B" or scaled >= 100 else f"{scaled:.1f} {unit}"
        scaled /= 1000
    return f"{scaled:.1f} GB"


def distance(value: float) -> str:
    """A relative difference: as percent where a person can picture it."""
    return share(value) if 0.001 <= value < 1 else f"{value:.1e}" if value < 0.001 else f"{value:.3g} times"


def small(value: float | None) -> str:
    """A difference: 0, or two figures."""
    return NONE if value is None else "0" if value == 0 else f"{value:.1e}"


def moment(value: float | None) -> str:
    """Seconds since the epoch as date and time in UTC."""
    return NONE if value is None else datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M UTC")


def count(number: int, noun: str) -> str:
    """``1 fault``, ``2 faults``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def given(inputs: Inputs) -> str:
    """How many inputs there were: ``40 inputs``, ``40 inputs (lstm: 60)``."""
    own = ", ".join(f"{model}: {n}" for model, n in inputs.own.items())
    return f"{inputs.n} inputs" + (f" ({own})" if own else "")


def ended(outcome: Outcome) -> str:
    """How something ended, as the verb of a sentence."""
    verbs = {
        Outcome.TIMED_OUT: "ran out of time",
        Outcome.CRASHED: "crashed",
        Outcome.SKIPPED: "was not run",
        Outcome.UNSUPPORTED: "is not supported by its engine",
    }
    return verbs.get(outcome, "failed")


def cell(value: Any) -> str:
    """A cell of a table of any kind."""
    if value is None:
        return NONE
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def words(value: Any) -> str:
    """An identifier as words: ``silent_conversion_fault`` → ``silent conversion fault``."""
    return str(value).replace("_", " ")


FILTERS = {f.__name__: f for f in (share, change, milliseconds, seconds, size, small, moment, given, cell, words)}
