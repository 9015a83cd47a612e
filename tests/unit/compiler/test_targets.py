"""Targets by name."""

import os

import pytest
from deltann_compiler.targets import resolve

from deltann.errors import JobFailure
from deltann.outcome import Outcome
from deltann.targets import TARGETS


@pytest.mark.parametrize("name", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_a_named_target_is_its_processor_with_this_hosts_cores(name):
    assert resolve(name) == {"kind": "llvm", "mcpu": name, "num-cores": os.cpu_count()}


def test_a_device_is_driven_by_a_processor_that_is_named_too():
    assert resolve("opencl") == TARGETS["opencl"]
    assert TARGETS["opencl"]["host"]["kind"] == "llvm"


def test_an_unknown_target_is_a_failure_that_names_those_there_are():
    with pytest.raises(JobFailure) as failure:
        resolve("toaster")
    assert failure.value.outcome is Outcome.COMPILE_FAILED
    assert failure.value.stage == "target"
    for name in ("toaster", "host", *TARGETS):
        assert name in str(failure.value)
