from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import deltann
from deltann.worker.code import _sources, _version, code_version

CORE = Path(deltann.__file__).parent
EXECUTE = "deltann_executor.execute:execute"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    _version.cache_clear()


def handler(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "some_service").mkdir(parents=True)
    (folder / "some_service/__init__.py").write_text("")
    (folder / "some_service/work.py").write_text(text)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return code_version("some_service.work:run")


def test_a_handler_that_is_mended_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = handler(tmp_path / "a", "x = 1", monkeypatch)
    _version.cache_clear()
    other = handler(tmp_path / "b", "x = 2", monkeypatch)
    _version.cache_clear()
    same = handler(tmp_path / "c", "x = 1", monkeypatch)
    assert one != other
    assert one == same
    assert one.startswith(version("deltann") + "+")


def test_services_are_told_apart_and_nothing_is_imported() -> None:
    before = set(sys.modules)
    assert code_version("deltann_analyzer.handler:analyze") != code_version("deltann_converter.convert:convert")
    assert "torch" not in set(sys.modules) - before


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DeltaNN's own code once more, to be changed."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(CORE, folder / "deltann", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def version_in(folder: Path, handler: str = EXECUTE) -> str:
    """What a new process that finds DeltaNN in that folder says."""
    code = (
        "import sys, deltann; from pathlib import Path; from deltann.worker.code import code_version; "
        "assert Path(deltann.__file__).parents[1] == Path(sys.argv[1]); print(code_version(sys.argv[2]))"
    )
    # Its own place first, and then those of this process: the services are the same that it has.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)])}
    command = [sys.executable, "-c", code, str(folder), handler]
    ended = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


@pytest.fixture(scope="module")
def unchanged(copy: Path) -> str:
    return version_in(copy)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("kinds/execute.py", True),
        ("kinds/__init__.py", True),
        ("preprocess/apply.py", True),
        ("preprocess/steps.py", True),
        ("align.py", True),
        ("model.py", True),
        ("data/shards.py", True),
        ("store/base.py", True),
        ("worker/child.py", True),
        ("worker/trouble.py", True),
        ("cli/main.py", False),
        ("client/wire.py", False),
        ("dispatcher/graph.py", False),
        ("kinds/analyze.py", False),
        ("report/models.py", False),
    ],
)
def test_what_an_execution_depends_on_is_another_version_and_nothing_else_is(
    copy: Path, unchanged: str, name: str, counts: bool
) -> None:
    file = copy / "deltann" / name
    text = file.read_text()
    file.write_text(f"{text}\n# mended\n")
    try:
        assert (version_in(copy) != unchanged) is counts
    finally:
        file.write_text(text)


def test_a_copy_that_is_the_same_is_the_same_version(unchanged: str) -> None:
    assert unchanged == code_version(EXECUTE)


@pytest.mark.parametrize(
    ("handler", "package", "name"),
    [
        ("deltann_converter.convert:convert", "deltann_engines", "base.py"),
        ("deltann_compiler.compiling:compile_model", "deltann_compiler", "levels.py"),
        ("deltann_analyzer.handler:analyze", "deltann_analyzer", "tables.py"),
        ("deltann_analyzer.handler:analyze", "deltann", "report/models.py"),
    ],
)
def test_the_sources_of_a_service_are_named(handler: str, package: str, name: str) -> None:
    assert f"{package}/{name}" in {found for found, _ in _sources(handler.partition(".")[0])}
