"""A module that is not for the device it was given to, told from the file alone."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from deltann_engines import elf, placement

from deltann.errors import WrongDeviceError
from deltann.fleet.device import DeviceInfo
from deltann.targets import TARGETS, Needs

HERE = DeviceInfo(
    arch="x86_64", cpu="Zen 3", cores=8, memory_bytes=1 << 34, features=TARGETS["x86-64-v3"].needs.features
)
PI4 = DeviceInfo(
    arch="aarch64", cpu="Cortex-A72", cores=4, memory_bytes=1 << 32, features=("asimd",), board="Raspberry Pi 4"
)


def library(folder: Path, section: str | None) -> Path:
    """A real shared library, for this host, that says what it is given."""
    source = folder / "needs.s"
    source.write_text(f'.section {placement.SECTION},"",%progbits\n.ascii {section}\n' if section else "")
    path = folder / "module.so"
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "TVM links its modules with a C compiler; make setup installs one"
    subprocess.run([compiler, "-shared", "-nostdlib", "-o", path, source], check=True)
    return path


def quoted(needs: Needs) -> str:
    return '"' + needs.model_dump_json().replace('"', '\\"') + '"'


def test_a_module_says_what_it_needs(tmp_path: Path) -> None:
    needs = TARGETS["x86-64-v3"].needs
    path = library(tmp_path, quoted(needs))
    assert placement.check(path, HERE) == needs
    assert elf.section(path, ".nothing") is None


@pytest.mark.parametrize(
    ("target", "device", "words"),
    [
        ("x86-64-v4", HERE, ["x86-64-v4", "Zen 3 (x86_64)", "lacks avx512bw, avx512cd, avx512dq, avx512f, avx512vl:"]),
        ("raspberry-pi-4b", HERE, ["raspberry-pi-4b (aarch64)", "Zen 3 (x86_64)", "a processor of aarch64"]),
        ("x86-64-v2", PI4, ["x86-64-v2", "Raspberry Pi 4 (aarch64)", "a processor of x86_64"]),
        ("raspberry-pi-5", PI4, ["raspberry-pi-5", "Raspberry Pi 4 (aarch64)", "asimddp"]),
    ],
)
def test_the_wrong_device_is_refused_in_a_sentence_that_names_both(
    tmp_path: Path, target: str, device: DeviceInfo, words: list[str]
) -> None:
    path = library(tmp_path, quoted(TARGETS[target].needs))
    with pytest.raises(WrongDeviceError, match="pool whose devices are of that kind") as refused:
        placement.check(path, device)
    assert [word for word in words if word not in str(refused.value)] == []
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("section", [None, '"not JSON"', '"{}"'])
def test_a_module_that_does_not_say_is_held_against_its_header(tmp_path: Path, section: str | None) -> None:
    path = library(tmp_path, section)
    here = HERE.model_copy(update={"arch": platform.machine()})
    assert placement.check(path, here) == Needs(target="", machine=platform.machine())
    with pytest.raises(WrongDeviceError, match=platform.machine()):
        placement.check(path, here.model_copy(update={"arch": "riscv64"}))


def test_a_truncated_module_is_no_matter_of_devices(tmp_path: Path) -> None:
    path = library(tmp_path, quoted(TARGETS["x86-64-v4"].needs))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RuntimeError, match="truncated"):
        placement.check(path, HERE)
    assert elf.section(path, placement.SECTION) is None


@pytest.mark.parametrize(
    ("arch", "version", "runs"),
    [
        ("sm_80", "8.0", True),
        ("sm_80", "8.6", True),
        ("sm_86", "8.0", False),
        ("sm_72", "8.7", False),
        ("sm_90a", "9.0", True),
        ("sm_120", "12.0", True),
        ("sm_53", "5.3", True),
    ],
)
def test_code_for_a_gpu_runs_on_later_ones_of_its_major_version(arch: str, version: str, runs: bool) -> None:
    assert placement.runs_on(arch, version) is runs


@pytest.mark.parametrize(
    ("package", "told"),
    [
        (None, "the package deltann-tvm-opencl, which is not installed"),
        (SimpleNamespace(unavailable=lambda: "There is no driver. Install one."), "There is no driver. Install one)"),
    ],
)
def test_a_host_without_the_device_that_computes_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, package: object, told: str
) -> None:
    monkeypatch.setitem(sys.modules, "deltann_tvm_opencl", package)
    with pytest.raises(WrongDeviceError, match="compiled for opencl") as refused:
        placement.device_for(TARGETS["opencl"].needs)
    assert told in str(refused.value)
