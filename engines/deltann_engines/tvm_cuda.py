"""TVM's CUDA runtime, where TVM does not load it by itself: in a process without its compiler, as on boards, and where
CUDA's own runtime is PyPI's, which no search path of the system knows.

Needs nothing of DeltaNN: ``runtimes/slim`` puts a copy of this file into its package.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
from importlib import metadata
from pathlib import Path

_DRIVER = "libcuda.so.1"
_CUDART = re.compile(r"libcudart\.so\.\d+")
_DISTRIBUTION = "nvidia-cuda-runtime"


def autoload() -> None:
    """Called by TVM when it is imported, through the entry points ``tvm.backends``. Nothing is raised: most of what
    imports TVM has nothing to do with CUDA."""
    with contextlib.suppress(RuntimeError):
        load()


def load() -> None:
    """Load the runtime, once in a process.

    Raises:
        RuntimeError: where the host lacks what it needs, in a sentence that says what.
    """
    import tvm_ffi

    if tvm_ffi.get_global_func("device_api.cuda", allow_missing=True) is not None:
        return
    from tvm.base import _LOADED_LIBS

    library = Path(_LOADED_LIBS["tvm_runtime"]._name).resolve().with_name("libtvm_runtime_cuda.so")
    if not library.is_file():
        raise RuntimeError(f"This TVM was built without CUDA: there is no {library.name} beside {library.parent}.")
    try:
        ctypes.CDLL(_DRIVER)
    except OSError as error:
        raise RuntimeError(f"This host has no NVIDIA driver: {_DRIVER} is not there.") from error
    if (cudart := _cudart()) is not None:
        ctypes.CDLL(str(cudart), ctypes.RTLD_GLOBAL)
    try:
        _LOADED_LIBS["tvm_runtime_cuda"] = ctypes.CDLL(str(library))
    except OSError as error:
        raise RuntimeError(
            f"TVM's CUDA runtime cannot be loaded: {error}. Install {_DISTRIBUTION} of the CUDA version that it names, "
            "or that version of CUDA itself."
        ) from error


def _cudart() -> Path | None:
    """The file of CUDA's runtime from PyPI, or None where that is not installed."""
    try:
        files = metadata.files(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(one.locate())) for one in files if _CUDART.fullmatch(one.name)), None)
