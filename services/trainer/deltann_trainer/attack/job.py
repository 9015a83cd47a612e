"""Kind ``attack``: from a model and the inputs that it classifies rightly to an adversarial set."""

from __future__ import annotations

import json
from collections.abc import Collection

import numpy as np

from deltann.errors import JobFailure, first_line
from deltann.kinds.attack import AttackData, AttackParams, Genetic
from deltann.kinds.resolve import DataManifest
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_trainer.attack import Attacking, made
from deltann_trainer.attack.attacking import Array, BudgetSpentError, Clock
from deltann_trainer.attack.chosen import Chosen, choose
from deltann_trainer.attack.subject import Range, Subject, array_range, photo_range
from deltann_trainer.attack.words import lengths


def attack(params: AttackParams, context: JobContext) -> Produced:
    """Attack a model until all inputs are done or the budget is spent; what was done by then is kept.

    Raises:
        JobFailure: ``run_failed`` where nothing can be attacked, or nothing was before the budget was spent.
    """
    clock = Clock(params.attack.budget_seconds)
    manifest = DataManifest.model_validate(json.loads(context.fetch("manifest").read_bytes()))
    chosen = choose(params, manifest, context)
    if not len(chosen.rows):
        raise _failure(
            f"none of the {manifest.n} inputs can be attacked: the model classifies none of them rightly"
            + (" that has 10 to 100 words" if isinstance(params.attack, Genetic) else "")
            + ". Train it longer, or give other data"
        )
    values = _values(params, manifest, chosen)
    subject = Subject(context.fetch("model"), params.info, values)
    extra = {"known": _known(chosen, context)} if isinstance(params.attack, Genetic) else {}
    method = made(params.attack.kind)(params.attack, subject, **extra)
    clean = chosen.x if values is None else np.clip(values.share(chosen.x), 0, 1)
    moved, possible = _attacked(method, clean, chosen, params.attack.seed, clock)
    if not len(moved):
        raise _failure(
            f"the budget of {params.attack.budget_seconds:g} seconds was spent before a single input was attacked to "
            "an end. Raise budget_seconds, or ask for fewer steps or generations"
        )
    if not possible.any():
        raise _failure(f"none of the {len(moved)} inputs tried could be attacked by {params.attack.kind}")
    rows = np.flatnonzero(possible)
    answers = np.concatenate([subject.outputs(moved[one : one + 1]) for one in rows])
    apart = _distances(clean[rows], moved[rows], words=values is None)
    path = context.workdir / "adversarial.npz"
    x = moved[rows] if values is None else values.value(moved[rows])
    np.savez(path, x=x, y=chosen.y[rows], rows=chosen.rows[rows])
    data = AttackData(
        right=chosen.right,
        asked=len(chosen.rows),
        n=len(rows),
        unfinished=len(chosen.rows) - len(moved),
        impossible=int((~possible).sum()),
        fooled=int((answers.argmax(axis=1) != chosen.y[rows]).sum()),
        seconds=clock.seconds,
        **apart,
    )
    return Produced(artifacts={"shard": context.put(path)}, data=data)


def _attacked(method: Attacking, clean: Array, chosen: Chosen, seed: int, clock: Clock) -> tuple[Array, np.ndarray]:
    """Inputs after the attack and whether it was possible: of the first so many that were done in time."""
    moved, possible = [clean[:0]], [np.zeros(0, np.bool_)]
    for start in range(0, len(clean), method.batch):
        rows = slice(start, start + method.batch)
        seeds = [[seed, int(row)] for row in chosen.rows[rows]]
        try:
            one = method.attack(clean[rows], chosen.y[rows], seeds, clock)
        except BudgetSpentError:
            break
        except JobFailure:
            raise
        except Exception as error:
            raise _failure(f"it failed on input {chosen.rows[start]}: {first_line(error)}") from error
        moved.append(one.x)
        possible.append(one.possible)
        print(f"{min(start + method.batch, len(clean))} of {len(clean)} attacked", flush=True)
    return np.concatenate(moved), np.concatenate(possible)


def _values(params: AttackParams, manifest: DataManifest, chosen: Chosen) -> Range | None:
    """The range of the inputs' values; None for words."""
    if isinstance(params.attack, Genetic):
        return None
    if manifest.kind == "images":
        return photo_range(params.recipe)
    low, high = params.attack.bounds
    least, most = float(chosen.x.min()), float(chosen.x.max())
    if least < low or most > high:
        raise _failure(
            f"the inputs have values from {least:g} to {most:g}, beyond the attack's bounds {low:g} to {high:g}. Write "
            "bounds that hold them"
        )
    return array_range(low, high)


def _known(chosen: Chosen, context: JobContext) -> Collection[int]:
    """The tokens that are words: those of the vocabulary, or where there is none those that occur in the data."""
    if "vocabulary" in context.job.sources:
        return range(len(json.loads(context.fetch("vocabulary").read_bytes())))
    return chosen.words


def _distances(clean: Array, moved: Array, *, words: bool) -> dict[str, float]:
    if words:
        return {"changed": float(((clean != moved).sum(axis=1) / lengths(clean)).mean())}
    apart = np.abs(moved - clean).reshape(len(clean), -1)
    return {"linf": float(apart.max(axis=1).mean()), "l2": float(np.linalg.norm(apart, axis=1).mean())}


def _failure(message: str) -> JobFailure:
    return JobFailure(Outcome.RUN_FAILED, "attack", message)
