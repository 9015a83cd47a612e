"""Kernels that are compiled once and linked into many modules."""

import numpy as np
import pytest
from deltann_compiler import frontends
from deltann_compiler.build import export, lower
from deltann_compiler.reuse import Objects
from deltann_compiler.targets import needs_of, resolve
from deltann_engines.base import load
from deltann_engines.describe import describe

from deltann.kinds.compile import CompileParams
from deltann.mutation import Mutation


@pytest.fixture(scope="module")
def net(nets, tmp_path_factory):
    path = nets.mixed(tmp_path_factory.mktemp("net") / "net.onnx")
    info = describe(path, "onnx")
    return frontends.load(path, info)[0], info


def built(net, folder, name, level=2, objects=None, change=None):
    module, info = net
    target = resolve("host")
    lowered, _ = lower(module, CompileParams(level=level), target)
    path = folder / f"{name}.so"
    ready = change(lowered.module) if change else lowered.module
    export(ready, target, path, needs_of("host", target), objects)
    x = np.random.default_rng(0).standard_normal((1, 3, 16, 16)).astype(np.float32)
    with load("tvm", path, info) as session:
        return session.run(x)


@pytest.mark.parametrize("level", [0, 2, 4])
def test_a_module_of_kernels_by_themselves_answers_the_same_bit_by_bit(net, tmp_path, level):
    objects = Objects()
    whole = built(net, tmp_path, "whole", level)
    np.testing.assert_array_equal(built(net, tmp_path, "parted", level, objects), whole)
    assert (objects.compiled > 5, objects.reused) == (True, 0)
    first = objects.compiled
    np.testing.assert_array_equal(built(net, tmp_path, "again", level, objects), whole)
    assert (objects.compiled, objects.reused) == (first, first)


def test_a_mutant_compiles_the_kernel_that_differs_and_no_other(net, tmp_path):
    from deltann_compiler.mutation.kernel import mutate_kernels

    objects = Objects()
    whole = built(net, tmp_path, "whole", objects=objects)
    first = objects.compiled

    def mutant(module):
        wanted = {"operator": "multiply_store_value", "parameters": {"factor": 3}, "at": {"occurrence": 0}}
        return mutate_kernels(module, Mutation.model_validate(wanted)).module

    other = built(net, tmp_path, "mutant", objects=objects, change=mutant)
    assert (objects.compiled, objects.reused) == (first + 1, first - 1)
    assert not np.array_equal(other, whole)
    np.testing.assert_array_equal(other, built(net, tmp_path, "alone", change=mutant))


def test_what_was_used_longest_ago_goes_first(monkeypatch):
    import deltann_compiler.reuse as reuse

    monkeypatch.setattr(reuse, "_compile", lambda name, function, target: bytes(100))
    monkeypatch.setattr(reuse, "_MOST_BYTES", 250)
    objects = Objects()
    for name in ("a", "b", "a", "c"):
        objects.of(name, None, "t")
    assert list(objects.kept) == ["a t", "c t"]
