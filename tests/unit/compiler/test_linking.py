"""What TVM built, held against the device that is to compute, and the linker. Nothing is compiled here."""

import os
import shutil
from types import SimpleNamespace

import pytest
from deltann_compiler.linking import check_code, linker_of

from deltann.errors import JobFailure, WorkError
from deltann.outcome import Outcome
from deltann.targets import TARGETS


def built(kind, *imports):
    return SimpleNamespace(kind=kind, imports=list(imports))


@pytest.mark.parametrize(
    ("module", "target"),
    [
        (built("relax.VMExecutable", built("llvm")), "x86-64-v3"),
        (built("relax.VMExecutable", built("llvm", built("opencl"))), "opencl"),
        (built("llvm", built("cuda")), "cuda-sm80"),
    ],
)
def test_a_module_with_code_for_its_device_passes(module, target):
    check_code(module, TARGETS[target].needs)


@pytest.mark.parametrize("target", ["opencl", "cuda-sm80"])
def test_a_device_that_no_kernel_was_built_for_is_no_success(target):
    """Where no kernel is bound to threads, TVM builds all of them for the processor, without a word."""
    with pytest.raises(JobFailure, match=f"No kernel of this model became code for {target.partition('-')[0]}") as no:
        check_code(built("relax.VMExecutable", built("llvm")), TARGETS[target].needs)
    assert no.value.outcome is Outcome.COMPILE_FAILED


def test_a_linker_that_is_not_there_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert linker_of(os.uname().machine) is None
    with pytest.raises(WorkError, match=r"riscv64-linux-gnu-gcc.*apt-get install gcc-riscv64-linux-gnu"):
        linker_of("riscv64")
