"""What each pass did to a model, as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.kinds.compile import ExplainData, ExplainedPass

_TITLES = ("pass", "joins", "did", "operators", "kernels")


def explained(data: ExplainData) -> Iterator[str]:
    """The lines of the table: passes in the order in which they run, and the state after each."""
    rows = [_TITLES, *(_cells(one) for one in data.passes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_TITLES))]
    for row, what in zip(rows, ("", *(one.what for one in data.passes)), strict=True):
        words = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False)]
        numbers = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
        yield "  ".join([*words, *numbers, what]).rstrip()
    idle = [one.name for one in data.passes if one.changed is False]
    yield f"Level {data.level}: {sum(one.ran for one in data.passes)} of {len(data.passes)} passes run. " + (
        f"{len(idle)} of them changed nothing in this model: {', '.join(idle)}." if idle else "Each changed something."
    )


def _cells(one: ExplainedPass) -> tuple[str, ...]:
    did = {None: "runs in LLVM", True: "changed it", False: "nothing"}[one.changed] if one.ran else "left out"
    counts = ("" if number is None else str(number) for number in (one.operators, one.kernels))
    return (one.name, one.joins, did, *counts)
