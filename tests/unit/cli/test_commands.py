from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import numpy as np
import pytest
from typer.testing import Result

from deltann import __version__
from deltann.cli.agreement import Outputs
from deltann.cli.outputs import read_outputs, write_outputs

Command = Callable[..., Result]

STUDY = """\
schema: deltann.study/1
name: small
models:
  - name: net
    natives: [{source: efficientnet_lite0}]
    preprocessing: [efficientnet_lite]
data: {source: "foolbox:imagenet"}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def refused(done: Result, code: int, *words: str) -> None:
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_version(deltann: Command) -> None:
    assert deltann("--version").stdout == f"deltann {__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        *(("sweep", name) for name in ("run", "submit", "list", "status", "watch", "cancel", "fetch")),
        *(
            (name,)
            for name in (
                "convert",
                "compile",
                "mutate",
                "run",
                "compare",
                "localize",
                "repair",
                "bisect",
                "worker",
                "doctor",
            )
        ),
        *(("stack", name) for name in ("up", "status", "down")),
        *(("spec", name) for name in ("schema", "check")),
    ],
    ids=" ".join,
)
def test_every_command_explains_itself(deltann: Command, command: tuple[str, ...]) -> None:
    done = deltann(*command, "--help")
    assert done.exit_code == 0
    assert "Usage" in done.stdout


def test_schema_is_the_json_schema_of_a_study(deltann: Command) -> None:
    schema = json.loads(deltann("spec", "schema").stdout)
    assert {"schema", "name", "models", "data"} <= set(schema["required"])


def test_check_accepts_a_study(deltann: Command, spec: Path) -> None:
    done = deltann("spec", "check", spec, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["name"] == "small"


@pytest.mark.parametrize("command", [("spec", "check"), ("sweep", "run"), ("sweep", "submit")], ids=" ".join)
def test_an_unknown_field_is_named(deltann: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(STUDY + "colour: blue\n")
    refused(deltann(*command, path), 2, "colour")


@pytest.mark.parametrize("command", [("spec", "check"), ("sweep", "run"), ("sweep", "submit")], ids=" ".join)
def test_a_missing_study_is_named(deltann: Command, command: tuple[str, ...]) -> None:
    refused(deltann(*command, "none.yaml"), 2, "none.yaml")


@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "list"),
        ("sweep", "status", "x"),
        ("sweep", "watch", "x"),
        ("sweep", "cancel", "x"),
        ("sweep", "fetch", "x"),
    ],
    ids=" ".join,
)
def test_a_gateway_that_is_not_there_is_named(deltann: Command, command: tuple[str, ...]) -> None:
    refused(deltann(*command, "--gateway", "127.0.0.1:1"), 3, "No gateway answers at 127.0.0.1:1")


def test_submitting_to_nobody_says_how_to_start_somebody(deltann: Command, spec: Path) -> None:
    refused(deltann("sweep", "submit", spec), 3, "deltann stack up", "deltann sweep run")


@pytest.mark.parametrize("command", ["status", "watch", "cancel", "fetch"])
def test_an_unknown_sweep_is_named(deltann: Command, command: str) -> None:
    refused(deltann("sweep", command, "none-such"), 2, "none-such")


def test_an_empty_home_has_no_sweeps(deltann: Command) -> None:
    assert json.loads(deltann("sweep", "list", "--json").stdout) == []


def test_trust_of_a_single_conversion_over_a_gateway_is_refused(deltann: Command, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"x")
    command = ("convert", tmp_path / "m.onnx", "--to", "tflite", "--out", tmp_path / "o.tflite")
    refused(deltann(*command, "--trust", "--gateway", "127.0.0.1:1"), 2, "--trust")


def test_a_stack_that_does_not_run_is_three(deltann: Command) -> None:
    refused(deltann("stack", "status"), 3, "No stack runs")
    assert deltann("stack", "down").exit_code == 0


def test_a_taken_port_is_named_before_anything_starts(deltann: Command, tmp_path: Path) -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        refused(deltann("stack", "up", "--listen", f"127.0.0.1:{port}"), 3, f"127.0.0.1:{port}")
    finally:
        server.stop(None)
    assert not (tmp_path / "home" / "stack.json").exists()


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (("convert", "none.onnx", "--to", "keras", "--out", "out"), "none.onnx"),
        (("convert", "none.onnx", "--to", "keras", "--out", "out.keras"), "SavedModel"),
        (("compile", "none.onnx", "--out", "m.so"), "none.onnx"),
        (("compile", "none.onnx", "--out", "m.dll"), ".so"),
        (("compile", "none.onnx", "--out", "m.so", "--opt", "9"), "0, 1, 2, 3, 4"),
        (("compile", "none.onnx"), "--explain"),
        (("compile", "none.onnx", "--out", "m.so", "--explain"), "--out"),
        (("compile", "none.onnx", "--explain", "--disable", "Fuse"), "--disable Fuse names no pass. Did you mean"),
        (("compile", "none.onnx", "--explain", "--enable", "Nope"), "--enable Nope names no pass. Allowed here"),
        (("compile", "none.onnx", "--explain", "--enable", "FuseOps", "--disable", "FuseOps"), "both enabled"),
        (("compile", "none.onnx", "--explain", "--schedule", "tuned"), "naive"),
        (("run", "none.onnx", "--data", ".", "--out", "o.npz", "--preprocess", "tf"), "none.onnx"),
        (("run", "none.so", "--data", ".", "--out", "o.npz", "--preprocess", "tf"), "none.so"),
        (("compare", "a.onnx", "b.onnx"), "--data"),
        (("worker", "executor", "--store", "store"), "--pool"),
        (("worker", "converter"), "--store"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_bad_input_is_two_and_names_what_is_wrong(deltann: Command, command: tuple[str, ...], word: str) -> None:
    refused(deltann(*command), 2, word)


@pytest.mark.parametrize(
    ("command", "code", "word"),
    [
        ("frobnicate", 2, "'frobnicate'"),
        ("run --frobnicate", 2, "deltann run -h"),
        ("run", 2, "model"),
        ("convert m --to caffe --out x", 2, "'caffe' is not one of"),
        ("convert m --to tflite --out x", 2, "x.tflite"),
        ("run m.onnx --data . --preprocess tf --out x", 2, "x.npz"),
        ("spec check .", 2, "directory"),
        ("spec check /dev/null", 2, "/dev/null"),
        ("spec check /dev/zero", 2, "MiB"),
        ("sweep list --home study.yaml", 2, "study.yaml"),
        ("sweep run study.yaml --out study.yaml", 2, "study.yaml is no folder"),
        ("sweep run study.yaml --out study.yaml/below", 2, "study.yaml is no folder"),
        ("stack up --listen 127.0.0.1:99999", 2, "65535"),
        ("stack up --listen nowhere", 2, "HOST:PORT"),
        ("stack up --pool a/b", 2, "'a/b'"),
        ("worker analyzer --json", 2, "--check"),
    ],
)
@pytest.mark.usefixtures("spec")
def test_what_was_typed_wrong_is_one_paragraph(deltann: Command, command: str, code: int, word: str) -> None:
    refused(deltann(*command.split()), code, word)


def test_a_home_that_cannot_be_is_named(
    deltann: Command, spec: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DELTANN_HOME", str(spec))
    refused(deltann("sweep", "list"), 3, str(spec))
    monkeypatch.delenv("DELTANN_HOME")

    def refuse(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", refuse)  # $HOME unset, and a user of no name, as in containers
    refused(deltann("sweep", "list"), 2, "DELTANN_HOME", "--home")


def test_a_worker_without_redis_is_three(deltann: Command, tmp_path: Path) -> None:
    done = deltann("worker", "analyzer", "--store", tmp_path / "store", "--redis", "redis://:secret@127.0.0.1:1/0")
    refused(done, 3, "127.0.0.1:1")
    assert "secret" not in done.stderr


def test_nothing_is_written_over_without_force(deltann: Command, tmp_path: Path) -> None:
    (tmp_path / "there.onnx").write_text("precious")
    refused(deltann("convert", "x.keras", "--to", "onnx", "--out", "there.onnx"), 2, "--force")
    assert (tmp_path / "there.onnx").read_text() == "precious"


def test_compare_reads_two_outputs(deltann: Command, tmp_path: Path) -> None:
    for name, labels in (("a", [[1, 2], [3, 4]]), ("b", [[1, 2], [4, 3]])):
        made = Outputs(labels=np.array(labels, np.int32), valid=np.array([True, True]), ids=("x", "y"), space="logits")
        write_outputs(made, tmp_path / f"{name}.npz")
        assert read_outputs(tmp_path / f"{name}.npz").ids == ("x", "y")
    done = deltann("compare", "a.npz", "b.npz", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["n"], found["top1_disagreement"], found["differing"]) == (2, 0.5, ["y"])
    assert found["max_abs"] is None
    assert "50.00% (1 inputs)" in deltann("compare", "a.npz", "b.npz").stdout


def test_compare_refuses_a_file_that_holds_something_else(deltann: Command, tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    refused(deltann("compare", "other.npz", "other.npz"), 2, "other.npz")


def test_pickled_outputs_are_refused_not_run(deltann: Command, tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", labels=np.array([{"a": 1}], dtype=object), valid=np.array([True]))
    refused(deltann("compare", "evil.npz", "evil.npz"), 2, "evil.npz")
