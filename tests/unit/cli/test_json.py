"""What any command prints with --json is one JSON document, and all that is on stdout."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import Result

from deltann.artifact import ArtifactRef
from deltann.cli.agreement import Outputs
from deltann.cli.backends import Work
from deltann.cli.convert import Converted
from deltann.cli.home import print_json
from deltann.cli.main import app
from deltann.cli.single import Bench, ReadyModel
from deltann.embedded import StackInfo
from deltann.fleet import FleetView
from deltann.job import JobResult
from deltann.kinds.bisect import BisectData
from deltann.kinds.compile import CompileData, ImportData
from deltann.kinds.repair import Disagreement, LocalizeData, RepairData
from deltann.kinds.resolve import DataManifest, DataShard, LeftOut
from deltann.model import ModelInfo, TensorSpec
from deltann.outcome import Outcome
from deltann.sweep import SweepStatus

Command = Callable[..., Result]
INFO = ModelInfo(
    format="onnx",
    input=TensorSpec(name="x", shape=(1, 4), dtype="float32"),
    output=TensorSpec(name="y", shape=(1, 2), dtype="float32"),
    output_kind="logits",
)
ANALYSIS = {"gates_ok": True, "summary": ["all → well"]}
REF = ArtifactRef(digest="0" * 64, size=1, name="made")
SHARD = DataShard(blob=REF, start=0, stop=1)
EQUAL = Disagreement(n=1, differing=(), error=0.0)
STATUS = SweepStatus(id="abc", name="small", state="done", analysis=ANALYSIS)
STUDY = """\
schema: deltann.study/1
name: small
models:
  - name: net
    natives: [{source: efficientnet_lite0}]
    preprocessing: [efficientnet_lite]
