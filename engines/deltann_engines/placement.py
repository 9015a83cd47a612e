"""Whether a compiled module is for the device it was given to: told before any of its code runs.

A module that DeltaNN compiles says in a section of its own what it needs. One that does not say is held against its
header alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deltann.errors import WrongDeviceError
from deltann.fleet.device import DeviceInfo
from deltann.fleet.fit import processor_lacks
from deltann.targets import Needs
from deltann_engines import accelerators, elf

SECTION = ".deltann.needs"
"""Of a module: the JSON of its :class:`deltann.targets.Needs`."""
_SHOWN = 5
_ADVICE = "compile for this device, or execute in a pool whose devices are of that kind"


def check(path: Path, device: DeviceInfo) -> Needs:
    """What a module needs, if this device has it.

    Args:
        path: of the module.
        device: that is to run it.

    Raises:
        RuntimeError: where the file is truncated: it would end the process with a bus error.
        WrongDeviceError: where the device lacks something, in a sentence that names both.
    """
    header = elf.read(path)
    if header is not None and not header.whole:
        raise RuntimeError("the file is truncated: fetch or compile it again")
    needs = _told(path)
    machine = needs.machine or ((header.machine or "") if header else "")
    needs = needs.model_copy(update={"machine": machine})
    if found := processor_lacks(needs, device):
        lacking = ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
        raise _wrong(needs, f"{device.board or device.cpu} ({device.arch}), which lacks {lacking}")
    return needs


def device_for(needs: Needs) -> Any:
    """TVM's device that computes, if it is there and of the module's kind.

    Raises:
        WrongDeviceError: where it is not, in a sentence that names both.
    """
    try:
        device = accelerators.device_of(needs.runtime)
    except RuntimeError as error:
        raise _wrong(needs, f"a host without such a device ({str(error).rstrip('.')})") from error
    if needs.arch and not runs_on(needs.arch, str(device.compute_version)):
        raise _wrong(needs, f"{device.device_name}, of compute capability {device.compute_version}")
    return device


def runs_on(arch: str, version: str) -> bool:
    """Whether code for a CUDA architecture, ``sm_86``, runs on a compute capability, ``8.9``.

    It runs on later ones of the same major version.
    """
    digits = arch.removeprefix("sm_").rstrip("af")
    major, _, minor = version.partition(".")
    return digits[:-1] == major and int(digits[-1]) <= int(minor or 0)


def _told(path: Path) -> Needs:
    try:
        return Needs.model_validate_json(elf.section(path, SECTION) or b"")
    except ValidationError:
        return Needs(target="")


def _wrong(needs: Needs, device: str) -> WrongDeviceError:
    kind = " ".join(filter(None, (needs.arch, needs.machine)))
    what = f"{needs.target} ({kind})" if needs.target else kind or needs.runtime
    return WrongDeviceError(f"the module was compiled for {what} and was given to {device}: {_ADVICE}")
