"""Any bytes are labels or arrays, or are refused as none."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, scalar_dtypes

from deltann.data.arrays import read_arrays
from deltann.data.labels import read_labels
from deltann.errors import DataError

from .harness import METHODS, brief, hold, mutated, zipped

TABLE = b'file,label,note\na.png,0,"x, y"\nb/c.png,17,\n\n"d ""e"".png", 3,z\n'


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


X, Y = npy(np.arange(12, dtype=np.float32).reshape(3, 4)), npy(np.arange(3))


def headed(header: bytes, version: bytes = b"\x01\x00", data: bytes = bytes(16)) -> bytes:
    """An array with a header of one's own."""
    size = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + header + data


def shaped(descr: str = "'<f4'", shape: str = "(2, 2)") -> bytes:
    return headed(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".encode())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data") / "file"


def labels(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    hold(lambda: read_labels(place, "labels.csv"), DataError)


def inputs(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    hold(lambda: read_arrays(place, "data.npz"), DataError)


@brief(300)
@given(st.one_of(st.binary(max_size=200), mutated(TABLE), st.text(",\"'\n\r0a;\0 é", max_size=80).map(str.encode)))
@example(b"file,label\n" + b"x" * 200_000 + b",0\n")
@example(b"file,label\na," + b"9" * 100_000)
@example(b"x" * 5000)
@example(b"file,label\na\x00\x1b[2J.png,-1\n")
@example("file,label\n\u2028,\u2028\n".encode())
def test_any_table_of_labels(place: Path, content: bytes) -> None:
    labels(place, content)


@brief(250)
@given(st.one_of(st.binary(max_size=200), *(mutated(zipped({"x.npy": X, "y.npy": Y}, one)) for one in METHODS)))
def test_any_archive_of_arrays(place: Path, content: bytes) -> None:
    inputs(place, content)


@brief(300)
@given(st.one_of(mutated(X), st.text(max_size=60).map(lambda text: headed(text.encode()))), st.sampled_from([X, Y]))
@example(headed(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 2"), Y)  # TokenError of Python 2's headers
@example(headed(b"{" * 9000), Y)
@example(headed(b"-" * 9000 + b"1"), Y)
@example(headed(b"  x\n y"), Y)
@example(shaped(shape=f"({2**70}, 2)"), Y)
@example(shaped(shape=f"({2**40}, 2)"), Y)
@example(shaped(shape="(-1, 2)"), Y)
@example(shaped(shape="(True, 2)"), Y)
@example(shaped(shape="(0, " + "1, " * 80 + ")"), Y)
@example(shaped("'<f4\\x00'"), Y)
@example(shaped("'V99999999999'"), Y)
@example(shaped("[('a', '<f4', (2147483647, 2147483647))]"), Y)
@example(shaped("{'names': 1}"), Y)
@example(shaped("'|O'"), Y)
@example(X, shaped("'<f8'", "(3,)"))
def test_any_array_in_a_whole_archive(place: Path, x: bytes, y: bytes) -> None:
    inputs(place, zipped({"x.npy": x, "y.npy": y}))


@brief(100)
@given(
    arrays(scalar_dtypes(), array_shapes(max_side=4), fill=st.nothing()),
    arrays(scalar_dtypes(), array_shapes(max_dims=2, max_side=4), fill=st.nothing()),
)
def test_arrays_of_any_type(place: Path, x: Any, y: Any) -> None:
    inputs(place, zipped({"x.npy": npy(x), "y.npy": npy(y)}))
