"""TVM's packed modules, written by hand and read."""

import struct

import pytest
from deltann_compiler.cuda.imports import packed, replaced, with_cubin

TREE = struct.pack("<Q4Q", 4, 0, 1, 2, 2) + struct.pack("<Q2Q", 2, 1, 2)
"""Three modules, each the only child of the one before."""


def blob(*modules):
    parts = [packed(kind) if held is None else packed(kind) + packed(held) for kind, held in modules]
    return packed(TREE + b"".join(parts))


VM, LIBRARY, GPU = (b"relax.VMExecutable", b"bytecode"), (b"_lib", None), (b"cuda", b"old")


def test_only_modules_of_the_kind_are_changed_and_lengths_follow():
    changed = replaced(blob(VM, LIBRARY, GPU), "cuda", lambda held: held + b" and new")
    assert changed == blob(VM, LIBRARY, (b"cuda", b"old and new"))


def test_what_changes_nothing_gives_the_same_bytes():
    whole = blob(LIBRARY, GPU, VM)
    assert replaced(whole, "cuda", lambda held: held) == whole


@pytest.mark.parametrize("damage", [lambda whole: whole[:-1], lambda whole: whole + b"x"])
def test_another_layout_is_refused(damage):
    with pytest.raises(ValueError, match="not the layout"):
        replaced(damage(blob(VM, LIBRARY, GPU)), "cuda", lambda held: held)


def test_a_module_of_source_becomes_one_of_machine_code_with_the_same_kernels():
    kernels = b"\1\2\3 the map of kernels"
    module = packed(b"cuda") + kernels + packed(b"source")
    assert with_cubin(module, "source", b"\x7fELF") == packed(b"cubin") + kernels + packed(b"\x7fELF")


@pytest.mark.parametrize(
    "module", [packed(b"ptx") + packed(b"source"), packed(b"cuda") + packed(b"another source"), b""]
)
def test_a_module_of_something_else_is_refused(module):
    with pytest.raises(ValueError, match="in another way"):
        with_cubin(module, "source", b"\x7fELF")
