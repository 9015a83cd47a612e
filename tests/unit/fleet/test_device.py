import os
from pathlib import Path

import pytest

from deltann.fleet.device import DeviceInfo, Readings, describe_device, read_now


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_this_host_is_what_its_kernel_says():
    device = describe_device()
    assert device.arch == os.uname().machine
    assert device.cores == len(os.sched_getaffinity(0))
    assert device.cpu
    assert device.cpu == device.arch or device.cpu in Path("/proc/cpuinfo").read_text()
    assert 1 << 28 < device.memory_bytes <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_a_raspberry_pi(tmp_path: Path):
    root = write(
        tmp_path,
        {
            "proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd evtstrm crc32\n\nHardware\t: BCM2835\n"
            "Model\t\t: Raspberry Pi 4 Model B Rev 1.4\n",
            "proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0",
        },
    )
    device = describe_device(root)
    assert device.cpu == device.board == "Raspberry Pi 4 Model B Rev 1.4"
    assert device.features == ("asimd",)
    assert device.gpus == ()


def test_a_server_with_gpus_inside_a_container_of_one_gib(tmp_path: Path):
    root = write(
        tmp_path,
        {
            "proc/cpuinfo": "model name\t: Xeon\nflags\t\t: sse sse4_2 avx2 avx512f\n",
            "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA A100\nIRQ: 5\n",
            "proc/driver/nvidia/gpus/0000:02:00.0/information": "Model: \t\t NVIDIA T4\n",
            "sys/fs/cgroup/memory.max": "1073741824\n",
        },
    )
    device = describe_device(root)
    assert (device.cpu, device.gpus) == ("Xeon", ("NVIDIA A100", "NVIDIA T4"))
    assert device.features == ("avx2", "avx512f", "sse4_2")
    assert device.memory_bytes == 1 << 30


def test_a_jetson_has_a_gpu_of_its_own(tmp_path: Path):
    root = write(tmp_path, {"dev/nvhost-gpu": "", "proc/device-tree/model": "NVIDIA Jetson AGX Orin\0"})
    assert describe_device(root).gpus == ("integrated NVIDIA GPU",)


def test_the_hottest_zone_counts(tmp_path: Path):
    root = write(
        tmp_path,
        {
            "sys/class/thermal/thermal_zone0/temp": "41200\n",
            "sys/class/thermal/thermal_zone1/temp": "63750\n",
            "sys/class/thermal/thermal_zone2/temp": "not a number\n",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "1800000\n",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        },
    )
    now = read_now(root)
    assert (now.temperature_c, now.frequency_mhz, now.governor) == (63.75, 1800.0, "performance")


@pytest.mark.parametrize("root", ["nothing", "."])
def test_nothing_to_read_is_no_error(tmp_path: Path, root: str):
    assert isinstance(describe_device(tmp_path / root), DeviceInfo)
    now = read_now(tmp_path / root)
    assert isinstance(now, Readings)
    assert (now.temperature_c, now.frequency_mhz, now.governor) == (None, None, "")
