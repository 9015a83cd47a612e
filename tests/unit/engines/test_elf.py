import platform
import struct
import sys
from pathlib import Path

import pytest
from deltann_engines import elf
from deltann_engines.tvm_engine import explain
from hypothesis import given
from hypothesis import strategies as st


def header(machine, sections=64, order="<", bits=64):
    fields = (3, machine, 1, 0, 0, sections, 0, 0, 0, 0, 64, 2, 1)
    body = struct.pack(f"{order}HHI{'QQQ' if bits == 64 else 'III'}IHHHHHH", *fields)
    return b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2]) + bytes(10) + body


def test_the_interpreter_itself_is_whole_and_of_this_host():
    assert elf.read(Path(sys.executable)) == elf.Header(platform.machine(), whole=True)


@pytest.mark.parametrize(
    ("content", "machine"),
    [
        (header(183), "aarch64"),
        (header(62), "x86_64"),
        (header(40, order=">", bits=32), "arm"),
        (header(243, order=">"), "riscv64"),
        (header(0xFFF), None),
    ],
)
def test_the_machine_is_read_in_the_file_s_own_order_and_width(tmp_path, content, machine):
    path = tmp_path / "module.so"
    path.write_bytes(content.ljust(64 + 2 * 64, b"\0"))
    assert elf.read(path) == elf.Header(machine, whole=True)


@given(st.integers(16, 64 + 2 * 64 - 1))
def test_a_file_that_ends_before_its_sections_is_not_whole(tmp_path_factory, length):
    path = tmp_path_factory.getbasetemp() / "short.so"
    path.write_bytes(header(62).ljust(64 + 2 * 64, b"\0")[:length])
    found = elf.read(path)
    assert found is None if length == 16 else not found.whole


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"MZ" + bytes(80)])
def test_what_is_no_elf_has_no_header(tmp_path, content):
    path = tmp_path / "module.so"
    path.write_bytes(content)
    assert elf.read(path) is None


def test_explain_gives_the_reason_without_the_traceback():
    assert explain("Traceback:\n  File x\n\nRuntimeError: bad magic\n") == "RuntimeError: bad magic"
