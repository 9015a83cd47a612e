"""What a build does, pass by pass, and what sets one build apart from another, change by change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deltann.kinds.compile import CompileParams
from deltann_compiler import levels
from deltann_compiler.levels import Pass
from deltann_compiler.loops import loops_of

_NOT_NEEDED = ("RestoreOps",)
"""What always runs, and can be left out all the same."""


@dataclass(frozen=True)
class Pipeline:
    """The passes of a build, as rows of :data:`deltann_compiler.levels.TABLE`, and what gives its kernels their loops.

    Args:
        rows: in order.
        schedule: ``standard`` or ``naive``.
    """

    rows: tuple[int, ...]
    schedule: str

    @property
    def passes(self) -> tuple[Pass, ...]:
        """What runs."""
        return tuple(levels.TABLE[row] for row in self.rows)


@dataclass(frozen=True)
class Change:
    """What can be done alone to a pipeline: passes that go and that come, or other loops.

    Args:
        name: of the pass that comes, or else of the one that goes.
        joins: with what it comes.
        less: rows that go.
        more: rows that come.
        schedule: that comes.
    """

    name: str
    joins: str
    less: frozenset[int] = frozenset()
    more: frozenset[int] = frozenset()
    schedule: str | None = None

    @property
    def avoidable(self) -> bool:
        """Whether ``--disable`` undoes it: it is a pass of a level, and it comes."""
        return bool(self.more) and all(levels.TABLE[row].level is not None for row in self.more)


def pipeline(wanted: CompileParams, kind: str) -> Pipeline:
    """The pipeline of a compile job on a kind of target."""
    chosen = {id(one) for one in levels.passes_of(wanted, kind)}
    return Pipeline(tuple(row for row, one in enumerate(levels.TABLE) if id(one) in chosen), wanted.schedule)


def bare(kind: str) -> Pipeline:
    """No optimisation: operators become kernels one by one, in the layout of the source, with plain loops."""
    plain = pipeline(CompileParams(level=0, schedule="naive"), kind)
    always = (row for row in plain.rows if levels.TABLE[row].level is None)
    return Pipeline(tuple(row for row in always if levels.TABLE[row].name not in _NOT_NEEDED), plain.schedule)


def changes(a: Pipeline, b: Pipeline, kind: str) -> tuple[Change, ...]:
    """What makes b of a, in the order in which it runs. A pass that is made in another way is one change."""
    less, more = set(a.rows) - set(b.rows), set(b.rows) - set(a.rows)
    names = dict.fromkeys(levels.TABLE[row].name for row in sorted(less | more))
    found = []
    for name in names:
        goes, comes = (frozenset(row for row in rows if levels.TABLE[row].name == name) for rows in (less, more))
        found.append(Change(name, levels.TABLE[min(comes or goes)].joins, goes, comes))
    if a.schedule != b.schedule:
        found.append(Change(loops_of(b.schedule, kind).name, b.schedule, schedule=b.schedule))
    return tuple(found)


def changed(a: Pipeline, some: Iterable[Change]) -> Pipeline:
    """The pipeline that some changes make of a."""
    rows, schedule = set(a.rows), a.schedule
    for one in some:
        rows = (rows - one.less) | one.more
        schedule = one.schedule or schedule
    return Pipeline(tuple(sorted(rows)), schedule)
