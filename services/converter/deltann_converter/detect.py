"""The format of a model file by its content, not its name."""

from __future__ import annotations

import zipfile
from pathlib import Path

from deltann.errors import JobFailure
from deltann.model import Format
from deltann.outcome import Outcome


def detect_format(path: Path) -> Format:
    """The format of a model file or SavedModel folder.

    Raises:
        JobFailure: ``run_failed`` for anything else, saying what can be read; a pickle is refused, since it runs code.
    """
    if path.is_dir():
        if (path / "saved_model.pb").exists():
            return "savedmodel"
        raise _unknown(path, "a folder without saved_model.pb")
    with path.open("rb") as file:
        head = file.read(16)
    if head[4:8] == b"TFL3":
        return "tflite"
    if head.startswith(b"PK"):
        return _zip_format(path)
    if head[:1] == b"\x80":
        raise JobFailure(
            Outcome.RUN_FAILED,
            "detect",
            f"{path.name} is a Python pickle. Reading it runs whatever code it holds, so DeltaNN does not. "
            "Save the model with torch.export.save (.pt2) or torch.jit.save instead.",
        )
    if path.suffix == ".onnx" or head[:1] == b"\x08":
        return "onnx"
    raise _unknown(path, "content of no known format")


def _zip_format(path: Path) -> Format:
    try:
        names = zipfile.ZipFile(path).namelist()
    except zipfile.BadZipFile as error:
        raise _unknown(path, "a truncated archive") from error
    parts = {name.rsplit("/", 1)[-1] for name in names}
    if "model.weights.h5" in parts:
        return "keras"
    if "constants.pkl" in parts:
        return "torchscript"
    exported = any("models/" in name and name.endswith(".json") for name in names)
    if exported or "serialized_exported_program.json" in parts:
        return "pt2"
    if "data.pkl" in parts:
        raise JobFailure(
            Outcome.RUN_FAILED,
            "detect",
            f"{path.name} was saved by torch.save: it holds a pickle, and reading it runs whatever code is in there, "
            "so DeltaNN does not. Save the model with torch.export.save (.pt2) or torch.jit.save instead.",
        )
    raise _unknown(path, "an archive of no known kind")


def _unknown(path: Path, what: str) -> JobFailure:
    return JobFailure(
        Outcome.RUN_FAILED,
        "detect",
        f"{path.name} is {what}. DeltaNN reads .pt2, TorchScript, .keras, SavedModel folders, .tflite and .onnx.",
    )
