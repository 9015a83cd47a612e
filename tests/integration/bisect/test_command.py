"""``deltann bisect`` as a person runs it: the job in a child of its own, and what is said and written."""

import json

import numpy as np
import pytest
from onnx import helper
from typer.testing import CliRunner

from deltann.cli.main import app

node = helper.make_node


@pytest.fixture
def deltann(tmp_path, monkeypatch):
    monkeypatch.setenv("DELTANN_HOME", str(tmp_path / "home"))
    x = np.random.default_rng(2).normal(size=(3, 1, 3, 3)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x)

    def invoke(*words):
        data = ("--data", str(tmp_path / "data.npz"), "--preprocess", "none")
        return CliRunner().invoke(app, ["bisect", *map(str, words), *data])

    return invoke


def test_a_fault_is_told_and_its_reproducer_written(deltann, network, tmp_path):
    scales = np.array([1, 1, 2.5, 2.5], np.float32)
    nodes = [
        node("Neg", ["x"], ["h"], name="turned"),
        node("Resize", ["h", "roi", "by"], ["y"], name="larger", mode="cubic"),
    ]
    path = network(nodes, {"roi": np.zeros(0, np.float32), "by": scales}, (1, 1, 3, 3), None)
    done = deltann(path, "--opt", "1", "--out", tmp_path / "shown")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("TVM without passes against ONNX Runtime: 3 of 3 inputs differ, error ")
    assert lines[1].startswith("level 0 against TVM without passes: they agree over 3 inputs, error ")
    assert lines[2].startswith("level 1 against level 0: they agree over 3 inputs, error ")
    assert lines[3] == "1. TVM without passes: TVM's importer, or its kernels, before any pass"
    assert "1 of the model's nodes show it alone:" in lines[4]
    assert lines[5].split() == ["Resize", "larger", "→", "y"]
    assert lines[6].strip() == str(tmp_path / "shown" / "importer")
    assert len(lines) == 7
    assert {one.name for one in (tmp_path / "shown" / "importer").iterdir()} == {
        "README.txt", "inputs.npz", "model.onnx", "reproduce.json", "reproduce.py",
    }  # fmt: skip


def test_where_nothing_differs_that_is_said_and_nothing_written(deltann, network, tmp_path):
    path = network([node("Relu", ["x"], ["y"])], {}, (1, 1, 3, 3), (1, 1, 3, 3))
    done = deltann(path, "--out", tmp_path / "shown", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["out"], found["findings"], found["failed"]) == (None, [], {})
    assert [one["symptom"] for one in found["comparisons"]] == [None, None, None]
    assert not (tmp_path / "shown").exists()
    assert "All of them agree: there is nothing to find." in deltann(path).stdout
