from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("repair", "a.onnx", "b.onnx", "--out", "b.tflite"), "--out b.onnx rather than b.tflite"),
        (("repair", "a.onnx", "b.onnx", "--out", "{}/there.onnx"), "there.patch.json is there already"),
        (("localize", "{}/a.onnx", "b.onnx"), "a.onnx"),
    ],
)
def test_what_cannot_be_begun_is_refused(deltann: Command, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "there.patch.json").write_text("[]")
    given = (word.format(tmp_path) for word in words)
    done = deltann(*given, "--data", tmp_path, "--preprocess", "none")
    assert done.exit_code == 2, done.output
    assert said in done.stderr
