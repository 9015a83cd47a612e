from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from deltann.artifact import ArtifactRef
from deltann.cli.single import Bench, ReadyModel
from deltann.job import JobResult
from deltann.kinds.bisect import BisectData, BisectParams, Comparison, Finding, NamedNode, NamedPass, Setting
from deltann.kinds.resolve import DataManifest, DataShard
from deltann.model import ModelInfo, TensorSpec
from deltann.outcome import Outcome

Command = Callable[..., Result]
REF = ArtifactRef(digest="0" * 64, size=1, name="made")
INFO = ModelInfo(
    format="onnx",
    input=TensorSpec(name="x", shape=(1, 4), dtype="float32"),
    output=TensorSpec(name="y", shape=(1, 2), dtype="float32"),
    output_kind="logits",
)
DIFFERS = Comparison(a="level 0", b="level 4", n=3, differing=(1,), error=0.25, symptom="differs")
FOUND = Finding(
    comparison=DIFFERS,
    position=1,
    passes=(NamedPass(name="FuseOps", joins="1"), NamedPass(name="FuseTIR", joins="1")),
    avoided_by=("FuseOps",),
    nodes=(NamedNode(name="dense", op_type="Gemm", output="y"),),
    alone=0.5,
    minimal=True,
    reproducer="level-4",
    reproduced=False,
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, BisectParams]:
    """What the job is asked; it answers with a finding."""
    kept: dict[str, BisectParams] = {}

    def do(bench: Bench, kind: str, params: BisectParams, *_: object) -> JobResult:
        kept[kind] = params
        data = BisectData(comparisons=(DIFFERS,), findings=(FOUND,), candidates=9, failed={"crashed": 1})
        return JobResult(kind=kind, result_key="1" * 64, outcome=Outcome.OK, data=data.model_dump(mode="json"))

    shard = DataShard(blob=REF, start=0, stop=3)
    manifest = DataManifest(kind="tensors", ids=("a", "b", "c"), labels=(None,) * 3, shards=(shard,), left_out=())
    monkeypatch.setattr(Bench, "do", do)
    monkeypatch.setattr(Bench, "model", lambda *_, **__: ReadyModel("m", REF, INFO))
    monkeypatch.setattr(Bench, "data", lambda *_: manifest)
    return kept


@pytest.mark.parametrize(
    ("words", "a", "b"),
    [
        ((), Setting(level=0), Setting(level=4)),
        (("--opt", "default"), Setting(level=0), Setting(level=2)),
        (("--opt", "3", "--precision", "fp16"), Setting(level=3), Setting(level=3, precision="fp16")),
        (("--opt", "2", "--schedule", "naive"), Setting(level=2), Setting(level=2, schedule="naive")),
        (
            ("--opt", "2", "--precision", "bf16", "--against-opt", "1", "--against-precision", "fp16"),
            Setting(level=1, precision="fp16"),
            Setting(level=2, precision="bf16"),
        ),
        (("--opt", "0", "--enable", "LLVMFastMath"), Setting(level=0), Setting(level=0, enable=("LLVMFastMath",))),
    ],
)
def test_what_is_asked_of_one_is_held_against_the_other(
    deltann: Command, asked: dict[str, BisectParams], words: tuple[str, ...], a: Setting, b: Setting
) -> None:
    done = deltann("bisect", "m.onnx", "--data", "d.npz", "--preprocess", "none", *words)
    assert done.exit_code == 0, done.output
    assert (asked["bisect"].a, asked["bisect"].b) == (a, b)


def test_a_finding_is_told_in_lines(deltann: Command, asked: dict[str, BisectParams]) -> None:
    done = deltann("bisect", "m.onnx", "--data", "d.npz", "--preprocess", "none")
    assert done.stdout.splitlines() == [
        "level 4 against level 0: 1 of 3 inputs differ, error 0.25",
        "1. level 4: by FuseOps (1) and FuseTIR (1)",
        "     on input b; 1 of the model's nodes show it alone:",
        "     Gemm dense → y",
        "     avoided by --disable FuseOps",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--opt", "0"), "Both are level 0, so they are one build"),
        (("--opt", "5"), "--opt takes basic"),
        (("--against-opt", "none"), "--against-opt takes basic"),
        (("--target", "rapsberry"), "did you mean"),
        (("--target", "native"), "--target"),
        (("--disable", "Fuse"), "names no pass"),
        (("--tolerance", "0"), "--tolerance is a number above 0"),
        (("--out", "{}"), "is a folder with other things in it"),
    ],
)
def test_what_cannot_be_begun_is_refused(
    deltann: Command, asked: dict[str, BisectParams], tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "other").write_text("")
    given = (word.format(tmp_path) for word in words)
    done = deltann("bisect", "m.onnx", "--data", "d.npz", "--preprocess", "none", *given)
    assert done.exit_code == 2, done.output
    assert said in done.stderr


def test_a_compiled_module_has_no_passes_to_look_at(
    deltann: Command, asked: dict[str, BisectParams], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bench, "model", lambda *_, **__: ReadyModel("m.so", REF, INFO, compiled=True))
    done = deltann("bisect", "m.so", "--data", "d.npz", "--preprocess", "none")
    assert done.exit_code == 2
    assert "m.so is compiled already. Name its model." in done.stderr
