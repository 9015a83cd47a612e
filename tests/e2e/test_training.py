"""A study that trains LeNet-5 and an LSTM in both frameworks, from its data sets to the report, through everything."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deltann.store import open_store

from .learnable import write_study
from .sweeps import Swept, sweep

pytestmark = pytest.mark.studies

DELTANN = Path(sys.executable).with_name("deltann")
LENET = ("keras-1", "keras-2", "pytorch-1", "pytorch-2")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    folder = tmp_path_factory.mktemp("trained")
    return sweep(write_study(folder), folder / "home", folder / "report")


def test_every_instance_is_trained_converted_and_keeps_its_labels(swept: Swept) -> None:
    assert swept.exit_code == 0, swept.printed
    variants = swept.report["variants"]
    assert {variant["outcome"] for variant in variants} == {"ok"}
    natives = [variant["id"] for variant in variants if variant["conversion"] is None]
    assert sorted(natives) == sorted(
        [f"lenet5/{name}@{'keras' if 'keras' in name else 'torch'}" for name in LENET]
        + ["lstm/keras@keras", "lstm/pytorch@torch"]
    )
    assert len(variants) == 2 * len(natives)
    steps = [pair for pair in swept.report["pairs"] if pair["axis"] == "conversion"]
    assert len(steps) == len(natives)
    for pair in steps:
        (errors,) = pair["errors"].values()
        assert pair["top1_disagreement"] == 0
        assert 0 < errors["abs"]["mean"] < 1e-4


def test_they_have_learnt_and_alike_in_both_frameworks(swept: Swept) -> None:
    runs = {(run["model"], run["instance"]): run for run in swept.report["training"]["runs"]}
    assert {name for model, name in runs if model == "lenet5"} == set(LENET)
    for run in runs.values():
        assert run["curves"][-1]["loss"] < run["curves"][0]["loss"]
        assert run["memory_peak_bytes"] > 100 << 20
        assert (run["resumed"], run["failed"]) == (0, None)
    for number in "12":
        one, two = (runs["lenet5", f"{framework}-{number}"]["curves"] for framework in ("keras", "pytorch"))
        assert [epoch["loss"] for epoch in one] == pytest.approx([epoch["loss"] for epoch in two], rel=0.01)
    seeds = [runs["lenet5", name]["seed"] for name in LENET]
    assert seeds == [0, 1, 0, 1]
    accuracy = {variant["id"]: variant["accuracy_top1"] for variant in swept.report["variants"]}
    assert accuracy["lenet5/keras-1@keras"] > 0.9
    assert accuracy["lstm/pytorch@torch"] > 0.9


def test_each_model_was_given_its_own_inputs(swept: Swept) -> None:
    assert (swept.report["inputs"]["n"], swept.report["inputs"]["own"]) == (40, {"lstm": 30})
    assert {v["n"] for v in swept.report["variants"] if v["model"] == "lstm"} == {30}


def test_the_spread_over_instances_is_in_the_report_the_tables_and_the_page(swept: Swept) -> None:
    spreads = {(one["model"], one["framework"], one["measure"]): one for one in swept.report["training"]["spreads"]}
    assert spreads["lenet5", "keras", "accuracy_lost"] | {"way": ""} == {
        "model": "lenet5", "framework": "keras", "way": "", "measure": "accuracy_lost",
        "n": 2, "mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0,
    }  # fmt: skip
    assert spreads["lstm", "pytorch", "disagreement"]["std"] is None
    assert spreads["lenet5", "pytorch", "size_before"]["mean"] > 61_706 * 4
    rows = list(csv.DictReader((swept.folder / "training_instances.csv").open()))
    assert len(rows) == 6
    page = (swept.folder / "report.html").read_text()
    assert "Trained models" in page
    assert "lenet5 · keras → onnx@onnxruntime" in page
    (lenet, lstm) = swept.report["training"]["frameworks"]
    assert (lenet["n"], lstm["n"], lenet["p_value"]) == (2, 1, None)


def test_killed_while_it_trains_it_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    spec, home = write_study(tmp_path, long=True), tmp_path / "home"
    command = [DELTANN, "sweep", "run", spec, "--home", home, "--out", tmp_path / "report"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 120
    while not _epochs_kept(home) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    again = sweep(spec, home, tmp_path / "report")
    assert again.exit_code == 0, again.printed
    (run,) = again.report["training"]["runs"]
    assert 0 < run["resumed"] < 60
    assert len(run["curves"]) == 60
    assert run["curves"][-1]["loss"] < run["curves"][0]["loss"]
    assert not list(open_store(str(home / "store")).list("checkpoints/"))


def _epochs_kept(home: Path) -> int:
    """Epochs of the training that has a checkpoint, once there is one."""
    store = open_store(str(home / "store"))
    marks = [store.get(key) for key in store.list("checkpoints/") if key.endswith("/last")]
    return max((len(json.loads(mark)["curves"]) for mark in marks if mark), default=0)
