from __future__ import annotations

import os

import onnx
import pytest

from deltann.errors import ModelError
from deltann.modelfile import inspect


@pytest.mark.parametrize("nested", [False, True])
def test_the_files_of_external_data_are_found(onnx_file, nested):
    path = onnx_file("folder/m.onnx", external="m.data", nested=nested)
    assert inspect(path, "m.onnx").beside == (path.parent / "m.data",)
    assert inspect(path.parent, "folder").beside == (path.parent / "m.data",)


def test_a_model_with_all_inside_has_none(onnx_file):
    assert inspect(onnx_file(), "m.onnx").beside == ()


def moved(path, location):
    """Another location for the external data, which the ``onnx`` package itself would not write."""
    model = onnx.load(path, load_external_data=False)
    for entry in model.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = location
    path.write_bytes(model.SerializeToString())


@pytest.mark.parametrize("location", ["../m.data", "/etc/passwd", "a/../../m.data", "", "a\0b", "link"])
def test_external_data_outside_the_models_folder_is_not_read(onnx_file, tmp_path, location):
    path = onnx_file("folder/m.onnx", external="m.data")
    (tmp_path / "m.data").write_bytes(bytes(1000))
    (path.parent / "link").symlink_to(tmp_path / "m.data")
    moved(path, location)
    with pytest.raises(ModelError, match=r"outside the model's folder.*save_as_external_data=False") as caught:
        inspect(path, "m.onnx")
    assert "\n" not in str(caught.value)


def test_external_data_that_is_missing_or_truncated_is_named(onnx_file):
    path = onnx_file(external="m.data")
    os.truncate(path.parent / "m.data", 255)
    with pytest.raises(ModelError, match=r"'m\.data', which is truncated: it has 255 bytes where at least 256"):
        inspect(path, "m.onnx")
    (path.parent / "m.data").unlink()
    with pytest.raises(ModelError, match=r"'m\.data', which is not there.*save_as_external_data=False"):
        inspect(path, "m.onnx")
