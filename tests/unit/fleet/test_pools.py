from pathlib import Path

import pytest

from deltann.errors import InputError
from deltann.fleet import DeviceInfo, WorkerRecord, read_pools
from deltann.fleet.pools import Pool, Requirements, admit, check_pool_name
from deltann.worker.main import run

DEVICE = DeviceInfo(
    arch="aarch64", cpu="Cortex-A72", cores=4, memory_bytes=4 << 30, features=("asimd",), board="Raspberry Pi 4"
)


def worker(pool: str | None = "pi4", **device: object) -> WorkerRecord:
    return WorkerRecord(
        host="pi",
        pid=7,
        service="executor",
        queue=f"exec.{pool}",
        pool=pool,
        started=0,
        seen=0,
        runtimes={"tvm": "0.27", "tflite": "2.3"},
        device=DEVICE.model_copy(update=device),
    )


def test_a_file_of_pools(tmp_path: Path):
    path = tmp_path / "pools.yaml"
    path.write_text("pools:\n  cpu: {}\n  pi4: {about: boards, requires: {arch: aarch64, engines: [tvm]}}\n")
    pools = read_pools(path)
    assert list(pools) == ["cpu", "pi4"]
    assert pools["pi4"] == Pool(about="boards", requires=Requirements(arch="aarch64", engines=("tvm",)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pools: {a b: {}}", "pools.a b"),
        ("pools: {'a/b': {}}", "pools.a/b"),
        ("pools: {cpu: {requires: {colour: red}}}", "pools.cpu.requires.colour"),
        ("pools: {cpu: {requires: {memory_mb: -1}}}", "found -1"),
        ("pools: {cpu: {requires: {targets: [raspberry-pi-4]}}}", "did you mean 'raspberry-pi-4b'"),
        ("pools: {cpu: {requires: {targets: [arm/rk3399]}}}", "should be a target that `deltann targets` lists"),
        ("pols: {}", "pols"),
        ("- 1", "the file"),
        ("pools: [", "is not YAML"),
        ("", "the file"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, told: str):
    path = tmp_path / "pools.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_pools(path)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="cannot be read"):
        read_pools(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("requires", "lacking"),
    [
        ({}, None),
        ({"arch": "aarch64", "board": "raspberry", "features": ["asimd"], "engines": ["tvm"], "memory_mb": 4096}, None),
        ({"arch": "x86_64"}, "architecture x86_64 (it is aarch64)"),
        ({"board": "Jetson"}, "board 'Jetson' (it is 'Raspberry Pi 4')"),
        ({"gpu": "A100"}, "GPU 'A100' (it has none)"),
        ({"opencl": "Mali"}, "OpenCL device 'Mali' (it has none)"),
        ({"features": ["asimd", "sve"]}, "processor feature sve"),
        ({"engines": ["tvm", "torch"]}, "engine torch"),
        ({"targets": ["raspberry-pi-4b", "arm64-generic"]}, None),
        ({"targets": ["x86-64-v3"]}, "a processor of x86_64 (for target x86-64-v3)"),
        ({"targets": ["raspberry-pi-5"]}, "asimddp (for target raspberry-pi-5)"),
        ({"targets": ["jetson-nano"]}, "an NVIDIA GPU (for target jetson-nano)"),
        ({"memory_mb": 4097}, "4097 MiB of memory (it has 4096)"),
    ],
)
def test_a_device_has_to_be_what_its_pool_requires(requires: dict[str, object], lacking: str | None):
    pools = {"pi4": Pool(requires=Requirements.model_validate(requires))}
    if lacking is None:
        admit(worker(), pools)
        return
    with pytest.raises(InputError) as raised:
        admit(worker(), pools)
    assert f"it lacks {lacking}" in str(raised.value)


def test_a_pool_can_be_of_an_opencl_device():
    pools = {"pi4": Pool(requires=Requirements(opencl="mali-g72"))}
    admit(worker(opencl=("pthread-cortex", "Mali-G72 r0p3")), pools)
    with pytest.raises(InputError, match=r"OpenCL device 'mali-g72' \(it has Intel Gen9, pthread\)"):
        admit(worker(opencl=("Intel Gen9", "pthread")), pools)


def test_everything_that_lacks_is_told_at_once():
    pools = {"pi4": Pool(requires=Requirements(arch="x86_64", gpu="T4", engines=("torch",)))}
    with pytest.raises(InputError, match=r"x86_64.*; GPU 'T4'.*; engine torch"):
        admit(worker(), pools)


def test_a_pool_that_is_not_defined_is_refused_and_a_service_has_none():
    with pytest.raises(InputError, match=r"no pool 'pi4'.*it has cpu, gpu"):
        admit(worker(), {"gpu": Pool(), "cpu": Pool()})
    admit(worker(pool=None), {})


@pytest.mark.parametrize("name", ["cpu", "pi4.lab-2_b", "7", "x" * 63])
def test_a_pools_name_is_that_of_a_queue(name: str) -> None:
    check_pool_name(name)


@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "../x", ".x", "-x", "cpu\n", "ü", "x" * 64, "a\x06b"])
def test_a_worker_for_a_pool_that_no_study_could_name_does_not_start(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--pool takes a name of at most 63 letters, digits"):
        run("analyzer", name, redis_url="redis://127.0.0.1:1/0", store_url=str(tmp_path / "store"))
    assert not (tmp_path / "store").exists()
