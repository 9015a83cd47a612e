"""Targets as TVM and LLVM take them. Nothing is compiled here."""

import os

import pytest
from deltann_compiler.targets import lanes, needs_of, resolve

from deltann.errors import JobFailure
from deltann.outcome import Outcome
from deltann.targets import HOST, TARGETS, read_target

NAMED = [name for name in TARGETS if name != HOST]


@pytest.mark.parametrize("name", NAMED)
def test_a_named_target_is_what_the_table_says_and_needs_what_llvm_may_use(name):
    target = resolve(name)
    assert target == TARGETS[name].tvm
    assert needs_of(name, target) == TARGETS[name].needs


def test_the_host_is_its_own_processor():
    target = resolve(HOST)
    assert target["mcpu"] not in ("native", "generic")
    assert target["num-cores"] == os.cpu_count()
    assert needs_of(HOST, target).machine == os.uname().machine


def test_a_tag_is_written_out():
    assert resolve("raspberry-pi/4b-aarch64") == TARGETS["raspberry-pi-4b"].tvm
    assert resolve("arm/rk3399")["mcpu"] == "generic"
    xavier = resolve("nvidia/jetson-agx-xavier")
    assert (xavier["arch"], xavier["host"]["mcpu"]) == ("sm_72", "carmel")


def test_a_tag_is_given_the_host_that_it_lacks():
    nano = resolve(read_target({"tag": "nvidia/jetson-nano", "host": TARGETS["jetson-nano"].tvm["host"]}))
    assert (nano["kind"], nano["arch"], nano["host"]) == ("cuda", "sm_53", TARGETS["jetson-nano"].tvm["host"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("toaster", ["toaster", "`deltann targets`"]),
        ("cuda", ["sm_50"]),
        ("nvidia/jetson-nano", ["which processor drives the device", "{tag: nvidia/jetson-nano"]),
        ("nvidia/jetson-orin-nanoo", ["no tag", "Did you mean 'nvidia/jetson-orin-nano'?"]),
        ('{"kind":"llvm","mcpu":"znver9"}', ["'znver9'", "generic one", "Did you mean 'znver"]),
        ('{"kind":"llvm","mcpu":"cortex-a72","mtriple":"x86_64-linux-gnu"}', ["'cortex-a72'", "none of x86_64"]),
        ('{"kind":"llvm","mcpu":"x86-64-v3","mattr":["+avx1024"]}', ["avx1024", "leave out"]),
        ('{"kind":"llvm","mcpu":"x86-64-v3","mattr":["-avx512ff"]}', ["avx512ff", "leave out"]),
        ('{"kind":"llvm","mcpu":"x86-64-v3","mattr":["avx1024"]}', ["avx1024", "leave out"]),
        ('{"kind":"llvm","mcpu":"generic","mtriple":"toaster-linux"}', ["'toaster'", "LLVM does not know"]),
        ('{"kind":"llvm","mcpu":"generic","speed":3}', ["Unknown config option 'speed'"]),
        ('{"arch":"80","host":{"kind":"llvm","mcpu":"generic"},"kind":"cuda"}', ["invalid CUDA arch"]),
        ('{"kind":"toaster"}', ['"toaster" is not defined']),
        ('{"kind":"vulkan"}', ["no code generator for vulkan"]),
        ('{"kind":"ext_dev"}', ["no code generator for ext_dev"]),
    ],
)
def test_what_tvm_has_not_or_would_take_otherwise_is_a_failure_that_says_so(text, told):
    with pytest.raises(JobFailure) as failure:
        resolve(text)
    assert failure.value.outcome is Outcome.COMPILE_FAILED
    assert failure.value.stage == "target"
    assert [word for word in told if word not in failure.value.message] == []
    assert "\n" not in failure.value.message


@pytest.mark.parametrize(("name", "wide"), [("x86-64-v2", 4), ("x86-64-v3", 8), ("x86-64-v4", 16), ("rk3399", 4)])
def test_vectors_are_as_wide_as_the_processors(name, wide):
    import tvm

    with tvm.target.Target(resolve(name)):
        assert lanes() == wide
