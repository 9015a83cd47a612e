"""Kind ``resolve_data``: a data set made into checked, ordered, labelled shards."""

from __future__ import annotations

import csv
import importlib.util
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltann.data import write_image_shard, write_tensor_shard
from deltann.errors import DataError, JobFailure
from deltann.kinds.resolve import DataManifest, DataShard, LeftOut, ResolveDataParams
from deltann.outcome import Outcome
from deltann.preprocess.apply import decode
from deltann.service import JobContext, Produced

_LABELS = "labels.csv"
_PHOTOS = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"}
_SHOWN = 5


@dataclass(frozen=True)
class _Photo:
    """A photo of a data set that is not read yet."""

    id: str
    path: Path
    label: int | None


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
        return _images(_folder(path, params.source), params, context)
    return _tensors(path, params, context)


def _folder(folder: Path, name: str) -> list[_Photo]:
    """The photos of a folder: as labels.csv orders them, else by class sub-folders, else without labels."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _PHOTOS)
    if not files:
        raise DataError(f"The data folder {name} holds no images ({', '.join(sorted(_PHOTOS))}).")
    if (folder / _LABELS).exists():
        return _labelled(folder, files, name)
    classes = sorted({path.parent for path in files})
    if classes != [folder]:
        order = {parent: index for index, parent in enumerate(classes)}
        return [_Photo(str(path.relative_to(folder)), path, order[path.parent]) for path in files]
    return [_Photo(path.name, path, None) for path in files]


def _labelled(folder: Path, files: Sequence[Path], name: str) -> list[_Photo]:
    with (folder / _LABELS).open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if not {"file", "label"} <= set(reader.fieldnames or ()):
            raise DataError(f"{name}/{_LABELS} needs the columns file and label; it has {reader.fieldnames}.")
        rows = list(reader)
    there = {str(path.relative_to(folder)) for path in files}
    named = [row["file"] for row in rows]
    missing, unlabelled = [one for one in named if one not in there], sorted(there - set(named))
    if missing or unlabelled:
        parts = []
        if missing:
            parts.append(f"{len(missing)} rows name photos that are not there ({', '.join(missing[:_SHOWN])})")
        if unlabelled:
            parts.append(f"{len(unlabelled)} photos have no row ({', '.join(unlabelled[:_SHOWN])})")
        raise DataError(f"The labels of {name} do not match its photos: {'; '.join(parts)}. Correct {_LABELS}.")
    wrong = [row["file"] for row in rows if not row["label"].strip().isdigit()]
    if wrong:
        raise DataError(f"{name}/{_LABELS} has labels that are no class number from 0: {', '.join(wrong[:_SHOWN])}.")
    return [_Photo(row["file"], folder / row["file"], int(row["label"])) for row in rows]


def _package_set(source: str) -> list[_Photo]:
    """``foolbox:NAME``: the twenty labelled photos that foolbox carries of each of its data sets."""
    package, _, name = source.partition(":")
    spec = importlib.util.find_spec(package) if package == "foolbox" else None
    if spec is None or spec.origin is None:
        raise DataError(f"There is no data set {source!r}. Name a folder, an .npz file, or foolbox:imagenet.")
    folder = Path(spec.origin).parent / "data"
    found = sorted(path for path in folder.glob(f"{name}_*") if path.stem.removeprefix(name).count("_") == 2)
    if not found:
        known = sorted({path.stem.split("_")[0] for path in folder.iterdir() if path.suffix.lower() in _PHOTOS})
        raise DataError(f"foolbox carries no data set {name!r}; it has {', '.join(known)}.")
    return [_Photo(path.name, path, int(path.stem.rsplit("_", 1)[1])) for path in found]


def _chosen(count: int, params: ResolveDataParams) -> list[int]:
    """The positions of the sub-set, in its order."""
    positions = list(range(count))
    if params.seed is not None:
        random.Random(params.seed).shuffle(positions)
    return positions[: params.limit]


def _images(photos: Sequence[_Photo], params: ResolveDataParams, context: JobContext) -> DataManifest:
    """Shards of the photos that can be decoded; the others are left out by name."""
    kept: list[_Photo] = []
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
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{params.source} cannot be read as an .npz file: {error}") from error
    if "x" not in arrays or arrays["x"].ndim < 2 or not len(arrays["x"]):
        raise DataError(f"{params.source} needs an array x with at least one input; it has {sorted(arrays)}.")
    x, y = arrays["x"], arrays.get("y")
    if y is not None and y.shape != (len(x),):
        raise DataError(f"{params.source} has {len(x)} inputs in x but labels of shape {list(y.shape)} in y.")
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
