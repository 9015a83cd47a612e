from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from deltann.mutation import OPERATORS

Command = Callable[..., Result]


def test_the_list_tells_every_operator_and_what_it_takes(deltann: Command) -> None:
    rows = json.loads(deltann("mutate", "--list", "--json").stdout)
    assert [row["name"] for row in rows] == list(OPERATORS)
    noise = next(row for row in rows if row["name"] == "perturb_weights")
    assert noise["parameters"]["sigma"]["default"] == 0.1
    assert noise["mutatenn"] is False


def test_the_list_is_a_line_for_each(deltann: Command) -> None:
    lines = deltann("mutate", "--list").stdout.splitlines()
    assert len(lines) == len(OPERATORS)
    assert lines[0].split()[:2] == ["transpose_conv2d_0_before", "graph"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--operator NAME"),
        (("m.onnx", "--operator", "drop_layer"), "--out MUTANT.onnx"),
        (("m.onnx", "--operator", "drop_layer", "--out", "m.so"), "m.onnx rather than m.so"),
        (("m.onnx", "--operator", "drop", "--out", "{}/o.onnx"), "no operator of that name"),
        (("m.onnx", "--operator", "drop_layer", "--set", "x", "--out", "{}/o.onnx"), "NAME=NUMBER"),
        (("m.onnx", "--operator", "drop_layer", "--set", "x=1", "--out", "{}/o.onnx"), "no parameter x"),
        (("m.onnx", "--operator", "drop_layer", "--every", "0", "--out", "{}/o.onnx"), "at every"),
        (
            ("m.onnx", "--operator", "drop_layer", "--occurrence", "1", "--end", "3", "--out", "{}/o.onnx"),
            "one occurrence and a range",
        ),
        (("m.onnx", "--operators", "drop_layer"), "and --data"),
        (("m.onnx", "--operators", "drop_layer", "--operator", "drop_layer", "--data", "{}"), "no --operator"),
        (("m.onnx", "--operator", "drop_layer", "--data", "{}", "--out", "{}/o.onnx"), "name --operators"),
        (("m.onnx", "--operators", "drop", "--data", "{}"), "no operator of that name"),
        (("m.onnx", "--operators", "drop_layer", "--data", "{}", "--targets", "pdp11"), "pdp11"),
        (("m.onnx", "--operators", "drop_layer", "--data", "{}", "--opt", "7"), "levels"),
        (("m.onnx", "--operators", "drop_layer", "--data", "{}", "--every", "0"), "no such places: every"),
        (
            ("m.onnx", "--operators", "drop_layer", "--data", "{}", "--singles", "2", "--every", "2"),
            "both at and singles",
        ),
        (("{}/none.onnx", "--operator", "drop_layer", "--out", "{}/o.onnx"), "none.onnx"),
    ],
)
def test_what_is_no_mutation_is_refused(deltann: Command, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = deltann("mutate", *(word.format(tmp_path) for word in words))
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("Error: ")
    assert said in done.stderr
