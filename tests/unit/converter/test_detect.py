import zipfile

import pytest
from deltann_converter.detect import detect_format

from deltann.errors import JobFailure
from deltann.outcome import Outcome


def _archive(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_format_is_told_by_content_whatever_the_name(tmp_path):
    members = {"m/data.pkl": b"x", "m/constants.pkl": b"x", "m/code/__torch__.py": b"x"}
    assert detect_format(_archive(tmp_path / "model.bin", **members)) == "torchscript"


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_is_refused_and_not_read(tmp_path, protocol):
    path = tmp_path / "model.pt"
    path.write_bytes(b"\x80" + bytes([protocol]) + b"cos\nsystem\n(S'touch pwned'\ntR.")
    with pytest.raises(JobFailure, match="runs whatever code"):
        detect_format(path)
    assert not (tmp_path / "pwned").exists()


def test_a_refusal_is_an_outcome_that_names_the_file_and_no_folder_of_the_machine(tmp_path):
    whole = _archive(tmp_path / "whole.keras", **{"config.json": b"{}", "model.weights.h5": b"x"}).read_bytes()
    short = tmp_path / "short.keras"
    short.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(JobFailure, match=r"^short\.keras is a truncated .*\.pt2, TorchScript") as caught:
        detect_format(short)
    assert (caught.value.outcome, caught.value.stage) == (Outcome.RUN_FAILED, "detect")
    assert str(tmp_path) not in str(caught.value)
