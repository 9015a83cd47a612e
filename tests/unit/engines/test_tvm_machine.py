import platform
import sys
from pathlib import Path

import pytest
from deltann_engines.tvm_engine import _explain, _machine


def test_machine_is_that_of_this_interpreter():
    assert _machine(Path(sys.executable)) == platform.machine()


@pytest.mark.parametrize(
    ("order", "bytes_", "name"), [(1, b"\xb7\x00", "aarch64"), (2, b"\x00\x28", "arm"), (1, b"\xff\xff", None)]
)
def test_machine_is_read_in_the_file_s_own_byte_order(tmp_path, order, bytes_, name):
    path = tmp_path / "module.so"
    path.write_bytes(b"\x7fELF\x02" + bytes([order]) + bytes(12) + bytes_)
    assert _machine(path) == name


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"MZ" + bytes(40)])
def test_machine_is_unknown_for_what_is_no_elf(tmp_path, content):
    path = tmp_path / "module.so"
    path.write_bytes(content)
    assert _machine(path) is None


def test_explain_gives_the_reason_without_the_traceback():
    assert _explain("Traceback:\n  File x\n\nRuntimeError: bad magic\n") == "RuntimeError: bad magic"
