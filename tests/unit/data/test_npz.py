"""Archives that are made to fill a machine's memory, and others that are not what they say."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deltann.data.npz as npz
from deltann.cli.outputs import read_outputs
from deltann.data import read_arrays, read_npz
from deltann.errors import DataError

X = np.arange(12, dtype=np.float32).reshape(3, 4)
GIB = 1 << 30


def npy(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    """The header of an array of that shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue()


def bomb(path: Path, name: str, gib: int, *, entries: int = 1) -> Path:
    """A real archive whose arrays of zeros are a thousand times as long as the file."""
    zeros = bytes(16 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for entry in range(entries):
            with archive.open(name if entries == 1 else f"{name}{entry}", "w", force_zip64=True) as file:
                file.write(npy((gib << 28,)))
                for _ in range(gib * GIB // len(zeros)):
                    file.write(zeros)
    return path


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "data.npz", "x.npy", 1)
    assert path.stat().st_size < 8 << 20
    monkeypatch.setattr(npz, "MOST_BYTES", GIB)  # one header less than it would need
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(DataError, match=r"The arrays in data\.npz take 1\.0 GiB of memory") as caught:
        read_arrays(path, "data.npz")
    assert "\n" not in str(caught.value)


def test_a_bomb_takes_no_memory_of_a_process_that_has_little(tmp_path: Path) -> None:
    """A real process with 1.5 GiB of address space is given 6 GiB of zeros whose directory says that they are few."""
    path = tmp_path / "data.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy((6 << 28,)) + bytes(100_000))
    code = (
        "import resource, sys; from pathlib import Path; from deltann.data import read_arrays\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))\n"
        "try: read_arrays(Path(sys.argv[1]), 'data.npz')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    command = [sys.executable, "-c", code, str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.startswith("DataError data.npz is a damaged .npz file (x.npy declares 6442450944 bytes of data and")


def test_what_several_arrays_take_counts_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "data.npz", x=np.zeros((4, 1000)), y=np.zeros(4000), other=np.zeros(10**6))
    monkeypatch.setattr(npz, "MOST_BYTES", 70_000)
    assert set(read_npz(tmp_path / "data.npz", "data.npz", ("x", "y"))) == {"x", "y"}
    monkeypatch.setattr(npz, "MOST_BYTES", 60_000)
    with pytest.raises(DataError, match="take"):
        read_npz(tmp_path / "data.npz", "data.npz", ("x", "y"))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_not_unpacked(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "data.npz", "w", method) as archive:
        archive.writestr("x.npy", npy(X.shape) + X.tobytes())
    with pytest.raises(DataError, match="compressed as NumPy does not do it"):
        read_arrays(tmp_path / "data.npz", "data.npz")


class Evil:
    """Leaves a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


def test_a_pickle_in_an_array_is_never_read(tmp_path: Path) -> None:
    mark, path = tmp_path / "mark", tmp_path / "data.npz"
    np.savez(path, x=np.array([[Evil(mark)]], object), labels=np.array([[Evil(mark)]], object), valid=[True])
    for read in (lambda: read_arrays(path, "data.npz"), lambda: read_outputs(path)):
        with pytest.raises(DataError, match="runs whatever code"):
            read()
    with zipfile.ZipFile(path, "w") as archive:  # a pickle that says it is numbers
        archive.writestr("x.npy", npy((1, 1)) + pickle.dumps(Evil(mark)))
    with pytest.raises(DataError, match="declares 4 bytes of data and has"):
        read_arrays(path, "data.npz")
    assert not mark.exists()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_writes_is_read_as_numpy_reads_it(tmp_path: Path, save: Any) -> None:
    arrays = {
        "fortran": np.asfortranarray(X),
        "scalar": np.float64(3),
        "none": np.zeros((0, 4)),
        "text": np.array(["a", "éü"]),
        "structure": np.zeros(3, [("a", "<f4"), ("b", "<i8")]),
        "long": np.zeros(2, [(f"a rather long name of a field {n}", "<f4") for n in range(150)]),
    }
    save(tmp_path / "data.npz", **arrays)
    found = read_npz(tmp_path / "data.npz", "data.npz", [*arrays, "not there"])
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)
