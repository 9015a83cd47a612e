"""Every pair's figures: labels for all pairs at once, outputs and times pair by pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from deltann.report.models import MAX_LISTED, MeanMax, OutputErrors, Pair, Times
from deltann.spec.models import Compare
from deltann_analyzer.lineage import same_graph, same_weights
from deltann_analyzer.measured import Measured
from deltann_analyzer.metrics.labels import LabelMetrics, compare_labels, differing
from deltann_analyzer.metrics.outputs import common_space, output_errors
from deltann_analyzer.metrics.timing import compare_times, summarise
from deltann_analyzer.numbers import number
from deltann_analyzer.pairs import PairIndex


def times_of(measured: Measured) -> Times | None:
    """What the repeats of a variant sum up to, in milliseconds; None where it was not timed."""
    if measured.ns is None or measured.first_ns is None:
        return None
    found = summarise(measured.ns, measured.first_ns)
    return Times(
        median=number(found.median),
        mean=number(found.mean),
        std=number(found.std),
        p95=number(found.p95),
        p99=number(found.p99),
        first=number(found.first),
        nth=number(found.nth),
        drift_pct=number(found.drift_pct),
        n=found.n,
        batch=measured.timed.batch if measured.timed is not None else 1,
    )


def compare_pairs(
    measured: Sequence[Measured],
    pairs: Sequence[PairIndex],
    settings: Compare,
    ids_of: Callable[[str], Sequence[str]],
) -> list[Pair]:
    """All pairs in order, each of one model. A pair with a side that has no labels, or no times, has nulls for them.

    Whole outputs are compared only along one axis: for all pairs of many variants that would take hours and says
    nothing about a step.

    Args:
        measured: every variant.
        pairs: of their positions.
        settings: how they are compared.
        ids_of: the inputs that a model is given.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for at, pair in enumerate(pairs):
        places[measured[pair.a].plan.model].append(at)
    compared: dict[int, Pair] = {}
    for model, mine in places.items():
        found = _of_model(model, measured, [pairs[at] for at in mine], settings, ids_of(model))
        compared |= zip(mine, found, strict=True)
    return [compared[at] for at in range(len(pairs))]


def _of_model(
    model: str, measured: Sequence[Measured], pairs: Sequence[PairIndex], settings: Compare, ids: Sequence[str]
) -> list[Pair]:
    labels, valid, place = _stack(model, measured)
    whole = [at for at, pair in enumerate(pairs) if pair.a in place and pair.b in place]
    figures, row_of = None, {}
    if whole:
        index = np.array([(place[pairs[at].a], place[pairs[at].b]) for at in whole], np.int64)
        figures = compare_labels(labels, valid, index, rbo_p=settings.rbo_p, rbo_depth=settings.rbo_depth)
        row_of = {at: row for row, at in enumerate(whole)}
    compared = []
    for at, pair in enumerate(pairs):
        a, b = measured[pair.a], measured[pair.b]
        fields = _facts(a, b, pair)
        if figures is not None and at in row_of:
            fields |= _label_figures(figures, row_of[at])
            rows = differing(labels, valid, place[pair.a], place[pair.b])
            fields["inputs_that_differ"] = [ids[row] for row in rows[:MAX_LISTED]]
        if pair.axis != "multiple":
            fields["errors"] = _errors(a, b)
        fields |= _time_figures(a, b, settings.bootstrap_seed)
        compared.append(Pair.model_validate(fields))
    return compared


def _stack(
    model: str, measured: Sequence[Measured]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_], dict[int, int]]:
    """Labels [V, N, k] and validity [V, N] of all of a model that have them, and where each variant is in them.

    k is the least that any of them kept: a model with fewer classes than asked for keeps fewer.
    """
    known = [(at, one.labels, one.valid) for at, one in enumerate(measured) if one.plan.model == model]
    found = [(at, labels, valid) for at, labels, valid in known if labels is not None and valid is not None]
    if not found:
        return np.empty((0, 0, 0), np.int32), np.empty((0, 0), np.bool_), {}
    k = min(labels.shape[1] for _, labels, _ in found)
    stacked = np.stack([labels[:, :k] for _, labels, _ in found])
    return stacked, np.stack([valid for _, _, valid in found]), {at: row for row, (at, _, _) in enumerate(found)}


def _facts(a: Measured, b: Measured, pair: PairIndex) -> dict[str, object]:
    taints = [taint for taint in (b.tainted_by, a.tainted_by) if taint is not None]
    return {
        "a": a.plan.id,
        "b": b.plan.id,
        "axis": pair.axis,
        "same_weights": same_weights(a, b),
        "same_graph": same_graph(a, b),
        "tainted_by": taints[0] if taints else None,
        "n": 0,
        "n_invalid_a": 0 if a.valid is None else int((~a.valid).sum()),
        "n_invalid_b": 0 if b.valid is None else int((~b.valid).sum()),
    }


def _label_figures(figures: LabelMetrics, row: int) -> dict[str, object]:
    return {
        "n": int(figures.n[row]),
        "n_invalid_a": int(figures.n_invalid_a[row]),
        "n_invalid_b": int(figures.n_invalid_b[row]),
        "n_differ": int(figures.n_differ[row]),
        "top1_disagreement": number(figures.top1_disagreement[row]),
        "topk_jaccard": number(figures.topk_jaccard[row]),
        "rbo": number(figures.rbo[row]),
        "kendall_tau": number(figures.kendall_tau[row]),
    }


def _errors(a: Measured, b: Measured) -> dict[str, OutputErrors]:
    """The errors of the first output, where both sides kept it with the same classes.

    Logits are compared with logits; where one side gives probabilities, both are compared as such.
    """
    if a.outputs is None or b.outputs is None or a.valid is None or b.valid is None:
        return {}
    if a.executed is None or b.executed is None or a.outputs.shape != b.outputs.shape:
        return {}
    spaces = (a.executed.space, b.executed.space)
    space = common_space(*spaces)
    found = None if space is None else output_errors(a.outputs, b.outputs, a.valid & b.valid, spaces=spaces)
    if found is None or space is None:
        return {}
    name = a.info.output.name if a.info is not None else "output"
    return {
        name: OutputErrors(
            space=space,
            abs=MeanMax(mean=number(found.abs_mean), max=number(found.abs_max)),
            rel=MeanMax(mean=number(found.rel_mean), max=number(found.rel_max)),
        )
    }


def _time_figures(a: Measured, b: Measured, seed: int) -> dict[str, object]:
    if a.ns is None or b.ns is None:
        return {}
    found = compare_times(a.ns, b.ns, seed=seed)
    low, high = (number(end) for end in found.ci95_pct)
    return {
        "time_change_pct": number(found.change_pct),
        "time_change_mean_pct": number(found.change_mean_pct),
        "time_ci95_pct": None if low is None or high is None else (low, high),
        "time_p_value": number(found.p_value),
        "n_slower": int(found.n_slower),
    }
