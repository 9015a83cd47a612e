"""The research questions of the DeltaNN papers as tables, out of the report's pairs. Pure.

RQ1 labels and RQ2 times under conversion; RQ3 labels and RQ4 times under optimisation; RQ5 labels and RQ6 times under
the device. Labels are compared by first label, top-k sets, RBO and Kendall tau; times by the change of medians (and of
means, as the papers have it), with its interval and test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pydantic import JsonValue

from deltann.report.models import Pair, Questions, Table, Variant
from deltann_analyzer.sensitivity import sensitivity

_LABELS = ("top1_disagreement", "topk_jaccard", "rbo", "kendall_tau", "n_differ", "n")
_TIMES = ("time_change_pct", "time_change_mean_pct", "time_p_value")
Facts = Callable[[Variant, Variant], list[JsonValue]]


def questions(variants: Sequence[Variant], pairs: Sequence[Pair]) -> Questions:
    """The six tables, and which axis matters most.

    A pair without the figures that a table is about has no row in it.
    """
    by_id = {variant.id: variant for variant in variants}
    sides = [(by_id[pair.a], by_id[pair.b], pair) for pair in pairs]
    conversion = [row for row in sides if row[2].axis == "conversion"]
    level = [row for row in sides if row[2].axis == "optimization"]
    device = [row for row in sides if row[2].axis == "device"]
    of_conversion = ["model", "source", "target", "engine", "opt_level", "preprocessing"]
    of_level = ["model", "framework", "conversion", "engine", "compile_target", "level_a", "level_b", "preprocessing"]
    of_device = ["model", "framework", "conversion", "engine", "opt_level", "pool_a", "pool_b"]
    return Questions(
        RQ1=_labels(of_conversion, conversion, _conversion),
        RQ2=_times(of_conversion, conversion, _conversion),
        RQ3=_labels(of_level, level, _level),
        RQ4=_times(of_level, level, _level),
        RQ5=_labels(of_device, device, _device),
        RQ6=_times(of_device, device, _device),
        sensitivity=sensitivity(variants, pairs),
    )


def _conversion(a: Variant, b: Variant) -> list[JsonValue]:
    return [b.model, a.framework, b.framework, b.engine, b.opt_level, b.preprocessing]


def _level(a: Variant, b: Variant) -> list[JsonValue]:
    return [b.model, b.framework, b.conversion, b.engine, b.target, a.opt_level, b.opt_level, b.preprocessing]


def _device(a: Variant, b: Variant) -> list[JsonValue]:
    return [b.model, b.framework, b.conversion, b.engine, b.opt_level, a.pool, b.pool]


def _labels(columns: list[str], rows: Iterable[tuple[Variant, Variant, Pair]], facts: Facts) -> Table:
    return Table(
        columns=[*columns, *_LABELS, "tainted_by", "a", "b"],
        rows=[
            [*facts(a, b), *(getattr(pair, name) for name in _LABELS), pair.tainted_by, pair.a, pair.b]
            for a, b, pair in rows
            if pair.top1_disagreement is not None
        ],
    )


def _times(columns: list[str], rows: Iterable[tuple[Variant, Variant, Pair]], facts: Facts) -> Table:
    table: list[list[JsonValue]] = []
    for a, b, pair in rows:
        if pair.time_change_pct is None or a.time_ms is None or b.time_ms is None:
            continue
        low, high = pair.time_ci95_pct or (None, None)
        table.append(
            [*facts(a, b), a.time_ms.median, b.time_ms.median, *(getattr(pair, name) for name in _TIMES), low, high,
             pair.n_slower, pair.a, pair.b]
        )  # fmt: skip
    names = ["median_a_ms", "median_b_ms", *_TIMES, "ci95_low_pct", "ci95_high_pct", "n_slower", "a", "b"]
    return Table(columns=[*columns, *names], rows=table)
