from __future__ import annotations

import os
import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltann.errors import ModelError
from deltann.modelfile import inspect

FORMATS = ["keras", "pt2", "old pt2", "torchscript", "onnx", "tflite"]
SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODELS = SHARED / "data/models/mobilenet_v2"
shared = pytest.mark.skipif(not MODELS.exists(), reason=f"the shared MobileNetV2 is not at {MODELS} (DELTANN_SHARED)")


def refused(path: Path, *words: str) -> str:
    """The one paragraph that a file is refused with."""
    with pytest.raises(ModelError) as caught:
        inspect(path, "the file")
    message = str(caught.value)
    assert message.startswith("the file ")
    assert "\n" not in message
    for word in words:
        assert word in message
    return message


@pytest.mark.parametrize("kind", FORMATS)
def test_a_whole_file_is_told_by_its_content_whatever_its_name(whole, kind, tmp_path):
    elsewhere = tmp_path / "model.bin"
    elsewhere.write_bytes(whole[kind].read_bytes())
    assert inspect(elsewhere, "the file").format == kind.removeprefix("old ")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_cut_anywhere_is_refused(whole, kind, tmp_path):
    content = whole[kind].read_bytes()
    cut = tmp_path / f"cut{whole[kind].suffix}"
    for length in range(len(content.rstrip(b"\0")) if kind == "tflite" else len(content)):  # it ends in padding
        cut.write_bytes(content[:length])
        refused(cut)


@shared
@pytest.mark.parametrize(
    "name",
    [
        "mobilenet_v2.pt2",
        "mobilenet_v2.torchscript.pt",
        "mobilenet_v2.onnx",
        "mobilenet_v2.tflite",
        "mobilenet_v2.keras",
    ],
)
def test_a_real_file_cut_anywhere_is_refused(name, tmp_path):
    cut = tmp_path / name
    cut.write_bytes((MODELS / name).read_bytes())
    assert inspect(cut, "the file").beside == ()
    size = cut.stat().st_size
    at_random = random.Random(0).sample(range(size), 30)
    for length in sorted({*at_random, 4, 16, size // 2, *(size - near for near in range(1, 40))}, reverse=True):
        os.truncate(cut, length)
        refused(cut)


@shared
def test_a_real_saved_model_is_whole():
    assert inspect(MODELS / "saved_model", "the folder").format == "savedmodel"


@pytest.mark.parametrize("kind", FORMATS)
def test_damage_is_never_raises_anything_but_a_model_error(whole, kind, tmp_path):
    content, chance = whole[kind].read_bytes(), random.Random(1)
    path = tmp_path / f"damaged{whole[kind].suffix}"
    for _ in range(500):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        with suppress(ModelError):
            inspect(path, "the file")


@given(st.binary(max_size=64))
def test_no_content_raises_anything_but_a_model_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    with pytest.raises(ModelError):
        inspect(path, "the file")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x80\x04cos\nsystem\n.", "torch.export.save"),
        (b"\x89HDF\r\n\x1a\n" + bytes(20), "save it again as .keras"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"<!DOCTYPE html><title>404</title>", "download it again"),
        (b"nothing known", "no known format"),
    ],
)
def test_what_is_no_model_is_called_by_its_name(tmp_path, content, words):
    (tmp_path / "model").write_bytes(content)
    refused(tmp_path / "model", words)


def test_folders_that_are_no_model(tmp_path, onnx_file):
    refused(tmp_path, "without saved_model.pb")
    onnx_file("one.onnx")
    assert inspect(tmp_path, "it").path == tmp_path / "one.onnx"
    onnx_file("two.onnx")
    refused(tmp_path, "several .onnx files")
