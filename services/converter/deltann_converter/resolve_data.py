"""Kind ``resolve_data``: a data set made into checked, ordered, labelled shards."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import numpy as np

from deltann.artifact import ArtifactRef
from deltann.data import tokens, vocabulary, write_image_shard, write_tensor_shard
from deltann.errors import DataError, JobFailure
from deltann.kinds.resolve import DataManifest, DataShard, LeftOut, ResolveDataParams
from deltann.outcome import Outcome
from deltann.preprocess.apply import decode
from deltann.service import JobContext, Produced
from deltann_converter.datasets import DataSet, open_files, open_named


def resolve_data(params: ResolveDataParams, context: JobContext) -> Produced:
    """Make a data set from staged files, or from a named set.

    Raises:
        JobFailure: ``run_failed`` in a paragraph: no inputs, labels that do not match, an unknown set, no network.
    """
    try:
        found = _open(params, context)
        positions = _chosen(found.part(params.part, params.split), params)
        artifacts: dict[str, ArtifactRef] = {}
        if found.kind == "images":
            manifest = _images(found, positions, params, context)
        elif found.kind == "sentences":
            words = _words(found, params)
            path = context.workdir / "vocabulary.json"
            path.write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
            artifacts["vocabulary"] = context.put(path)
            x = tokens([found.items[position] for position in positions], words, params.tokens.length)
            manifest = _tensors(found, x, positions, params, context)
        else:
            manifest = _tensors(found, found.items[positions], positions, params, context)
    except DataError as error:
        raise JobFailure(Outcome.RUN_FAILED, "data", str(error)) from error
    path = context.workdir / "manifest.json"
    path.write_text(manifest.model_dump_json(), encoding="utf-8")
    artifacts["manifest"] = context.put(path)
    return Produced(artifacts=artifacts, data={"manifest": manifest.model_dump(mode="json")})


def _open(params: ResolveDataParams, context: JobContext) -> DataSet:
    if "archive" in context.job.sources:
        return open_files(context.fetch("archive"), params.source)
    return open_named(params.source, params.tokens)


def _chosen(positions: Sequence[int], params: ResolveDataParams) -> list[int]:
    """The positions of the sub-set, in its order."""
    chosen = list(positions)
    if params.seed is not None:
        random.Random(params.seed).shuffle(chosen)
    return chosen[: params.limit]


def _words(found: DataSet, params: ResolveDataParams) -> list[str]:
    """The same for both parts: tests are read with the words of what is trained on."""
    trained = found.part("train", params.split)
    return vocabulary((found.items[position] for position in trained), params.tokens.vocabulary)


def _images(found: DataSet, positions: Sequence[int], params: ResolveDataParams, context: JobContext) -> DataManifest:
    """Shards of the photos that can be decoded; the others are left out by name."""
    kept: list[int] = []
    left_out: list[LeftOut] = []
    shards: list[DataShard] = []
    pending: list[bytes] = []

    def write() -> None:
        path = context.workdir / f"shard-{len(shards):05d}.zip"
        write_image_shard(path, pending)
        shards.append(DataShard(blob=context.put(path), start=len(kept) - len(pending), stop=len(kept)))
        pending.clear()
        path.unlink()

    for position in positions:
        data = found.items[position].read()
        try:
            decode(data)
        except DataError as error:
            left_out.append(LeftOut(id=found.ids[position], why=str(error)))
            continue
        kept.append(position)
        pending.append(data)
        if len(pending) == params.shard:
            write()
    if pending:
        write()
    if not kept:
        raise DataError(
            f"None of the {len(left_out)} photos of {params.source} can be read; the first: {left_out[0].id} "
            f"({left_out[0].why})."
        )
    labels = tuple(found.labels[position] for position in kept)
    return DataManifest(
        kind="images",
        ids=tuple(found.ids[position] for position in kept),
        labels=labels,
        shards=tuple(shards),
        left_out=tuple(left_out),
        classes=_classes(labels),
    )


def _tensors(
    found: DataSet, x: np.ndarray, positions: Sequence[int], params: ResolveDataParams, context: JobContext
) -> DataManifest:
    """Shards of arrays ``x`` [n, …], one row for each position."""
    shards: list[DataShard] = []
    for start in range(0, len(x), params.shard):
        stop = min(start + params.shard, len(x))
        file = context.workdir / f"shard-{len(shards):05d}.npy"
        write_tensor_shard(file, x[start:stop])
        shards.append(DataShard(blob=context.put(file), start=start, stop=stop))
    labels = tuple(found.labels[position] for position in positions)
    return DataManifest(
        kind="tokens" if np.issubdtype(x.dtype, np.integer) and x.ndim == 2 else "tensors",
        ids=tuple(found.ids[position] for position in positions),
        labels=labels,
        shards=tuple(shards),
        classes=_classes(labels),
    )


def _classes(labels: Sequence[int | None]) -> int | None:
    known = [label for label in labels if label is not None]
    return max(known) + 1 if known else None
