"""The fields that the contract ``deltann.report/1`` promises: others may be added, none may go or get another name."""

from __future__ import annotations

from typing import Any

import pytest

from deltann.report.schema import report_schema

CONTRACT = {
    "Report": "schema sweep settings inputs conversions variants pairs questions findings gates",
    "SweepFacts": "id name started finished toolchain seconds_by_stage overhead_share",
    "Settings": "k rbo tau time_test bootstrap_seed",
    "RboSettings": "p depth",
    "Inputs": "n left_out",
    "InputLeftOut": "id why",
    "Conversion": "model source target steps outcome parity log",
    "ConversionStep": "tool version route opset seconds warnings size_before size_after",
    "ParityFacts": "n max_abs max_rel top1_agreement",
    "Variant": "id model instance source framework chain engine target opt_level schedule precision library "
    "preprocessing mutation pool device threads toolchain weights_fingerprint graph_fingerprint outcome error "
    "accuracy_top1 accuracy_top5 load_ms size_bytes memory_peak_bytes time_ms",
    "VariantError": "stage type message log",
    "Times": "median mean std p95 p99 first nth drift_pct n batch",
    "Pair": "a b axis same_weights same_graph tainted_by n n_invalid_a n_invalid_b top1_disagreement topk_jaccard rbo "
    "kendall_tau errors time_change_pct time_change_mean_pct time_ci95_pct time_p_value n_slower n_differ "
    "inputs_that_differ",
    "OutputErrors": "space abs rel",
    "MeanMax": "mean max",
    "Questions": "RQ1 RQ2 RQ3 RQ4 RQ5 RQ6 sensitivity",
    "Table": "columns rows",
    "Gate": "name limit value ok",
}


@pytest.mark.parametrize("name", CONTRACT)
def test_every_promised_field_is_always_there(name: str) -> None:
    schema: dict[str, Any] = report_schema()
    part = schema if name == "Report" else schema["$defs"][name]
    assert set(CONTRACT[name].split()) <= set(part["required"])
    assert part["additionalProperties"] is False


def test_ids_of_differing_inputs_are_at_most_a_hundred() -> None:
    pair = report_schema()["$defs"]["Pair"]["properties"]
    assert pair["inputs_that_differ"]["maxItems"] == 100


def test_axes_are_those_of_the_contract_or_multiple() -> None:
    axis = report_schema()["$defs"]["Pair"]["properties"]["axis"]
    allowed = {value for option in axis["anyOf"] for value in [*option.get("enum", []), option.get("const")]} - {None}
    assert allowed == {
        "framework", "conversion", "preprocessing", "engine", "target", "optimization", "schedule", "precision",
        "library", "device", "mutation", "multiple",
    }  # fmt: skip
