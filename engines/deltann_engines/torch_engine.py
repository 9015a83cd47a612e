"""PyTorch: exported programs (.pt2) and TorchScript."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from deltann.engines import EngineOptions
from deltann.errors import ModelError
from deltann.model import ModelInfo
from deltann_engines.base import Session

_TENSORS_ONLY = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"


class TorchSession(Session):
    """A module in evaluation mode; gradients off."""

    def __init__(self, module: Any, info: ModelInfo) -> None:
        self.info = info
        self._module = module

    def _run(self, x: np.ndarray) -> np.ndarray:
        import torch

        with torch.inference_mode():
            result = self._module(torch.from_numpy(x))
        first = result[0] if isinstance(result, list | tuple) else result
        array: np.ndarray = first.numpy()
        return array

    @property
    def used(self) -> EngineOptions:
        """Whether operators may go to oneDNN, as PyTorch says; it does not tell which of them did."""
        return EngineOptions(library="onednn" if _onednn_is_on() else "native")


def _onednn_is_on() -> bool:
    from torch.backends import mkldnn

    return bool(mkldnn.is_available() and mkldnn.enabled)  # type: ignore[no-untyped-call]


def prepare(threads: int, options: EngineOptions) -> None:
    """Import PyTorch, and what reads exported programs (2 seconds more), and fix its threads and library."""
    import torch
    import torch.export.pt2_archive
    from torch.backends import mkldnn

    torch.set_num_threads(threads)
    if options.library is not None:
        mkldnn.set_flags(options.library == "onednn")


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Load a .pt2 or TorchScript file; neither unpickles code.

    Raises:
        ModelError: for a .pt2 that holds pickled objects or compiled code.
    """
    prepare(threads, options)
    if info.format == "torchscript":
        import torch

        return TorchSession(torch.jit.load(path, map_location="cpu").eval(), info)  # type: ignore[no-untyped-call]
    return TorchSession(load_program(path).module(), info)


def load_program(path: Path) -> Any:
    """The ``torch.export.ExportedProgram`` of a .pt2 file, without unpickling anything but tensors.

    Left to itself, ``torch.export.load`` unpickles whatever it does not read as tensors (weights of other types, sample
    inputs, opaque constants) and loads compiled libraries that lie in the archive.

    Raises:
        ModelError: if the file holds such things.
        Exception: whatever PyTorch raises.
    """
    import torch
    from torch.export.pt2_archive.constants import AOTINDUCTOR_DIR, OPAQUE_OBJ_FILENAME_PREFIX

    with zipfile.ZipFile(path) as archive:
        members = archive.namelist()
    if any(OPAQUE_OBJ_FILENAME_PREFIX in name or AOTINDUCTOR_DIR in name for name in members):
        raise _holds_code(path)
    try:
        with _tensors_only():
            return torch.export.load(path)
    except pickle.UnpicklingError as error:
        raise _holds_code(path) from error


def _holds_code(path: Path) -> ModelError:
    return ModelError(
        f"{path.name} holds pickled objects or compiled libraries beside its graph. Reading them runs whatever "
        "code they hold, so DeltaNN does not. Export the model again as a plain graph, with torch.export.save."
    )


@contextmanager
def _tensors_only() -> Iterator[None]:
    """Make every ``torch.load``, also those inside PyTorch that ask for more, read nothing but tensors."""
    before = os.environ.get(_TENSORS_ONLY)
    os.environ[_TENSORS_ONLY] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_TENSORS_ONLY]
        else:
            os.environ[_TENSORS_ONLY] = before
