"""Pools: named groups of like devices, defined in one file that operators keep.

.. code-block:: yaml

    pools:
      cpu: {about: "x86-64 servers"}
      pi4: {about: "Raspberry Pi 4", requires: {arch: aarch64, features: [asimd], engines: [tvm, tflite]}}
      pi5: {about: "Raspberry Pi 5", requires: {targets: [raspberry-pi-5]}}
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from deltann.base import Data
from deltann.errors import InputError
from deltann.fleet import fit
from deltann.fleet.record import WorkerRecord
from deltann.spec.lists import SLUG
from deltann.spec.text import read_yaml
from deltann.targets import TARGETS, read_target

_LONGEST = 63
PoolName = Annotated[str, StringConstraints(pattern=SLUG, max_length=_LONGEST)]


def _name_of_target(value: str) -> str:
    """A name of the table: of other targets it is not known what they need before they are compiled."""
    if value in TARGETS:
        return value
    read_target(value)
    raise ValueError("should be a target that `deltann targets` lists")


TargetName = Annotated[str, AfterValidator(_name_of_target)]


class Requirements(Data):
    """What a device must have to work for a pool. What is empty is not asked for."""

    arch: str = ""
    board: str = Field(default="", description="Part of the board's name")
    gpu: str = Field(default="", description="Part of the GPU's name")
    opencl: str = Field(default="", description="Part of the OpenCL device's name")
    features: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    targets: tuple[TargetName, ...] = Field(default=(), description="Whose modules it has to be able to run")
    memory_mb: int = Field(default=0, ge=0)

    def lacks(self, worker: WorkerRecord) -> list[str]:
        """What a worker lacks, each in a few words; empty where it fits."""
        device = worker.device
        found = []
        if self.arch and device.arch != self.arch:
            found.append(f"architecture {self.arch} (it is {device.arch})")
        if self.board.lower() not in device.board.lower():
            found.append(f"board {self.board!r} (it is {device.board or 'unknown'!r})")
        if self.gpu and not any(self.gpu.lower() in gpu.lower() for gpu in device.gpus):
            found.append(f"GPU {self.gpu!r} (it has {', '.join(device.gpus) or 'none'})")
        if self.opencl and not any(self.opencl.lower() in name.lower() for name in device.opencl):
            found.append(f"OpenCL device {self.opencl!r} (it has {', '.join(device.opencl) or 'none'})")
        found += [f"processor feature {feature}" for feature in self.features if feature not in device.features]
        found += [f"engine {engine}" for engine in self.engines if engine not in worker.runtimes]
        for target in self.targets:
            found += [f"{what} (for target {target})" for what in fit.lacks(TARGETS[target].needs, device)]
        if device.memory_bytes < self.memory_mb << 20:
            found.append(f"{self.memory_mb} MiB of memory (it has {device.memory_bytes >> 20})")
        return found


class Pool(Data):
    """A pool as its operator defines it."""

    about: str = ""
    requires: Requirements = Requirements()


class _File(Data):
    pools: dict[PoolName, Pool]


def check_pool_name(name: str) -> None:
    """Return where a pool may be called so, as in a study: its name becomes a queue's.

    Raises:
        InputError: where it may not.
    """
    if len(name) > _LONGEST or not re.fullmatch(SLUG, name):
        raise InputError(
            f"--pool takes a name of at most {_LONGEST} letters, digits, '_', '.' and '-' that begins with a letter or "
            f"digit, as studies name pools, not {name!r}."
        )


def read_pools(path: Path) -> dict[str, Pool]:
    """The pools that a file defines, by name.

    Raises:
        InputError: if it is missing or not such a file; says where.
    """
    try:
        return _File.model_validate(read_yaml(path.read_text(encoding="utf-8"), f"The file of pools {path}")).pools
    except OSError as error:
        raise InputError(f"The file of pools {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The file of pools {path} is not UTF-8 text: {error}. Save it as UTF-8.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"The file of pools {path}: {where}: {first['msg']} (found {first['input']!r}).") from None


def admit(worker: WorkerRecord, pools: dict[str, Pool]) -> None:
    """Let a worker into its pool, or say why not.

    Raises:
        InputError: if the file does not define its pool, or its device lacks what the pool requires.
    """
    if worker.pool is None:
        return
    pool = pools.get(worker.pool)
    if pool is None:
        raise InputError(
            f"There is no pool {worker.pool!r} in the file of pools; it has {', '.join(sorted(pools)) or 'none'}. "
            "Add it there, or name one of these."
        )
    lacking = pool.requires.lacks(worker)
    if lacking:
        raise InputError(
            f"This device does not fit the pool {worker.pool!r}: it lacks {'; '.join(lacking)}. "
            "Name a pool that it fits, or change what the pool requires."
        )
