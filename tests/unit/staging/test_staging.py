from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from deltann.errors import DataError, DeltannError, ModelError, SpecError
from deltann.plan import sweep_id
from deltann.spec.load import parse_study
from deltann.spec.models import Study
from deltann.staging import expand, stage
from deltann.store import LocalStore


def study(source: str, data: str = "photos") -> Study:
    return parse_study(
        f"""
schema: deltann.study/1
name: s
models: [{{name: m, natives: [{{source: "{source}"}}], preprocessing: [tf]}}]
data: {{source: "{data}"}}
"""
    )


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/a.png").write_bytes(b"x")
    (tmp_path / "m.onnx").write_bytes(b"\x08\x08rest")
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore.from_url(str(tmp_path / "store"))


def test_files_are_stored_and_the_study_says_so(base: Path, store: LocalStore) -> None:
    staged = stage(study("m.onnx"), base, store)
    file, archive = staged.models[0].natives[0].file, staged.data.archive
    assert file is not None
    assert archive is not None
    assert store.read(file) == b"\x08\x08rest"
    assert (store.materialise(archive, base / "cache") / "a.png").read_bytes() == b"x"


def test_the_same_files_elsewhere_are_the_same_sweep(base: Path, store: LocalStore, tmp_path: Path) -> None:
    elsewhere = tmp_path / "other"
    (elsewhere / "photos").mkdir(parents=True)
    (elsewhere / "photos/a.png").write_bytes(b"x")
    (elsewhere / "m.onnx").write_bytes(b"\x08\x08rest")
    absolute = stage(study(str(elsewhere / "m.onnx"), str(elsewhere / "photos")), base, store)
    assert sweep_id(absolute) == sweep_id(stage(study("m.onnx"), base, store))


def test_zoos_loaders_and_package_sets_need_no_file(base: Path, store: LocalStore) -> None:
    for source in ("torchvision:resnet50@IMAGENET1K_V2", "keras:ResNet101V2@random(seed=1)", "efficientnet_lite0"):
        staged = stage(study(source, "foolbox:imagenet"), base, store)
        assert staged.models[0].natives[0].file is None
        assert staged.data.archive is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.onnx", None, "does not exist"),
        ("empty.onnx", b"", "empty"),
        ("cut.tflite", b"\x1c\x00\x00\x00TF", "truncated"),
        ("cut.keras", b"not a zip", "truncated"),
        ("wrong.onnx", b"PK\x03\x04", "another format"),
        ("model.pkl", b"\x80\x04rest", "pickle"),
        ("model.pth", b"PK\x03\x04", "pickle"),
        ("pickled.pt", b"\x80\x02rest", "pickle"),
        ("model.h5x", b"1234", "no model format"),
    ],
)
def test_a_model_that_cannot_be_is_one_paragraph(
    base: Path, store: LocalStore, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (base / name).write_bytes(content)
    with pytest.raises(ModelError, match=words) as caught:
        stage(study(name), base, store)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_folder_without_a_saved_model_is_refused(base: Path, store: LocalStore) -> None:
    with pytest.raises(ModelError, match=r"saved_model\.pb"):
        stage(study("photos"), base, store)


def test_code_runs_only_when_trusted(base: Path, store: LocalStore) -> None:
    with pytest.raises(ModelError, match="--trust"):
        stage(study("my_models:make"), base, store)
    assert stage(study("my_models:make"), base, store, trust=True).models[0].natives[0].trusted


@pytest.mark.parametrize(("data", "words"), [("gone", "does not exist"), ("none", "no file"), ("m.onnx", r"\.npz")])
def test_data_that_cannot_be(base: Path, store: LocalStore, data: str, words: str) -> None:
    (base / "none").mkdir()
    with pytest.raises(DataError, match=words):
        stage(study("m.onnx", data), base, store)


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTANN_A", "x")
    monkeypatch.delenv("DELTANN_B", raising=False)
    assert expand("${DELTANN_A}/${DELTANN_B:-y/z}") == "x/y/z"
    with pytest.raises(SpecError, match="DELTANN_B"):
        expand("${DELTANN_B}/z")


def test_every_refusal_has_exit_code_two(base: Path, store: LocalStore) -> None:
    with zipfile.ZipFile(base / "m.keras", "w"):
        pass
    for source in ("gone.onnx", "my_models:make", "${DELTANN_NEVER_SET}"):
        with pytest.raises(DeltannError) as caught:
            stage(study(source), base, store)
        assert caught.value.exit_code == 2
