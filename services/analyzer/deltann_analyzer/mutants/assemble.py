"""The report's part on mutants, from what was measured of them and their originals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deltann.mutation import OPERATORS
from deltann.outcome import Outcome
from deltann.report.mutants import (
    CRITERIA,
    Criterion,
    KillCell,
    Mutant,
    MutationReport,
    MutationScore,
    State,
)
from deltann.spec.models import Compare
from deltann_analyzer.measured import Measured
from deltann_analyzer.mutants.cover import smallest
from deltann_analyzer.mutants.devices import across, families
from deltann_analyzer.mutants.kills import LIMITS, Kills, kills, stuck
from deltann_analyzer.variants import accuracy

_MADE_NOT = (Outcome.MUTATE_FAILED, Outcome.CONVERT_FAILED, Outcome.SKIPPED)


@dataclass(frozen=True)
class _Judged:
    """A mutant's row, and for each criterion the inputs that kill it; None where it does not run at all."""

    row: Mutant
    kills: Kills | None

    def dead(self, criterion: Criterion) -> bool:
        """Whether anything kills it."""
        return self.kills is None or bool(self.kills[criterion].any())

    @property
    def counted(self) -> bool:
        """Whether it is a mutant that might be killed."""
        return self.row.state in ("killed", "survived")


def mutation_report(
    measured: Sequence[Measured], settings: Compare, truth: Sequence[int | None], ids: Sequence[str]
) -> MutationReport | None:
    """All of it; None for a sweep without mutants.

    Args:
        measured: every variant of the sweep.
        settings: how answers are compared.
        truth: labels of the inputs, where known.
        ids: of the inputs.
    """
    originals = {one.plan.id: one for one in measured if one.plan.mutation is None}
    mutants = [one for one in measured if one.plan.mutation is not None]
    if not mutants:
        return None
    judged = [_judge(one, originals[one.plan.original or ""], settings, truth) for one in mutants]
    devices = across([one for one in mutants if one.outcome not in _MADE_NOT], originals)
    return MutationReport(
        limits=LIMITS,
        mutants=[one.row for one in judged],
        matrix=_matrix(judged),
        scores=[_score(judged, criterion, ids) for criterion in CRITERIA],
        devices=devices,
        families=families(devices),
    )


def _judge(mutant: Measured, original: Measured, settings: Compare, truth: Sequence[int | None]) -> _Judged:
    plan = mutant.plan
    answered = mutant.labels is not None and original.labels is not None
    found = kills(original, mutant, settings) if answered else None
    state = _state(mutant, original, found)
    before, after = accuracy(original, truth)[0], accuracy(mutant, truth)[0]
    facts = OPERATORS[plan.operator or ""]
    row = Mutant(
        id=plan.id,
        original=original.plan.id,
        model=plan.model,
        mutation=plan.mutation or "",
        operator=plan.operator or "",
        level=facts.level,
        family=facts.family,
        engine=plan.engine,
        target=plan.target,
        opt_level=plan.opt_level,
        pool=plan.pool,
        outcome=mutant.outcome,
        state=state,
        reason=mutant.failure.message if mutant.failure is not None else None,
        equivalent_because=(mutant.equivalence.because or None) if mutant.equivalence is not None else None,
        stuck=stuck(original, mutant),
        n=0 if mutant.valid is None else len(mutant.valid),
        killed={} if found is None else {criterion: int(found[criterion].sum()) for criterion in CRITERIA},
        accuracy_change=None if before is None or after is None else after - before,
    )
    return _Judged(row, found)


def _state(mutant: Measured, original: Measured, found: Kills | None) -> State:
    if mutant.outcome is Outcome.MUTATE_FAILED:
        return "no_mutant"
    if original.labels is None or mutant.outcome in _MADE_NOT:
        return "not_run"
    if found is None:
        return "killed"
    if any(mask.any() for mask in found.values()):
        return "killed" if found[CRITERIA[0]].any() else "survived"
    label = mutant.equivalence.label if mutant.equivalence is not None else ""
    return "equivalent?" if label == "equivalent?" else "survived"


def _matrix(judged: Sequence[_Judged]) -> list[KillCell]:
    cells: dict[tuple[str, str, str | None, int | None, str], list[_Judged]] = defaultdict(list)
    for one in judged:
        row = one.row
        cells[row.operator, row.engine, row.target, row.opt_level, row.pool].append(one)
    return [
        KillCell(
            operator=operator,
            engine=engine,
            target=target,
            opt_level=level,
            pool=pool,
            mutants=sum(one.counted for one in some),
            equivalent=sum(one.row.state == "equivalent?" for one in some),
            missing=sum(one.row.state in ("no_mutant", "not_run") for one in some),
            killed={criterion: sum(one.counted and one.dead(criterion) for one in some) for criterion in CRITERIA},
        )
        for (operator, engine, target, level, pool), some in cells.items()
    ]


def _score(judged: Sequence[_Judged], criterion: Criterion, ids: Sequence[str]) -> MutationScore:
    counted = [one for one in judged if one.counted]
    dead = [one for one in counted if one.dead(criterion)]
    by_input: list[npt.NDArray[np.bool_]] = [one.kills[criterion] for one in dead if one.kills is not None]
    chosen, exact = smallest(np.array(by_input)) if by_input else ([], True)
    if dead and not chosen:
        chosen = [0]  # what does not run at all, any input shows
    return MutationScore(
        criterion=criterion,
        mutants=len(counted),
        killed=len(dead),
        score=len(dead) / len(counted) if counted else None,
        smallest=[ids[position] for position in chosen],
        exact=exact,
    )
