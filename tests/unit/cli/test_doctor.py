from __future__ import annotations

from pathlib import Path

import pytest

from deltann.cli import doctor

ROOT = Path(__file__).resolve().parents[3]


def found(home: Path) -> dict[str, doctor.Check]:
    return {check.name: check for check in doctor.examine(home)}


def test_tested_versions_are_the_pinned_ones() -> None:
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line)
    assert {name: pins[name] for name in doctor.TESTED} == doctor.TESTED


def test_nothing_necessary_is_missing_in_the_built_environment(tmp_path: Path) -> None:
    checks = found(tmp_path / "home")
    assert [check for check in checks.values() if check.state == "missing"] == []
    assert {"python", "torch", "C compiler", "embedded Redis", "disk", "CPU"} <= set(checks)


def test_a_store_that_is_not_there_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("DELTANN_STORE", str(blocked / "store"))
    assert found(tmp_path)["store"].state == "missing"


def test_a_redis_that_is_not_there_is_missing_and_its_password_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTANN_REDIS", "redis://:secret@127.0.0.1:1/0")
    check = found(tmp_path)["Redis"]
    assert check.state == "missing"
    assert "secret" not in check.found + check.advice


def test_without_a_c_compiler_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = found(tmp_path)["C compiler"]
    assert check.state == "missing"
    assert "apt-get install gcc" in check.advice
