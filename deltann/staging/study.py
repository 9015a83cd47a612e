"""A whole study: its variables, its models, its data."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from deltann.errors import SpecError
from deltann.spec.data import DataEntry
from deltann.spec.models import ModelEntry, Native, Study
from deltann.staging.data import stage_inputs
from deltann.staging.files import Uploader
from deltann.staging.model import stage_native

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def stage(
    study: Study, base: Path, store: Uploader, *, trust: bool = False, loaders: Collection[str] | None = None
) -> Study:
    """The study with its files stored.

    Args:
        study: as it was read.
        base: the folder that relative paths start from.
        store: where the files go.
        trust: allow models that are made by running code (``module:function``).
        loaders: the names of all ready loaders; None where only the converter knows them.

    Raises:
        ModelError: for a model file that is missing, empty, truncated, of no known format, or would run code.
        DataError: for a data set that is missing, empty, damaged or does not match its labels.
        InputError: for a folder with links out of it, or for what cannot be read.
        SpecError: for an environment variable that is not set.
    """

    def native(one: Native) -> Native:
        if one.file is not None:
            return one
        expanded = one.model_copy(update={"source": expand(one.source)})
        return stage_native(expanded, base, store, trust=trust, loaders=loaders)

    def data(one: DataEntry) -> DataEntry:
        if one.archive is not None:
            return one
        return stage_inputs(one.model_copy(update={"source": expand(one.source)}), base, store)

    def model(entry: ModelEntry) -> ModelEntry:
        train = entry.train
        if train is not None and train.data is not None:
            train = train.model_copy(update={"data": data(train.data)})
        own = None if entry.data is None else data(entry.data)
        return entry.model_copy(update={"natives": tuple(map(native, entry.natives)), "data": own, "train": train})

    quantize = study.quantize
    if quantize is not None and quantize.calibration.data is not None:
        calibration = quantize.calibration.model_copy(update={"data": data(quantize.calibration.data)})
        quantize = quantize.model_copy(update={"calibration": calibration})
    models = tuple(map(model, study.models))
    return study.model_copy(update={"models": models, "data": data(study.data), "quantize": quantize})


def expand(text: str) -> str:
    """``${NAME}`` and ``${NAME:-default}`` replaced from the environment.

    Raises:
        SpecError: for a variable that is not set and has no default.
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1], match[2])
        if found is None:
            raise SpecError(
                f"{text!r} needs the environment variable {match[1]}, which is not set. Set it, or write "
                f"${{{match[1]}:-default}} in the study."
            )
        return found

    return _VARIABLE.sub(value, text)
