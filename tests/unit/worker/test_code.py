from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from deltann.worker.code import code_version


@pytest.fixture(autouse=True)
def _fresh() -> None:
    code_version.cache_clear()


def handler(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "some_service").mkdir(parents=True)
    (folder / "some_service/__init__.py").write_text("")
    (folder / "some_service/work.py").write_text(text)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return code_version("some_service.work:run")


def test_a_handler_that_is_mended_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = handler(tmp_path / "a", "x = 1", monkeypatch)
    code_version.cache_clear()
    other = handler(tmp_path / "b", "x = 2", monkeypatch)
    code_version.cache_clear()
    same = handler(tmp_path / "c", "x = 1", monkeypatch)
    assert one != other
    assert one == same
    assert one.startswith(version("deltann") + "+")


def test_services_are_told_apart_and_nothing_is_imported() -> None:
    before = set(sys.modules)
    assert code_version("deltann_analyzer.handler:analyze") != code_version("deltann_converter.convert:convert")
    assert "torch" not in set(sys.modules) - before
