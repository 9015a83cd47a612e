"""The tables beside the report: CSV for people's spreadsheets, Parquet for what is too long for them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pydantic import BaseModel

from deltann.plan.context import SweepContext
from deltann.report.models import Report
from deltann_analyzer.measured import Measured
from deltann_analyzer.pairs import PairIndex

_ROW_GROUP = 1_000_000
"""Rows of ``differences.parquet`` that are written together."""


def write_tables(folder: Path, report: Report, measured: Sequence[Measured], pairs: Sequence[PairIndex],
                 context: SweepContext) -> None:  # fmt: skip
    """Every table of a report into its folder."""
    for name in ("conversions", "variants", "pairs", "findings", "gates"):
        _write_records(folder / f"{name}.csv", getattr(report, name))
    if report.mutation is not None:
        for name in ("mutants", "matrix", "scores", "devices", "families"):
            prefix = "" if name == "mutants" else "mutation_"
            _write_records(folder / f"{prefix}{name}.csv", getattr(report.mutation, name))
    if report.training is not None:
        for name in ("runs", "instances", "spreads", "frameworks"):
            _write_records(folder / f"training_{name}.csv", getattr(report.training, name))
    if report.attacks is not None:
        for name in ("runs", "measures", "means", "robustness"):
            _write_records(folder / f"attack_{name}.csv", getattr(report.attacks, name))
    for name, table in report.questions:
        _write_csv(folder / f"{name}.csv", table.columns, table.rows)
    write_differences(folder / "differences.parquet", measured, pairs, context)
    write_times(folder / "times.parquet", measured, context)
    write_outputs(folder / "outputs.parquet", measured, context)


def flat(record: BaseModel) -> dict[str, Any]:
    """A record with its nested parts as ``part.field``, and lists as JSON."""
    row: dict[str, Any] = {}

    def lay(prefix: str, value: Any) -> None:
        if isinstance(value, dict) and value:
            for key, part in value.items():
                lay(f"{prefix}.{key}" if prefix else key, part)
        elif isinstance(value, list | dict):
            row[prefix] = json.dumps(value, ensure_ascii=False)
        else:
            row[prefix] = value

    lay("", record.model_dump(mode="json"))
    return row


def _write_records(path: Path, records: Sequence[BaseModel]) -> None:
    rows = [flat(record) for record in records]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    _write_csv(path, columns, ([row.get(column) for column in columns] for row in rows))


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def write_differences(
    path: Path, measured: Sequence[Measured], pairs: Sequence[PairIndex], context: SweepContext
) -> None:
    """Every input whose first label differs in a pair: pair's sides, axis, input, both labels."""
    ids: list[str] = []
    begin: dict[str, int] = {}
    """Where the inputs of a data set begin among all of them; the study's own is that of no model."""
    own = {one.plan.model: one.plan.model if one.plan.model in context.manifests else "" for one in measured}
    for model, owner in own.items():
        if owner not in begin:
            begin[owner] = len(ids)
            ids += context.manifest_of(model).ids
    names = {
        "a": [one.plan.id for one in measured],
        "axis": sorted({str(pair.axis) for pair in pairs}),
        "input": ids,
    }
    words = {name: pa.array(names["a" if name == "b" else name], pa.string()) for name in ("a", "b", "axis", "input")}
    schema = pa.schema(
        [(name, pa.dictionary(pa.int32(), pa.string())) for name in words]
        + [("label_a", pa.int32()), ("label_b", pa.int32())]
    )
    axis_of = {axis: at for at, axis in enumerate(names["axis"])}

    def parts() -> Iterator[npt.NDArray[np.int32]]:
        for pair in pairs:
            a, b = measured[pair.a], measured[pair.b]
            if a.labels is None or b.labels is None or a.valid is None or b.valid is None:
                continue
            rows = np.flatnonzero((a.labels[:, 0] != b.labels[:, 0]) & a.valid & b.valid)
            part = np.empty((6, len(rows)), np.int32)
            part[:3] = [[pair.a], [pair.b], [axis_of[str(pair.axis)]]]
            part[3:] = begin[own[a.plan.model]] + rows, a.labels[rows, 0], b.labels[rows, 0]
            yield part

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for columns in _row_groups(parts()):
            indices = zip(columns, words.values(), strict=False)
            arrays = [pa.DictionaryArray.from_arrays(pa.array(column), values) for column, values in indices]
            writer.write_table(pa.Table.from_arrays([*arrays, *map(pa.array, columns[4:])], schema=schema))


def _row_groups(parts: Iterable[npt.NDArray[np.int32]]) -> Iterator[npt.NDArray[np.int32]]:
    """Parts [columns, rows] laid together: a row group for each pair would cost more than what is in it."""
    waiting: list[npt.NDArray[np.int32]] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += part.shape[1]
        if rows >= _ROW_GROUP:
            yield np.concatenate(waiting, axis=1)
            waiting, rows = [], 0
    if rows:
        yield np.concatenate(waiting, axis=1)


def write_times(path: Path, measured: Sequence[Measured], context: SweepContext) -> None:
    """Every single timed inference: variant, input, repeat, nanoseconds."""
    schema = pa.schema(
        [("variant", pa.dictionary(pa.int32(), pa.string())), ("input", pa.string()), ("repeat", pa.int32()),
         ("ns", pa.int64())]
    )  # fmt: skip

    def batches() -> Iterator[dict[str, Any]]:
        for one in measured:
            if one.ns is not None:
                inputs, repeats = one.ns.shape
                ids = context.manifest_of(one.plan.model).ids
                yield {
                    "variant": [one.plan.id] * one.ns.size,
                    "input": [ids[row % len(ids)] for row in range(inputs) for _ in range(repeats)],
                    "repeat": np.tile(np.arange(repeats, dtype=np.int32), inputs),
                    "ns": one.ns.reshape(-1),
                }

    _write_parquet(path, schema, batches())


def write_outputs(path: Path, measured: Sequence[Measured], context: SweepContext) -> None:
    """What every variant answered for every input: its top-k labels and scores, best first; empty where invalid."""
    schema = pa.schema(
        [("variant", pa.dictionary(pa.int32(), pa.string())), ("input", pa.string()), ("valid", pa.bool_()),
         ("labels", pa.list_(pa.int32())), ("scores", pa.list_(pa.float32()))]
    )  # fmt: skip

    def batches() -> Iterator[dict[str, Any]]:
        for one in measured:
            if one.labels is None or one.scores is None or one.valid is None:
                continue
            ids = context.manifest_of(one.plan.model).ids
            yield {
                "variant": [one.plan.id] * len(ids),
                "input": list(ids),
                "valid": one.valid,
                "labels": _lists(one.labels, one.valid),
                "scores": _lists(one.scores, one.valid),
            }

    _write_parquet(path, schema, batches())


def _lists(rows: npt.NDArray[Any], valid: npt.NDArray[np.bool_]) -> pa.ListArray:
    ends = np.concatenate([[0], np.cumsum(np.where(valid, rows.shape[1], 0))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(rows[valid].reshape(-1)))


def _write_parquet(path: Path, schema: pa.Schema, batches: Iterable[dict[str, Any]]) -> None:
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            arrays = [
                values if isinstance(values, pa.Array) else pa.array(values, type=_plain(field.type))
                for field, values in ((field, batch[field.name]) for field in schema)
            ]
            arrays = [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
