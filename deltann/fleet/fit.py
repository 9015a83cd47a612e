"""Does a device have what a module needs? As far as the kernel tells; the rest shows when its runtime is asked."""

from __future__ import annotations

from deltann.fleet.device import DeviceInfo
from deltann.targets import Needs
from deltann.targets.needs import LINUX_FLAGS


def lacks(needs: Needs, device: DeviceInfo) -> list[str]:
    """What a device lacks, each in a few words; empty where it fits, or where nothing is known of it."""
    found = processor_lacks(needs, device)
    if needs.runtime == "cuda" and not device.gpus:
        found.append("an NVIDIA GPU")
    if needs.runtime == "opencl" and not device.opencl:
        found.append("an OpenCL device")
    return found


def processor_lacks(needs: Needs, device: DeviceInfo) -> list[str]:
    """The same, of its processor alone."""
    if needs.machine and device.arch and needs.machine != device.arch:
        return [f"a processor of {needs.machine}"]
    missing = [feature for feature in needs.features if feature not in device.features]
    return missing if _tells_features(device) else []


def _tells_features(device: DeviceInfo) -> bool:
    """Whether its kernel told any: under emulation it tells those of the machine underneath."""
    return not set(LINUX_FLAGS.get(device.arch, {}).values()).isdisjoint(device.features)
