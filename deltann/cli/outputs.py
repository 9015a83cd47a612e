"""``outputs.npz``: what ``deltann run`` writes and ``deltann compare`` reads."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from deltann.cli.agreement import Outputs
from deltann.cli.places import written
from deltann.cli.single import Bench, ReadyModel
from deltann.data import read_npz
from deltann.errors import DataError, first_line
from deltann.kinds.execute import ExecuteData, ExecuteParams
from deltann.kinds.resolve import DataManifest
from deltann.model import ENGINE_OF
from deltann.preprocess.recipes import resolve_recipe


def execute(bench: Bench, model: ReadyModel, manifest: DataManifest, preprocess: str, k: int, threads: int) -> Outputs:
    """Run a model or module over a data set.

    Raises:
        SpecError: for a preprocessing that does not fit the model.
        WorkError: if it could not be run.
    """
    recipe = resolve_recipe(preprocess, model.info)
    engine = "tvm" if model.compiled else ENGINE_OF[model.info.framework]
    parts: list[dict[str, np.ndarray]] = []
    space = ""
    for shard in manifest.shards:
        params = ExecuteParams(
            engine=engine,
            info=model.info,
            recipe=recipe,
            data_kind=manifest.kind,
            start=shard.start,
            stop=shard.stop,
            k=k,
            threads=threads,
        )
        label = f"running {model.source} on inputs {shard.start} to {shard.stop - 1}"
        result = bench.do(
            "execute", params, {"module" if model.compiled else "model": model.ref, "shard": shard.blob}, label
        )
        space = ExecuteData.model_validate(result.data).space
        with np.load(bench.store.materialise(result.artifacts["outputs"], bench.cache), allow_pickle=False) as arrays:
            parts.append({name: arrays[name] for name in arrays.files})
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Outputs(
        labels=whole["labels"],
        valid=whole["valid"],
        scores=whole["scores"],
        outputs=whole.get("outputs"),
        ids=manifest.ids,
        space=space,
    )


def write_outputs(outputs: Outputs, out: Path) -> None:
    """Write outputs as an ``.npz``: arrays labels, scores, valid, outputs, ids and space, without pickles."""
    arrays = {
        "labels": outputs.labels,
        "valid": outputs.valid,
        "ids": np.array(outputs.ids or (), dtype=np.str_),
        "space": np.array(outputs.space or ""),
    }
    optional = {"scores": outputs.scores, "outputs": outputs.outputs}
    kept = {name: value for name, value in optional.items() if value is not None}
    with written(out) as new, new.open("wb") as file:
        np.savez(file, **arrays, **kept)  # type: ignore[arg-type]


def is_outputs(source: str) -> bool:
    """Whether a name is that of an ``outputs.npz`` rather than of a model."""
    return Path(source).suffix == ".npz"


def read_outputs(path: Path) -> Outputs:
    """Read what :func:`write_outputs` or an execute job wrote.

    Raises:
        DataError: if the file is not such.
    """
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is truncated, or no .npz file" if path.is_file() else "no file has that name")
        found = read_npz(path, str(path), ("labels", "scores", "valid", "outputs", "ids", "space"))
        outputs = Outputs(
            labels=found["labels"],
            valid=found["valid"],
            scores=found.get("scores"),
            outputs=found.get("outputs"),
            ids=tuple(map(str, found["ids"])) if len(found.get("ids", ())) else None,
            space=str(found["space"]) or None if "space" in found else None,
        )
        _check(outputs)
    except KeyError as error:
        raise _none(path, f"it has no array {error}") from error
    except (OSError, ValueError, TypeError) as error:
        raise _none(path, first_line(error)) from error
    return outputs


def _check(outputs: Outputs) -> None:
    """What :func:`write_outputs` writes has arrays of these kinds, one row for each input."""
    n = len(outputs.valid) if outputs.valid.ndim == 1 else -1
    arrays = {
        "valid": (outputs.valid, "b", 1),
        "labels": (outputs.labels, "iu", 2),
        "scores": (outputs.scores, "f", 2),
        "outputs": (outputs.outputs, "f", 2),
    }
    for name, (array, kinds, axes) in arrays.items():
        if array is not None and (array.dtype.kind not in kinds or array.ndim != axes or len(array) != n):
            raise ValueError(f"its array {name} is of type {array.dtype} and shape {list(array.shape)}")
    if not outputs.labels.shape[1] or (outputs.ids is not None and len(outputs.ids) != n):
        raise ValueError("its arrays do not fit each other")


def _none(path: Path, why: str) -> DataError:
    return DataError(f"{path} holds no outputs of `deltann run`: {why}. Write it anew with that command.")
