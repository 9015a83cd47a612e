"""The operators on kernels: the one table of them. What they do stands in the compiler, under the same names."""

from __future__ import annotations

from deltann.mutation.facts import OperatorFacts, Parameter

_STORE = "store of a computed float32 value"


def _cast(to: str) -> OperatorFacts:
    what = f"the value is cast to {to} and back before it is stored"
    return OperatorFacts("kernel", "type", what, f"a {_STORE}", mutatenn=True)


_CLAMP = Parameter(0, "1: loads within a branch are held within their buffer, where they could leave it", 0, 1)


def _condition(before: str, after: str, mutatenn: bool = True) -> OperatorFacts:
    what = f"a {before} b becomes a {after} b"
    return OperatorFacts("kernel", "condition", what, f"a condition a {before} b", {"clamp": _CLAMP}, mutatenn)


KERNEL: dict[str, OperatorFacts] = {
    "float32_to_float16": _cast("float16"),
    "float32_to_int32": _cast("int32"),
    "float32_to_int16": _cast("int16"),
    "float32_to_int8": _cast("int8"),
    "subtract_from_store_value": OperatorFacts(
        "kernel",
        "store",
        "something is subtracted from the value before it is stored",
        f"a {_STORE}",
        {"offset": Parameter(1e-8, "what is subtracted")},
        mutatenn=True,
    ),
    "multiply_store_value": OperatorFacts(
        "kernel",
        "store",
        "the value is multiplied before it is stored; 1.00000001 is 1 in float32, so the default changes nothing",
        f"a {_STORE}",
        {"factor": Parameter(1.00000001, "what it is multiplied with")},
        mutatenn=True,
    ),
    "change_threshold_ite_LT_r_a_0_5": OperatorFacts(
        "kernel",
        "condition",
        "a < b becomes a < b + 0.5, which for whole numbers is a ≤ b",
        "a condition a < b",
        {"clamp": _CLAMP},
        mutatenn=True,
    ),
    "ifstmt_LT_to_LE": _condition("<", "≤"),
    "ifstmt_LT_to_GT": _condition("<", ">"),
    "ifstmt_GT_to_LT": _condition(">", "<"),
    "ifstmt_GT_to_GE": _condition(">", "≥"),
    "ifstmt_LT_to_GE": _condition("<", "≥", mutatenn=False),
    "ifstmt_LE_to_LT": _condition("≤", "<", mutatenn=False),
    "lower_LT_bound": OperatorFacts(
        "kernel",
        "condition",
        "a < b becomes a < b − by",
        "a condition a < b",
        {"by": Parameter(1, "how much lower", least=1), "clamp": _CLAMP},
    ),
    "shorten_reduction": OperatorFacts(
        "kernel",
        "loop",
        "a loop that sums up, or finds a maximum, leaves its last steps out",
        "a loop over reduced axes alone, of more steps than are left out",
        {"by": Parameter(1, "steps that are left out", least=1)},
    ),
}
"""By name."""
