"""Results go where they can, replace only what is like them, and are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deltann.cli.places import check_out, check_writable, written
from deltann.errors import InputError, WorkError


@pytest.mark.parametrize("made", ["file", "folder"])
def test_a_new_place_is_fine_and_its_folders_are_made(tmp_path: Path, made: str) -> None:
    out = tmp_path / "new folder" / "ü" / "out"
    check_out(out, False, made)  # type: ignore[arg-type]
    assert not out.parent.exists()
    with written(out) as new:
        new.mkdir() if made == "folder" else new.write_text("x")
    assert out.is_dir() == (made == "folder")
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("name", "made", "told"),
    [
        ("file", "file", "--force"),
        ("file", "folder", "is a file, and a folder is written"),
        ("folder", "file", "is a folder, and a file is written"),
        ("folder", "folder", "other things in it"),
        ("model", "folder", "--force"),
        ("/dev/null", "file", "neither a file nor a folder"),
        ("dangling", "file", "neither a file nor a folder"),
        ("file/below", "file", "is no folder"),
        ("x" * 300, "file", "File name too long"),
        ("nul\0", "file", "null"),
    ],
)
def test_a_place_that_cannot_be_is_refused(tmp_path: Path, name: str, made: str, told: str) -> None:
    (tmp_path / "file").write_text("precious")
    for folder, inside in (("folder", "precious"), ("model", "saved_model.pb")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / inside).write_text("precious")
    (tmp_path / "dangling").symlink_to("nowhere")
    for force in (False, True) if "--force" not in told else (False,):
        with pytest.raises(InputError, match=told):
            check_out(tmp_path / name, force, made)  # type: ignore[arg-type]
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("name", ["file", "model", "empty"])
def test_force_replaces_what_is_like_the_result(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "empty").mkdir()
    (tmp_path / "model/variables").mkdir(parents=True)
    (tmp_path / "model/saved_model.pb").write_text("old")
    out = tmp_path / name
    made = "file" if name == "file" else "folder"
    check_out(out, True, made)  # type: ignore[arg-type]
    with written(out) as new:
        if made == "file":
            new.write_text("new")
        else:
            new.mkdir()
            (new / "saved_model.pb").write_text("new")
    assert (out if made == "file" else out / "saved_model.pb").read_text() == "new"
    assert not (out / "variables").exists()
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_without_the_right_to_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=f"this user may not write in {tmp_path}"):
        check_writable(tmp_path / "a" / "b")


def test_what_was_there_is_kept_where_writing_fails(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")

    def write_half() -> None:
        with written(out) as new:
            new.write_text("half")
            raise OSError(28, os.strerror(28))

    with pytest.raises(WorkError, match=r"Could not write .*out: No space left on device.*--out"):
        write_half()
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_a_link_leads_to_is_replaced_and_not_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with written(tmp_path / "link") as new:
        new.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