data: {source: "foolbox:imagenet"}
"""
COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("sweep", "run"): ("study.yaml",),
    ("sweep", "submit"): ("study.yaml",),
    ("sweep", "list"): (),
    ("sweep", "status"): ("abc",),
    ("sweep", "watch"): ("abc",),
    ("sweep", "cancel"): ("abc",),
    ("sweep", "fetch"): ("abc",),
    ("stack", "up"): ("--detach",),
    ("stack", "status"): (),
    ("stack", "down"): (),
    ("spec", "check"): ("study.yaml",),
    ("convert",): ("m.keras", "--to", "onnx", "--out", "o.onnx"),
    ("compile",): ("m.onnx", "--out", "o.so"),
    ("mutate",): ("--list",),
    ("localize",): ("a.onnx", "b.onnx", "--data", "photos", "--preprocess", "none"),
    ("repair",): ("a.onnx", "b.onnx", "--data", "photos", "--preprocess", "none", "--out", "o.onnx", "--no-tvm"),
    ("bisect",): ("m.onnx", "--data", "photos", "--preprocess", "none"),
    ("run",): ("m.onnx", "--data", "photos", "--preprocess", "tf", "--out", "o.npz"),
    ("compare",): ("a.npz", "a.npz"),
    ("targets",): (),
    ("top",): (),
    ("worker",): ("--check",),
    ("doctor",): (),
}
"""Every command with --json, and how it is called here."""
SILENT = {("spec", "schema")}
"""Those that print JSON anyway."""


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        inner = getattr(command, "commands", None)
        if inner is None:
            yield path, command
            return
        for name, child in inner.items():
            yield from walk(child, (*path, name))

    return walk(typer.main.get_command(app), ())


def test_every_command_has_it() -> None:
    having = {path for path, command in commands() if any("--json" in option.opts for option in command.params)}
    assert having == set(COMMANDS)
    assert {path for path, _ in commands()} - having == SILENT


class Backend:
    """One sweep, which is done."""

    def submit(self, study: object) -> str:
        return STATUS.id

    def status(self, sid: str) -> SweepStatus:
        return STATUS

    def list_sweeps(self) -> list[SweepStatus]:
        return [STATUS]

    def watch(self, sid: str) -> Iterator[SweepStatus]:
        yield STATUS.model_copy(update={"state": "running"})
        yield STATUS

    def cancel(self, sid: str) -> None: ...

    def fetch_report(self, sid: str, out: Path) -> Path:
        return out

    def fleet(self) -> FleetView:
        return FleetView(time=1.0)


class Store:
    def materialise(self, ref: object, cache: Path) -> Path:
        made = cache / "made"
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text("[]")
        return made


DONE = {
    "import": ImportData(info=INFO, route="onnx", parity=None),
    "compile": CompileData(info=INFO, target={}, passes=[], size_bytes=4, cpu_seconds=float("nan"), kernels=1),
    "bisect": BisectData(comparisons=(), findings=(), candidates=0, failed={}),
    "localize": LocalizeData(agreement=EQUAL, inputs=(), suspects=0),
    "repair": RepairData(before=EQUAL, after=EQUAL, steps=(), stopped="nothing disagrees", info=INFO),
}


def _done(bench: Bench, kind: str, *_: object) -> JobResult:
    data = DONE[kind]
    artifacts = {name: REF.model_copy(update={"name": name}) for name in ("ir", "module", "suspects", "model", "patch")}
    known = {"kind": kind, "outcome": Outcome.OK, "result_key": "1" * 64}
    return JobResult.model_validate({**known, "data": data.model_dump(mode="json"), "artifacts": artifacts})


@pytest.fixture
def played(deltann: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line with everybody who works played."""
    labels = np.zeros((1, 1), np.int32)
    outputs = Outputs(labels=labels, valid=np.array([True]), scores=np.full((1, 1), np.nan, np.float32))
    np.savez(tmp_path / "a.npz", labels=labels, valid=outputs.valid, outputs=np.full((1, 1), np.inf, np.float32))
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "photos").mkdir()

    @contextmanager
    def work(*_: object, **__: object) -> Iterator[Work]:
        yield Work(Backend(), None)  # type: ignore[arg-type]

    @contextmanager
    def fleet(*_: object) -> Iterator[tuple[Callable[[], FleetView], Backend]]:
        yield Backend().fleet, Backend()

    ready = ReadyModel("m", None, INFO)  # type: ignore[arg-type]
    manifest = DataManifest(
        kind="images", ids=("a",), labels=(0,), shards=(SHARD,), left_out=(LeftOut(id="ü.png", why="é"),)
    )
    stack = StackInfo(pid=1, redis_url="unix:///r", store_url="file:///s", started=1.0)
    for name, player in {
        "studies.working": work,
        "sweep.reading": work,
        "top._watching": fleet,
        "stack._detach": lambda *_: 1,
        "stack.running_stack": lambda home: stack,
        "stack.stop_stack": lambda home: True,
        "worker._check": lambda redis: "worker:this",
        "single.Bench.at": lambda home: Bench(home, Store()),  # type: ignore[arg-type]
        "single.Bench.do": _done,
        "single.Bench.model": lambda *_, **__: ready,
        "single.Bench.data": lambda *_: manifest,
        "model.execute": lambda *_: outputs,
        "model.convert_here": lambda *_, **__: Converted(model=REF, format="onnx", steps=[]),
    }.items():
        monkeypatch.setattr(f"deltann.cli.{name}", player)
    return deltann


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_it_is_one_document_and_all_of_stdout(played: Command, command: tuple[str, ...]) -> None:
    done = played(*command, *COMMANDS[command], "--json")
    assert done.exit_code in ((0, 3) if command == ("doctor",) else (0,)), done.output
    # What is watched is told at every change, a line each.
    for document in done.stdout.splitlines() if command == ("sweep", "watch") else [done.stdout]:
        found = json.loads(document, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert isinstance(found, dict | list)
    assert done.stdout.isascii()


@pytest.mark.parametrize("command", sorted(SILENT), ids=" ".join)
def test_a_schema_is_one_document(deltann: Command, command: tuple[str, ...]) -> None:
    assert isinstance(json.loads(deltann(*command).stdout), dict)


def test_what_json_cannot_say_is_null_and_what_no_terminal_shows_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [float("nan"), float("inf"), 1.5], "b": Path("\udcff/é"), "c": STATUS})
    text = capsys.readouterr().out
    found = json.loads(text)
    assert (found["a"], found["b"], found["c"]["id"]) == ([None, None, 1.5], "\udcff/é", "abc")
    assert text.isascii()


def test_the_verdict_of_a_watched_sweep_follows_its_status(played: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = STATUS.model_copy(update={"analysis": {"gates_ok": False, "summary": []}})
    monkeypatch.setattr(Backend, "watch", lambda *_: iter([broken]))
    done = played("sweep", "watch", "abc", "--json")
    assert (done.exit_code, json.loads(done.stdout)["analysis"]["gates_ok"]) == (1, False)
