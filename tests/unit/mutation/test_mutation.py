from __future__ import annotations

import pytest
from pydantic import ValidationError

from deltann.mutation import OPERATORS, Mutation, Positions

MUTATENN = {
    "transpose_conv2d_0_before",
    "transpose_dense_0_before",
    "transpose_conv2d_dense_0_before",
    "transpose_conv2d_dense_1_before",
    "transpose_batch_norm_0_before",
    "exp_conv2d_dense_0_before",
    "exp_conv2d_dense_0_after",
    "exp_batch_norm_0_before",
    "round_batch_norm_0_before",
    "replace_func_add_to_subtract",
    "replace_func_relu_to_sigmoid",
}
"""The titles in MutateNN's config.json, ``mutations_all.relay``."""
KERNELS = {
    "float32_to_float16",
    "float32_to_int32",
    "float32_to_int16",
    "float32_to_int8",
    "subtract_from_store_value",
    "multiply_store_value",
    "change_threshold_ite_LT_r_a_0_5",
    "ifstmt_LT_to_LE",
    "ifstmt_LT_to_GT",
    "ifstmt_GT_to_LT",
    "ifstmt_GT_to_GE",
}
"""Those of ``mutations_all.tir``."""


@pytest.mark.parametrize(("level", "names"), [("graph", MUTATENN), ("kernel", KERNELS)])
def test_every_operator_of_mutatenn_has_its_name(level: str, names: set[str]) -> None:
    assert {name for name, facts in OPERATORS.items() if facts.level == level and facts.mutatenn} == names


def test_there_are_ten_more_at_least_and_all_say_what_they_do() -> None:
    assert len(OPERATORS) >= len(MUTATENN | KERNELS) + 10
    assert all(facts.what and facts.fits and facts.family for facts in OPERATORS.values())


def test_a_mutant_is_named_by_what_is_not_usual() -> None:
    mutation = Mutation(operator="perturb_weights", parameters={"sigma": 0.5}, at=Positions(occurrence=3))
    assert mutation.name == "perturb_weights sigma=0.5 #3"
    assert mutation.values == {"sigma": 0.5, "seed": 0}
    assert Mutation(operator="drop_layer").name == "drop_layer"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"operator": "nothing"}, "deltann mutate --list"),
        ({"operator": "drop_layer", "parameters": {"sigma": 1}}, "no parameter sigma; there are: none"),
        ({"operator": "perturb_weights", "parameters": {"sigma": -1}}, "sigma = -1"),
        ({"operator": "perturb_weights", "parameters": {"sigma": float("nan")}}, "sigma = nan"),
    ],
)
def test_what_no_operator_takes_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Mutation.model_validate(wrong)
