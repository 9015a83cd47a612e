"""NVRTC itself: which version for which architecture, what it makes, and what it refuses."""

import struct

import pytest
from deltann_compiler.cuda import nvrtc
from deltann_compiler.cuda.nvrtc import DISTRIBUTIONS, RefusedError, compiler_for, installed, number_of

from deltann.errors import JobFailure
from deltann.outcome import Outcome

ADD = """
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
using cuda::std::int64_t;
static_assert(sizeof(int64_t) == 8 && sizeof(cuda::std::uint8_t) == 1);
static_assert(cuda::std::is_signed<int>::value && !cuda::std::is_signed<unsigned>::value);
static_assert(cuda::std::is_signed<float>::value && !cuda::std::is_unsigned<float>::value);
static_assert(cuda::std::is_same_v<cuda::std::conditional<true, int, float>::type, int>);
extern "C" __global__ void add(float* out, const float* a, int64_t n) {
  int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + 1.0f;
}
"""
_EM_CUDA = 190


@pytest.mark.parametrize("arch", ["sm_53", "sm_72", "sm_87", "sm_90", "sm_90a"])
def test_source_becomes_machine_code_of_the_architecture(arch):
    made = compiler_for(arch).compile(ADD, arch)
    assert made.cubin[:4] == b"\x7fELF"
    assert struct.unpack_from("<H", made.cubin, 18) == (_EM_CUDA,)
    assert f"Compiling entry function 'add' for '{arch}'" in made.log


def test_both_versions_are_loaded_and_each_architecture_has_the_oldest_that_knows_it():
    versions = [one.version for one in installed()]
    assert len(versions) == len(DISTRIBUTIONS)
    assert versions[0].startswith("12.")
    assert versions[1].startswith("13.")
    assert compiler_for("sm_72").version == versions[0]
    assert compiler_for("sm_87").version == versions[0]
    assert compiler_for("sm_110").version == versions[1]


def test_the_newer_version_compiles_beside_the_older():
    assert installed()[1].compile(ADD, "sm_110").cubin[:4] == b"\x7fELF"


def test_a_source_with_an_error_is_refused_with_the_compilers_words():
    with pytest.raises(RefusedError, match=r'identifier "blocklDx" is undefined'):
        compiler_for("sm_80").compile(ADD.replace("blockIdx", "blocklDx"), "sm_80")


def test_an_architecture_that_none_knows_says_what_there_is():
    with pytest.raises(JobFailure, match=r"compiles for sm_35: 12\.\d knows sm_50 to 121; 13\.\d knows") as failure:
        compiler_for("sm_35")
    assert failure.value.outcome is Outcome.COMPILE_FAILED


def test_without_nvrtc_the_distributions_to_install_are_named(monkeypatch):
    monkeypatch.setattr(nvrtc, "installed", lambda: ())
    with pytest.raises(JobFailure, match=f"there is none. Install {DISTRIBUTIONS[0]} or {DISTRIBUTIONS[1]}"):
        compiler_for("sm_80")


@pytest.mark.parametrize("arch", ["87", "compute_87", "sm_", "gfx900", ""])
def test_an_architecture_that_is_none_is_refused(arch):
    with pytest.raises(JobFailure, match="written as sm_87"):
        number_of(arch)
