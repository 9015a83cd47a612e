"""What the options of ``deltann mutate --operators`` become."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deltann.cli.mutant_study import Wanted, mutant_study
from deltann.errors import SpecError
from deltann.mutation import OPERATORS, Mutation, Positions

ASKED = Wanted(
    model="models/Mobile Net(v2).onnx",
    framework=None,
    operators=("drop_layer,swap_weights", "kernel"),
    parameters={},
    at=Positions(),
    singles=None,
    data="photos",
    limit=20,
    preprocess=None,
    targets=("x86-64-v2,x86-64-v4",),
    opts=("0,extended",),
    engines=("own", "tvm"),
    pools=("cpu",),
)


def mutations(wanted: Wanted) -> list[Mutation]:
    return [one for entry in mutant_study(wanted).mutations for one in entry.mutations()]


def test_names_joined_by_commas_are_names_each() -> None:
    study = mutant_study(ASKED)
    assert (study.compile.levels, study.compile.targets) == ((0, 4), ("x86-64-v2", "x86-64-v4"))
    kernels = [name for name, facts in OPERATORS.items() if facts.level == "kernel"]
    assert [one.operator for one in mutations(ASKED)] == ["drop_layer", "swap_weights", *kernels]
    assert (study.timing, study.data.limit) == (None, 20)


def test_a_target_of_tvm_keeps_its_commas() -> None:
    text = '{"kind": "llvm", "mcpu": "skylake"}'
    assert mutant_study(replace(ASKED, targets=(text,))).compile.targets == ('{"kind":"llvm","mcpu":"skylake"}',)


def test_the_model_has_a_name_that_a_path_may_have() -> None:
    (model,) = mutant_study(ASKED).models
    assert (model.name, model.natives[0].source) == ("Mobile-Net-v2", "models/Mobile Net(v2).onnx")


@pytest.mark.parametrize(("data", "recipe"), [("photos", "tf"), ("x.npz", "none")])
def test_images_are_prepared_and_arrays_are_not(data: str, recipe: str) -> None:
    assert mutant_study(replace(ASKED, data=data)).models[0].preprocessing == (recipe,)


def test_positions_and_parameters_hold_for_all() -> None:
    one = replace(ASKED, operators=("perturb_weights",), parameters={"sigma": 0.2}, at=Positions(start=2, every=3))
    assert mutations(one) == [
        Mutation(operator="perturb_weights", parameters={"sigma": 0.2}, at=Positions(start=2, every=3))
    ]
    each = replace(ASKED, operators=("drop_layer",), singles=3)
    assert [mutation.at.occurrence for mutation in mutations(each)] == [0, 1, 2]


def test_what_there_is_not_is_named() -> None:
    with pytest.raises(SpecError, match=r"these options ask for.*no operator of that name"):
        mutant_study(replace(ASKED, operators=("drop",)))
