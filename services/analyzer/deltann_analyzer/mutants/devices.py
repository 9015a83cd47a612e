"""One mutant in all its builds: where it answers differently, and whether its originals do as well. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from deltann.mutation import OPERATORS
from deltann.report.mutants import FamilyDiscrepancy, MutantAcrossDevices
from deltann_analyzer.measured import Measured
from deltann_analyzer.numbers import number


def across(mutants: Sequence[Measured], originals: Mapping[str, Measured]) -> list[MutantAcrossDevices]:
    """Every mutant that has two builds or more, in the order of the plan."""
    together: dict[tuple[str, str, str], list[Measured]] = defaultdict(list)
    for one in mutants:
        together[one.plan.model, one.plan.instance, one.plan.mutation or ""].append(one)
    return [_one(builds, originals) for builds in together.values() if len(builds) > 1]


def _one(builds: Sequence[Measured], originals: Mapping[str, Measured]) -> MutantAcrossDevices:
    plan = builds[0].plan
    groups: dict[tuple[str, bytes], list[str]] = defaultdict(list)
    for one in builds:
        answers = b"" if one.labels is None or one.valid is None else one.labels[:, 0].tobytes() + one.valid.tobytes()
        groups[str(one.outcome), answers].append(one.plan.id)
    theirs = [originals[one.plan.original] for one in builds if one.plan.original in originals]
    return MutantAcrossDevices(
        model=plan.model,
        mutation=plan.mutation or "",
        operator=plan.operator or "",
        family=OPERATORS[plan.operator or ""].family,
        groups=list(groups.values()),
        differ=number(max(_differences(builds), default=np.nan)),
        usual=number(max(_differences(theirs), default=np.nan)),
    )


def _differences(builds: Sequence[Measured]) -> Iterator[float]:
    """For every two builds with answers, the share of inputs on which the first labels differ."""
    rows = [
        np.where(one.valid, one.labels[:, 0], -1) for one in builds if one.labels is not None and one.valid is not None
    ]
    for a, b in combinations({row.tobytes(): row for row in rows}.values(), 2):
        yield float((a != b).mean())
    if len(rows) > 1:
        yield 0.0


def families(devices: Sequence[MutantAcrossDevices]) -> list[FamilyDiscrepancy]:
    """By family. What the originals differ in already is not counted as the mutant's."""
    found = []
    for family in dict.fromkeys(one.family for one in devices):
        known = [one for one in devices if one.family == family and one.differ is not None]
        shares = [one.differ for one in known if one.differ is not None]
        found.append(
            FamilyDiscrepancy(
                family=family,
                mutants=len(known),
                differing=sum((one.differ or 0) > (one.usual or 0) for one in known),
                mean=number(float(np.mean(shares))) if shares else None,
                max=max(shares, default=None),
            )
        )
    return found
