"""What `bench/gpu_check.py` takes along: the wheels that fit, and weights that compress."""

import importlib.util
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[3] / "bench"


def load(name):
    spec = importlib.util.spec_from_file_location(f"deltann_bench_{name}", BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


gpu_check, gpu_prepare = load("gpu_check"), load("gpu_prepare")


@pytest.mark.parametrize(
    ("wheel", "of_3_11", "of_3_12"),
    [
        ("apache_tvm_ffi-0.1.14.post1-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl", True, False),
        ("apache_tvm_ffi-0.1.14.post1-cp312-cp312-manylinux_2_28_x86_64.whl", False, True),
        ("some-1.0-cp39-abi3-manylinux_2_28_x86_64.whl", True, True),
        ("some-1.0-cp312-abi3-manylinux_2_28_x86_64.whl", False, True),
        ("apache_tvm-0.27.0.post1+deltann.runtime-py3-none-manylinux_2_28_x86_64.whl", True, True),
        ("six-1.17.0-py2.py3-none-any.whl", True, True),
    ],
)
def test_wheels_are_taken_for_the_python_that_they_are_for(wheel, of_3_11, of_3_12):
    assert gpu_check.fits(wheel, (3, 11)) is of_3_11
    assert gpu_check.fits(wheel, (3, 12)) is of_3_12


@pytest.mark.parametrize("shape", [(256, 128, 3, 3), (512, 512, 1, 1), (64, 1, 11, 11), (1000, 1280), (20000,)])
def test_made_up_weights_have_the_spread_of_the_real_ones_and_compress_in_every_layout(shape):
    weight = (np.random.default_rng(1).standard_normal(shape) * 0.02).astype(np.float32)
    made = gpu_prepare.windows(weight)
    assert (made.shape, made.dtype) == (weight.shape, weight.dtype)
    assert made.std() == pytest.approx(0.02, rel=0.2)
    assert abs(made.mean()) < 0.005
    hwio = np.ascontiguousarray(np.moveaxis(made, [0, 1], [-1, -2])) if made.ndim == 4 else made
    assert len(lzma.compress(hwio.tobytes(), preset=6)) < max(made.nbytes / 20, 20000)


def test_made_up_outputs_of_one_input_differ():
    made = gpu_prepare.windows(
        np.ones((64, 32, 3, 3), np.float32) * np.arange(64, dtype=np.float32).reshape(-1, 1, 1, 1)
    )
    rows = made.reshape(64, -1)
    assert np.abs(np.corrcoef(rows) - np.eye(64)).max() < 0.5
