"""Kind ``resolve_data``: a data set made into checked, ordered, labelled shards."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deltann.data import ENDINGS, Photo, find_photos, read_arrays, write_image_shard, write_tensor_shard
from deltann.errors import DataError, JobFailure
from deltann.kinds.resolve import DataManifest, DataShard, LeftOut, ResolveDataParams
from deltann.outcome import Outcome
from deltann.preprocess.apply import decode
from deltann.service import JobContext, Produced


def resolve_data(params: ResolveDataParams, context: JobContext) -> Produced:
    """Make a data set from a staged folder or ``.npz``, or from a package set.

    Raises:
        JobFailure: ``run_failed`` in a paragraph: no inputs, labels that do not match, an unknown package set.
    """
    try:
        manifest = _resolve(params, context)
    except DataError as error:
        raise JobFailure(Outcome.RUN_FAILED, "data", str(error)) from error
    return Produced(data={"manifest": manifest.model_dump(mode="json")})


def _resolve(params: ResolveDataParams, context: JobContext) -> DataManifest:
    if "archive" not in context.job.sources:
        return _images(_package_set(params.source), params, context)
    path = context.fetch("archive")
    if path.is_dir():
        return _images(find_photos(path, params.source), params, context)
    return _tensors(path, params, context)


def _package_set(source: str) -> list[Photo]:
    """``foolbox:NAME``: the twenty labelled photos that foolbox carries of each of its data sets."""
    package, _, name = source.partition(":")
    spec = importlib.util.find_spec(package) if package == "foolbox" else None
    if spec is None or spec.origin is None:
        raise DataError(f"There is no data set {source!r}. Name a folder, an .npz file, or foolbox:imagenet.")
    folder = Path(spec.origin).parent / "data"
    found = sorted(path for path in folder.glob(f"{name}_*") if path.stem.removeprefix(name).count("_") == 2)
    if not found:
        known = sorted({path.stem.split("_")[0] for path in folder.iterdir() if path.suffix.lower() in ENDINGS})
        raise DataError(f"foolbox carries no data set {name!r}; it has {', '.join(known)}.")
    return [Photo(path.name, path, int(path.stem.rsplit("_", 1)[1])) for path in found]


def _chosen(count: int, params: ResolveDataParams) -> list[int]:
    """The positions of the sub-set, in its order."""
    positions = list(range(count))
    if params.seed is not None:
        random.Random(params.seed).shuffle(positions)
    return positions[: params.limit]


def _images(photos: Sequence[Photo], params: ResolveDataParams, context: JobContext) -> DataManifest:
    """Shards of the photos that can be decoded; the others are left out by name."""
    kept: list[Photo] = []
    left_out: list[LeftOut] = []
    shards: list[DataShard] = []
    pending: list[bytes] = []

    def write() -> None:
        path = context.workdir / f"shard-{len(shards):05d}.zip"
        write_image_shard(path, pending)
        shards.append(DataShard(blob=context.put(path), start=len(kept) - len(pending), stop=len(kept)))
        pending.clear()
        path.unlink()

    for position in _chosen(len(photos), params):
        photo = photos[position]
        data = photo.path.read_bytes()
        try:
            decode(data)
        except DataError as error:
            left_out.append(LeftOut(id=photo.id, why=str(error)))
            continue
        kept.append(photo)
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
    labels = tuple(photo.label for photo in kept)
    return DataManifest(
        kind="images",
        ids=tuple(photo.id for photo in kept),
        labels=labels,
        shards=tuple(shards),
        left_out=tuple(left_out),
        classes=_classes(labels),
    )


def _tensors(path: Path, params: ResolveDataParams, context: JobContext) -> DataManifest:
    """An ``.npz`` with ``x`` [n, …] and, where it has labels, ``y`` [n]."""
    x, y = read_arrays(path, params.source)
    chosen = _chosen(len(x), params)
    shards = []
    for start in range(0, len(chosen), params.shard):
        stop = min(start + params.shard, len(chosen))
        file = context.workdir / f"shard-{len(shards):05d}.npy"
        write_tensor_shard(file, x[chosen[start:stop]])
        shards.append(DataShard(blob=context.put(file), start=start, stop=stop))
    labels = tuple(None if y is None else int(y[position]) for position in chosen)
    return DataManifest(
        kind="tokens" if np.issubdtype(x.dtype, np.integer) and x.ndim == 2 else "tensors",
        ids=tuple(f"{position:06d}" for position in chosen),
        labels=labels,
        shards=tuple(shards),
        classes=_classes(labels),
    )


def _classes(labels: Sequence[int | None]) -> int | None:
    known = [label for label in labels if label is not None]
    return max(known) + 1 if known else None
