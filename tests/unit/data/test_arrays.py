from __future__ import annotations

import random
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deltann.data import read_arrays
from deltann.errors import DataError

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def read(tmp_path: Path, **arrays: Any) -> tuple[np.ndarray, np.ndarray | None]:
    np.savez(tmp_path / "data.npz", **arrays)
    return read_arrays(tmp_path / "data.npz", "data.npz")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float64])
def test_whole_numbers_of_any_type_are_labels(tmp_path: Path, dtype: Any) -> None:
    x, y = read(tmp_path, x=X, y=np.array([2, 0, 1], dtype))
    assert (x == X).all()
    assert y is not None
    assert y.tolist() == [2, 0, 1]
    assert y.dtype == np.int64


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.uint8, np.int64, np.bool_])
def test_inputs_keep_their_type(tmp_path: Path, dtype: Any) -> None:
    x, y = read(tmp_path, x=X.astype(dtype), extra=np.array(["a"]))
    assert x.dtype == dtype
    assert y is None


NAN = np.where(np.arange(12).reshape(3, 4) == 9, np.nan, X)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"inputs": X}, "no array x"),
        ({"x": X[:0]}, r"shape \[0, 4\].*at least one input"),
        ({"x": X[0]}, r"shape \[4\]"),
        ({"x": np.float32(1)}, r"shape \[\]"),
        ({"x": NAN}, r"1 of the 3 inputs .* the first is x\[2\]"),
        ({"x": X + np.inf}, "3 of the 3 inputs"),
        ({"x": X.astype(str)}, "of type <U"),
        ({"x": X.astype(complex)}, "of type complex128"),
        ({"x": np.array([[1, None]], object)}, "runs whatever code"),
        ({"x": X, "y": np.array([0, 1, {}], object)}, "runs whatever code"),
        ({"x": X, "y": np.array([0, 1])}, r"3 inputs in x but labels of shape \[2\]"),
        ({"x": X, "y": np.eye(3)}, r"one-hot, save y\.argmax"),
        ({"x": X, "y": np.array([0.0, 1.5, 1.0])}, r"1 of the labels .* y\[1\] = 1\.5"),
        ({"x": X, "y": np.array([0, -1, -2])}, r"2 of the labels .* y\[1\] = -1"),
        ({"x": X, "y": np.array([np.nan, 0, 0])}, r"y\[0\] = nan"),
        ({"x": X, "y": np.array([0, 0, 2**40])}, r"y\[2\] = 1099511627776"),
        ({"x": X, "y": np.array(["cat", "dog", "cat"])}, "Save class numbers"),
    ],
)
def test_arrays_that_are_no_data_set_are_one_paragraph(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read(tmp_path, **arrays)
    assert "\n" not in str(caught.value)
    assert "data.npz" in str(caught.value)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_file_cut_or_damaged_anywhere_raises_nothing_but_a_data_error(tmp_path: Path, save: Any) -> None:
    save(tmp_path / "whole.npz", x=X, y=np.arange(3))
    content, chance, path = (tmp_path / "whole.npz").read_bytes(), random.Random(0), tmp_path / "data.npz"
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"data\.npz"):
            read_arrays(path, "data.npz")
    for _ in range(500):
        damaged = bytearray(content)
        damaged[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(damaged)
        with suppress(DataError):
            read_arrays(path, "data.npz")


def test_what_is_named_npz_only(tmp_path: Path) -> None:
    with (tmp_path / "data.npz").open("wb") as file:
        np.save(file, X)
    with pytest.raises(DataError, match=r"no \.npz file"):
        read_arrays(tmp_path / "data.npz", "data.npz")
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        archive.writestr("x", b"no array")
    with pytest.raises(DataError, match="no array x"):
        read_arrays(tmp_path / "data.npz", "data.npz")
