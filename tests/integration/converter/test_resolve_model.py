"""Natives by every kind of source, and what is said of those that cannot be used."""

import urllib.request
import zipfile

import numpy as np
import pytest
from deltann_engines.base import load
from deltann_engines.parity import outputs, seeded_inputs

from deltann.errors import JobFailure
from deltann.model import ENGINE_OF


def test_natives_are_described(torch_native, script_native, keras_native):
    infos = [native.data.info for native in (torch_native, script_native, keras_native)]
    assert [info.format for info in infos] == ["pt2", "torchscript", "keras"]
    assert [info.input.layout for info in infos] == ["NCHW", "NCHW", "NHWC"]
    assert [info.output_kind for info in infos] == ["logits", "logits", "probabilities"]
    assert infos[0].image_size == infos[2].image_size == (32, 32)
    assert infos[0].weights_fingerprint == infos[1].weights_fingerprint != infos[2].weights_fingerprint


def test_what_is_declared_is_believed(converter, torch_native):
    ref = torch_native.artifacts["model"]
    found = converter.call("resolve_model", {"source": "m.pt2", "class_offset": 1, "output": "values"}, {"file": ref})
    assert (found.data.info.class_offset, found.data.info.output_kind) == (1, "values")
    assert found.artifacts["model"].digest == ref.digest


def test_a_declared_format_that_is_not_the_files_is_refused(converter, torch_native):
    with pytest.raises(JobFailure, match=r"m\.tflite is declared as tflite, but it is a pt2 model"):
        converter.call(
            "resolve_model", {"source": "m.tflite", "format": "tflite"}, {"file": torch_native.artifacts["model"]}
        )


def test_onnx_with_external_data_becomes_one_file_that_answers_the_same(converter, torch_native, tmp_path):
    import onnx

    whole = converter.step(torch_native, "onnx")
    inside = converter.store.materialise(whole.artifacts["model"], converter.cache)
    place = {"save_as_external_data": True, "location": "w.data", "size_threshold": 0}
    (tmp_path / "big").mkdir()
    onnx.save(onnx.load(inside), tmp_path / "big/m.onnx", **place)
    found = converter.resolve(tmp_path / "big")
    assert (found.data.info.format, found.artifacts["model"].packing) == ("onnx", "file")
    assert found.data.info.weights_fingerprint == whole.data.info.weights_fingerprint
    assert (_rows(converter, found) == _rows(converter, whole)).all()


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_flatbuffer_or_onnx_is_told_in_a_paragraph(converter, torch_native, tmp_path, share):
    for target, name in (("onnx", "short.onnx"), ("tflite", "short.tflite")):
        chain = ("onnx",) if target == "onnx" else ("onnx", target)
        whole = converter.store.read(converter.step(torch_native, *chain).artifacts["model"])
        (tmp_path / name).write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(JobFailure, match=name):
            converter.resolve(tmp_path / name)


def test_an_archive_with_a_broken_member_is_told_in_a_paragraph(converter, tmp_path):
    path = tmp_path / "broken.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("metadata.json", "{}")
        archive.writestr("model.weights.h5", b"\x89HDF\r\n\x1a\nnot what it should be")
    with pytest.raises(JobFailure, match=r"broken\.keras cannot be read as a keras model"):
        converter.resolve(path)


def test_a_keras_file_that_holds_code_is_not_run(converter, tmp_path):
    import keras

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Lambda(lambda x: x * 2)])
    model.save(tmp_path / "code.keras")
    with pytest.raises(JobFailure, match=r"code\.keras holds Python code"):
        converter.resolve(tmp_path / "code.keras")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nothing", "neither a file nor a loader"),
        ("torchvision:resnet18", "names no weights"),
        ("torchvision:resnet1@random(seed=1)", "no classification model 'resnet1'"),
        ("keras:Nothing@imagenet", "no model 'Nothing'"),
        ("os:getcwd", "made by running code, which was not allowed"),
    ],
)
def test_a_source_that_names_nothing_is_told_what_to_write(converter, source, message):
    with pytest.raises(JobFailure, match=message) as caught:
        converter.call("resolve_model", {"source": source})
    assert caught.value.outcome == "run_failed"


def test_weights_that_cannot_be_downloaded_are_never_replaced_silently(converter, monkeypatch, tmp_path):
    """The library's own download, through a proxy that is not there: what a machine without a network sees."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(urllib.request, "_opener", None)  # it keeps the proxy of its first use
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    with pytest.raises(JobFailure, match=r"torchvision could not give squeezenet1_1.*@random\(seed=1\)") as caught:
        converter.call("resolve_model", {"source": "torchvision:squeezenet1_1@DEFAULT"})
    assert caught.value.stage == "download"


def test_a_persons_code_makes_a_model_where_it_is_trusted(converter, tmp_path, monkeypatch):
    (tmp_path / "mine_for_deltann.py").write_text(
        "import torch\n"
        "def make():\n"
        "    return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 5))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = converter.call("resolve_model", {"source": "mine_for_deltann:make", "trust": True})
    assert (found.data.info.format, found.data.info.classes) == ("pt2", 5)


def _rows(converter, found):
    info = found.data.info
    path = converter.store.materialise(found.artifacts["model"], converter.cache)
    with load(ENGINE_OF[info.framework], path, info) as session:
        return outputs(session, seeded_inputs(info, 8, seed=5))


@pytest.mark.parametrize(
    "source", ["torchvision:mobilenet_v2@random(seed=1)", "keras:MobileNetV2@random(seed=1)"], ids=["torch", "keras"]
)
def test_random_weights_are_noted_and_tell_inputs_apart(converter, source):
    found = converter.call("resolve_model", {"source": source})
    assert found.data.note == "random weights with seed 1, not the published ones"
    rows = _rows(converter, found)
    assert np.isfinite(rows).all()
    logits = np.log(rows) if found.data.info.output_kind == "probabilities" else rows
    assert logits.std(axis=0).mean() > 0.5
    assert len(set(rows.argmax(axis=1))) >= 4


def test_the_same_seed_gives_the_same_model_and_another_seed_another():
    import torch
    import torchvision
    from deltann_converter.random_weights import randomise_torch

    def weights(seed):
        torch.manual_seed(seed)
        network = torchvision.models.squeezenet1_1(weights=None)
        network.features[2] = torch.nn.BatchNorm2d(64)
        randomise_torch(network, (64, 64), seed)
        return {name: value.numpy() for name, value in network.state_dict().items()}

    first, again, other = weights(1), weights(1), weights(2)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    name = "features.2.running_mean"
    assert not np.array_equal(first[name], other[name])
    assert np.abs(first[name]).max() > 0
    assert not np.allclose(first["features.2.running_var"], 1)


def test_efficientnet_lite0_comes_from_its_package(converter):
    found = converter.call("resolve_model", {"source": "efficientnet_lite0"})
    info = found.data.info
    assert (info.format, info.input.layout, info.image_size, info.classes) == ("pt2", "NCHW", (224, 224), 1000)
    assert info.output_kind == "logits"
    assert found.data.note == ""
