import zipfile
from contextlib import nullcontext

import pytest
from deltann_converter.detect import detect_format
from hypothesis import given
from hypothesis import strategies as st

from deltann.errors import JobFailure


def _archive(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return path


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (("config.json", "metadata.json", "model.weights.h5"), "keras"),
        (("m/data.pkl", "m/constants.pkl", "m/code/__torch__.py"), "torchscript"),
        (("m/archive_format", "m/models/model.json", "m/data/weights/weight_0"), "pt2"),
        (("serialized_exported_program.json", "version"), "pt2"),
    ],
)
def test_detect_format_tells_archives_by_their_members_whatever_their_name(tmp_path, members, expected):
    assert detect_format(_archive(tmp_path / "model.bin", *members)) == expected


def test_detect_format_knows_flatbuffers_saved_models_and_onnx(tmp_path):
    (tmp_path / "a").write_bytes(b"\x1c\x00\x00\x00TFL3" + bytes(20))
    (tmp_path / "b").write_bytes(b"\x08\x08\x12\x07pytorch")
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"")
    assert [detect_format(tmp_path / name) for name in ("a", "b", "saved")] == ["tflite", "onnx", "savedmodel"]


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_is_refused_and_not_read(tmp_path, protocol):
    path = tmp_path / "model.pt"
    path.write_bytes(b"\x80" + bytes([protocol]) + b"cos\nsystem\n(S'touch pwned'\ntR.")
    with pytest.raises(JobFailure, match="runs whatever code"):
        detect_format(path)
    assert not (tmp_path / "pwned").exists()


def test_what_torch_save_wrote_is_refused(tmp_path):
    with pytest.raises(JobFailure, match=r"saved by torch\.save.*torch\.export\.save"):
        detect_format(_archive(tmp_path / "model.pt", "model/data.pkl", "model/data/0"))


def test_a_truncated_archive_is_called_truncated(tmp_path):
    whole = _archive(tmp_path / "whole.keras", "config.json", "model.weights.h5").read_bytes()
    short = tmp_path / "short.keras"
    short.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(JobFailure, match=r"short\.keras is a truncated archive.*\.pt2, TorchScript"):
        detect_format(short)


def test_an_ordinary_folder_is_named_as_one(tmp_path):
    with pytest.raises(JobFailure, match=r"folder without saved_model\.pb"):
        detect_format(tmp_path)


@given(st.binary(max_size=64))
def test_no_content_raises_anything_but_a_job_failure(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    known = content[4:8] == b"TFL3" or content[:1] == b"\x08"
    with nullcontext() if known else pytest.raises(JobFailure):
        assert detect_format(path) in ("tflite", "onnx")
