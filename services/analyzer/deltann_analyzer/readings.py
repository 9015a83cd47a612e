"""The stored arrays of a variant: its labels and outputs, shard by shard, and its times."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deltann.job import JobResult
from deltann.kinds.execute import ExecuteData, ExecuteParams, TimeData
from deltann.store.base import ArtifactStore
from deltann_analyzer.measured import Measured
from deltann_analyzer.records import Graph


def read_labels(measured: Measured, graph: Graph, store: ArtifactStore, n: int, k: int, spill: Path) -> None:
    """Lay the shards of a variant together; nothing where a shard is missing, for shares would then mislead."""
    shards = []
    for index in measured.plan.execute_jobs:
        result = graph.result(index)
        arrays = _arrays(store, result, "outputs")
        if result is None or arrays is None or not result.outcome.usable:
            return
        shards.append((ExecuteParams.model_validate(graph.job(index).params), arrays, result))
    if not shards:
        return
    width = max(arrays["labels"].shape[1] for _, arrays, _ in shards)
    labels = np.full((n, width), -1, np.int32)
    scores = np.full((n, width), np.nan, np.float32)
    valid = np.zeros(n, np.bool_)
    outputs = None
    if all("outputs" in arrays for _, arrays, _ in shards):
        shape = (n, shards[0][1]["outputs"].shape[1])
        outputs = np.lib.format.open_memmap(spill, mode="w+", dtype=np.float32, shape=shape)
    for params, arrays, _ in shards:
        rows = slice(params.start, params.stop)
        labels[rows, : arrays["labels"].shape[1]] = arrays["labels"]
        scores[rows, : arrays["scores"].shape[1]] = arrays["scores"]
        valid[rows] = arrays["valid"]
        if outputs is not None:
            outputs[rows] = arrays["outputs"]
    labels[~valid] = -1
    if outputs is not None:
        outputs.flush()
        measured.outputs = np.load(spill, mmap_mode="r")
    measured.labels, measured.scores, measured.valid = labels[:, :k], scores[:, :k], valid
    each = [ExecuteData.model_validate(result.data) for _, _, result in shards]
    measured.executed = each[0].model_copy(
        update={
            "n": sum(data.n for data in each),
            "n_invalid": int((~valid).sum()),
            "memory_peak_bytes": max(
                (data.memory_peak_bytes for data in each if data.memory_peak_bytes is not None), default=None
            ),
        }
    )
    measured.device = measured.executed.device


def read_times(measured: Measured, graph: Graph, store: ArtifactStore) -> None:
    """Every single repeat of a variant, where it was timed."""
    result = graph.result(measured.plan.time_job)
    arrays = _arrays(store, result, "times")
    if result is None or arrays is None or not result.outcome.usable:
        return
    measured.ns, measured.first_ns = arrays["ns"].astype(np.int64), int(arrays["first_ns"])
    measured.timed = TimeData.model_validate(result.data)
    measured.device = measured.timed.device or measured.device


def _arrays(store: ArtifactStore, result: JobResult | None, role: str) -> dict[str, npt.NDArray[Any]] | None:
    ref = result.artifacts.get(role) if result is not None else None
    if ref is None:
        return None
    with np.load(io.BytesIO(store.read(ref)), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
