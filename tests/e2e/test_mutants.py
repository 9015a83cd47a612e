"""A sweep over mutants of a tiny network: every real service and the queue, through the command line."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from .sweeps import Swept, sweep
from .tiny import network

STUDY = """
schema: deltann.study/1
name: mutants
models:
  - name: tiny
    natives: [{source: tiny.onnx}]
    preprocessing: [unit]
data: {source: photos}
engines: [own, tvm]
compile: {levels: [0, 4]}
timing: null
gates: {max_disagreement: 0.0, axes: [engine, optimization]}
mutations:
  - {operators: [replace_func_relu_to_sigmoid, perturb_weights], parameters: {}}
  - {operators: [duplicate_layer], at: [{occurrence: 1}]}
  - {operators: [exp_batch_norm_0_before]}
  - {operators: [drop_layer], at: [{occurrence: 7}]}
  - {operators: [scale_conv2d_dense_0_after], parameters: {factor: 1.0e+38}}
  - {operators: [relax_relu_to_tanh]}
  - {operators: [float32_to_int8, multiply_store_value, ifstmt_LT_to_LE]}
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    folder = tmp_path_factory.mktemp("mutants")
    network(folder / "tiny.onnx", channels=3)  # as many as it takes: a convolution that can be left out or doubled
    photos, random = folder / "photos", np.random.default_rng(2)
    photos.mkdir()
    for number in range(6):
        Image.fromarray(random.integers(0, 256, (16, 16, 3), np.uint8)).save(photos / f"{number}.png")
    (folder / "study.yaml").write_text(STUDY)
    return sweep(folder / "study.yaml", folder / "home", folder / "out")


def rows(swept: Swept, operator: str, **like: Any) -> list[dict[str, Any]]:
    return [
        row
        for row in swept.report["mutation"]["mutants"]
        if row["operator"] == operator and all(row[name] == value for name, value in like.items())
    ]


def test_mutants_break_no_gate_and_are_no_faults_of_the_model(swept: Swept) -> None:
    assert swept.exit_code == 0, swept.printed
    assert [gate["ok"] for gate in swept.report["gates"]] == [True]
    assert not [one for one in swept.report["findings"] if one["severity"] == "fault"]


def test_every_mutant_runs_in_every_build_beside_its_original(swept: Swept) -> None:
    for operator in ("replace_func_relu_to_sigmoid", "perturb_weights"):
        found = rows(swept, operator)
        assert [(row["engine"], row["opt_level"]) for row in found] == [("onnxruntime", None), ("tvm", 0), ("tvm", 4)]
        assert all(row["n"] == 6 and row["killed"]["numeric"] == 6 for row in found)
    for operator in ("float32_to_int8", "relax_relu_to_tanh"):
        inside = rows(swept, operator)
        assert [(row["opt_level"], row["killed"]["numeric"]) for row in inside] == [(0, 6), (4, 6)]
    by_id = {variant["id"]: variant for variant in swept.report["variants"]}
    for row in swept.report["mutation"]["mutants"]:
        assert by_id[row["original"]]["mutation"] is None
        assert by_id[row["id"]]["mutation"] == row["mutation"]


@pytest.mark.parametrize(
    ("operator", "state", "why"),
    [
        # ReLU twice is ReLU: no probe was answered otherwise.
        ("duplicate_layer", "equivalent?", None),
        ("multiply_store_value", "equivalent?", None),
        ("exp_batch_norm_0_before", "no_mutant", "has no BatchNormalization"),
        ("drop_layer", "no_mutant", "place 7 is past the end"),
        ("ifstmt_LT_to_LE", "no_mutant", "could touch memory out of bounds"),
        # Infinite in float32: an answer that is none kills.
        ("scale_conv2d_dense_0_after", "killed", "NaN or Inf"),
    ],
)
def test_what_is_no_usual_mutant_says_so(swept: Swept, operator: str, state: str, why: str | None) -> None:
    found = rows(swept, operator)
    assert {row["state"] for row in found} == {state}
    assert all(why is None or why in row["reason"] for row in found)


def test_a_factor_that_float32_cannot_tell_from_1_is_proven_to_change_nothing(swept: Swept) -> None:
    assert {row["equivalent_because"] for row in rows(swept, "multiply_store_value")} == {"1.00000001 is 1 in float32"}


def test_the_score_is_of_what_is_counted_and_few_inputs_keep_it(swept: Swept) -> None:
    mutants = swept.report["mutation"]["mutants"]
    counted = [row for row in mutants if row["state"] in ("killed", "survived")]
    for score in swept.report["mutation"]["scores"]:
        assert score["mutants"] == len(counted)
        assert score["score"] == pytest.approx(score["killed"] / len(counted))
        assert score["exact"]
        assert set(score["smallest"]) <= {f"{number}.png" for number in range(6)}
    assert f"of {len(counted)} (score " in swept.printed


def test_mutants_need_no_study(swept: Swept) -> None:
    """The same model and photos by options, with what the sweep has left."""
    folder = swept.folder.parent
    words = [
        *("mutate", folder / "tiny.onnx", "--operators", "duplicate_layer,relax_relu_to_tanh", "--data"),
        *(folder / "photos", "--preprocess", "unit", "--opt", "4", "--home", folder / "home"),
        *("--out", folder / "asked", "--json"),
    ]
    done = subprocess.run([Path(sys.executable).with_name("deltann"), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["gates_ok"]
    found = json.loads((folder / "asked" / "report.json").read_text())
    asked = found["mutation"]["mutants"]
    assert {(row["operator"], row["engine"]): row["killed"]["numeric"] for row in asked} == {
        ("duplicate_layer", "onnxruntime"): 6,
        ("duplicate_layer", "tvm"): 6,
        ("relax_relu_to_tanh", "tvm"): 6,
    }


def test_tables_and_page_show_them(swept: Swept) -> None:
    with (swept.folder / "mutants.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(swept.report["mutation"]["mutants"])
    for name in ("matrix", "scores", "devices", "families"):
        assert (swept.folder / f"mutation_{name}.csv").stat().st_size > 0
    page = (swept.folder / "report.html").read_text()
    assert '<section id="mutants"' in page
    assert "replace_func_relu_to_sigmoid" in page
