"""What ``tools/setup.sh`` says, in one paragraph, where the machine lacks something; nothing is installed here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[3] / "tools" / "setup.sh"
ALWAYS = ("bash", "env", "dirname", "cat", "sha256sum", "cut", "pwd", "tr", "tail", "rm", "ls")
NEEDED = ("git", "make", "cc")


def told(folder: Path, commands: Iterable[str], python: str | None = "3.11", venv: bool = True) -> str:
    """The paragraph of a setup by a person who is not root and has these commands."""
    place = folder / "bin"
    place.mkdir()
    for name in (*ALWAYS, *commands):
        found = shutil.which(name)
        if found:
            (place / name).symlink_to(found)
        else:
            (place / name).write_text("#!/bin/bash\n")
    (place / "id").write_text("#!/bin/bash\necho 1000\n")
    # Enough room is what ends a setup that lacks nothing.
    (place / "df").write_text("#!/bin/bash\necho Avail; echo 1G\n")
    if python is not None:
        major, minor = python.split(".")
        (place / "python3").write_text(
            "#!/bin/bash\n"
            f'case "$2" in *ensurepip*) exit {0 if venv else 1};; *print*) echo {python};; '
            f"*version_info*) exit $(( {major} == 3 && 11 <= {minor} && {minor} < 13 ? 0 : 1 ));; esac\n"
        )
    for path in place.iterdir():
        if not path.is_symlink():
            path.chmod(0o755)
    done = subprocess.run(
        [shutil.which("bash") or "bash", str(SETUP)],
        env={"PATH": str(place), "DELTANN_VENV": str(folder / "venv")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stdout == ""
    (paragraph,) = done.stderr.splitlines()
    return paragraph


@pytest.mark.parametrize(("lacking", "package"), [("git", "git"), ("make", "make"), ("cc", "gcc")])
def test_a_command_that_is_not_there_is_told_with_its_package(tmp_path: Path, lacking: str, package: str) -> None:
    text = told(tmp_path, [name for name in NEEDED if name != lacking])
    assert f"needs {lacking} (" in text
    assert f"sudo apt-get install {package}." in text


@pytest.mark.parametrize("python", [None, "3.9", "3.10", "3.13", "2.7"])
def test_a_python_that_does_not_fit_is_told(tmp_path: Path, python: str | None) -> None:
    text = told(tmp_path, NEEDED, python)
    assert "Python 3.11 or 3.12" in text
    assert "sudo apt-get install python3 python3-venv." in text


@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_a_python_without_venv_is_told_with_the_package_of_its_version(tmp_path: Path, python: str) -> None:
    assert f"sudo apt-get install python{python}-venv." in told(tmp_path, NEEDED, python, venv=False)


def test_all_that_is_lacking_is_told_at_once(tmp_path: Path) -> None:
    assert "sudo apt-get install git make gcc python3 python3-venv." in told(tmp_path, [], None)


def test_a_machine_that_lacks_nothing_gets_as_far_as_its_disk(tmp_path: Path) -> None:
    assert "only 1 GB are free" in told(tmp_path, NEEDED)
