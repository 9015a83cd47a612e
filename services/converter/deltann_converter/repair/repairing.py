"""The loop of a repair: suspects, their edits one by one, each kept only if it helps over all inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltann.faults.edits import Edit, brief
from deltann.faults.suspect import Suspect
from deltann.kinds.repair import RepairStep
from deltann_converter.repair.agreement import SOUND, Judge, Judged, save
from deltann_converter.repair.patch import PatchError, apply_edits

_INPUTS = 3
"""How many of the worst inputs are looked at before giving up."""


@dataclass
class Repair:
    """What has been done so far."""

    model: Any
    before: Judged
    after: Judged
    edits: list[Edit] = field(default_factory=list)
    steps: list[RepairStep] = field(default_factory=list)
    stopped: str = ""


def repair(
    model: Any,
    judge: Judge,
    before: Judged,
    suspects: Callable[[Any, int], list[Suspect]],
    workdir: Path,
    seconds: float,
) -> Repair:
    """Repair a copy of an ``onnx.ModelProto``.

    Args:
        model: the target.
        judge: holds it against the source.
        before: what that says of it as it is.
        suspects: localises in a model on the input at a position.
        workdir: for the copies that are tried.
        seconds: after which no further edit is tried.
    """
    end = time.monotonic() + seconds
    done = Repair(model, before, before)
    while not done.stopped:
        if not done.after.differing and done.after.error <= SOUND:
            done.stopped = "nothing disagrees"
        elif time.monotonic() > end:
            done.stopped = "the time is spent"
        elif not _round(done, judge, suspects, workdir, end):
            done.stopped = "nothing that was found helps" if time.monotonic() <= end else "the time is spent"
    return done


def _round(
    done: Repair, judge: Judge, suspects: Callable[[Any, int], list[Suspect]], workdir: Path, end: float
) -> bool:
    """Localise on the worst inputs until something helps; whether anything did."""
    tried: list[tuple[Edit, ...]] = []
    for position in done.after.worst[:_INPUTS]:
        found = [one for one in suspects(done.model, position) if one.edits and one.edits not in tried]
        helped = [_try(done, judge, [one], workdir) for one in found if time.monotonic() <= end]
        tried += [one.edits for one in found]
        if any(helped) or (len(found) > 1 and _try(done, judge, found, workdir)):
            return True
    return False


def _try(done: Repair, judge: Judge, found: Sequence[Suspect], workdir: Path) -> bool:
    """Do the edits of suspects together, and keep them if that is better and still a model."""
    import onnx

    edits = [edit for one in found for edit in one.edits]
    try:
        made = apply_edits(done.model, edits)
        onnx.checker.check_model(made)
        judged = judge.of(save(made, workdir / "tried.onnx"))
    except (PatchError, onnx.checker.ValidationError):
        return False
    kept = judged.better(done.after)
    done.steps.append(
        RepairStep(
            node=", ".join(one.node for one in found),
            kind=", ".join(one.kind for one in found),
            edits=tuple(map(brief, edits)),
            kept=kept,
            agreement=judged.told(),
        )
    )
    if kept:
        done.model, done.after = made, judged
        done.edits += edits
    return kept
