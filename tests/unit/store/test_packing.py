"""A folder's digest depends on names and contents alone, and what is packed means the same on every machine."""

from __future__ import annotations

import io
import os
import shutil
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from deltann.errors import InputError, StoreError
from deltann.store import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def make(folder: Path, names: tuple[str, ...] = ("a", "b/c", "b/d", "b.txt", "ü é")) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"content of {name.rpartition('/')[2]}")
    return folder


def tree(folder: Path) -> dict[str, str | None]:
    """Names and contents; None for folders."""
    return {str(path.relative_to(folder)): path.read_text() if path.is_file() else None for path in folder.rglob("*")}


def _later(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (1, 2))


def _other_rights(folder: Path) -> None:
    (folder / "a").chmod(0o700)
    (folder / "b").chmod(0o777)


@pytest.mark.parametrize("change", [_later, _other_rights])
def test_neither_times_nor_rights_are_in_the_digest(
    tmp_path: Path, store: LocalStore, change: Callable[[Path], None]
) -> None:
    plain = store.put_path(make(tmp_path / "f"))
    change(tmp_path / "f")
    assert store.put_path(tmp_path / "f") == plain


def test_the_order_of_writing_is_not_in_the_digest(tmp_path: Path, store: LocalStore) -> None:
    names = ("a", "b/c", "b/d", "b.txt", "ü é")
    one = store.put_path(make(tmp_path / "one", names), "f")
    assert store.put_path(make(tmp_path / "two", names[::-1]), "f") == one


def test_two_names_of_one_file_are_two_files(tmp_path: Path, store: LocalStore) -> None:
    for name in ("one", "two"):
        (make(tmp_path / name) / "b/d").write_text("content of c")
    (tmp_path / "two/b/d").unlink()
    (tmp_path / "two/b/d").hardlink_to(tmp_path / "two/b/c")
    assert store.put_path(tmp_path / "one", "f") == store.put_path(tmp_path / "two", "f")


@pytest.mark.parametrize("other", ["content", "name", "empty folder"])
def test_names_contents_and_empty_folders_are_in_the_digest(tmp_path: Path, store: LocalStore, other: str) -> None:
    plain = store.put_path(make(tmp_path / "f"))
    match other:
        case "content":
            (tmp_path / "f/a").write_text("Content of a")
        case "name":
            (tmp_path / "f/a").rename(tmp_path / "f/A")
        case _:
            (tmp_path / "f/new").mkdir()
    assert store.put_path(tmp_path / "f").digest != plain.digest


def test_what_is_packed_comes_out_the_same(tmp_path: Path, store: LocalStore) -> None:
    long = "/".join(["x" * 90] * 3)
    folder = make(tmp_path / "f", ("a", "b/c", long, "späte 写真.txt"))
    assert tree(store.materialise(store.put_path(folder), tmp_path / "cache")) == tree(folder)


def test_links_within_the_folder_are_stored_as_what_they_lead_to(tmp_path: Path, store: LocalStore) -> None:
    folder = make(tmp_path / "f")
    (folder / "file").symlink_to("b/c")
    (folder / "absolute").symlink_to(folder / "b" / "d")
    (folder / "folder").symlink_to("b")
    shutil.copytree(folder, tmp_path / "copy", symlinks=False)
    assert store.put_path(folder, "f") == store.put_path(tmp_path / "copy", "f")
    assert not any(path.is_symlink() for path in store.materialise(store.put_path(folder), tmp_path / "c").rglob("*"))


@pytest.mark.parametrize("target", ["../outside", "/etc/hostname", "nowhere", "itself", "b/../../outside"])
def test_links_out_of_the_folder_or_nowhere_are_refused(tmp_path: Path, store: LocalStore, target: str) -> None:
    (tmp_path / "outside").write_text("private")
    folder = make(tmp_path / "f")
    (folder / "itself").symlink_to(target)
    with pytest.raises(InputError, match=r"f/itself is a link that leads out of its folder, or nowhere.*cp -rL"):
        store.put_path(folder)


@pytest.mark.parametrize("links", [{"b/x": ".."}, {"b/x": "."}, {"a_/x": "../b", "b/y": "../a_"}])
def test_links_without_an_end_are_refused(tmp_path: Path, store: LocalStore, links: dict[str, str]) -> None:
    folder = make(tmp_path / "f")
    for name, target in links.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(target)
    with pytest.raises(InputError, match="has no end"):
        store.put_path(folder)


def test_what_is_neither_file_nor_folder_is_refused(tmp_path: Path, store: LocalStore) -> None:
    folder = make(tmp_path / "f")
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match=r"f/pipe is neither a file nor a folder"):
        store.put_path(folder)
    (folder / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "s"))
        with pytest.raises(InputError, match=r"f/s is neither"):
            store.put_path(folder)


def test_a_name_that_is_no_text_is_refused(tmp_path: Path, store: LocalStore) -> None:
    folder = make(tmp_path / "f")
    (folder / os.fsdecode(b"caf\xe9.png")).write_text("x")
    with pytest.raises(InputError, match=r"caf.udce9\.png' is not UTF-8"):
        store.put_path(folder)


def test_what_cannot_be_read_is_named(tmp_path: Path, store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "f")
    whole = Path.open

    def refuse(self: Path, *arguments: str) -> object:
        if self.name == "c":
            raise PermissionError(13, "Permission denied")
        return whole(self, *arguments)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"f/b/c cannot be read \(Permission denied\)"):
        store.put_path(folder)


def test_no_room_for_the_temporary_file_is_told(
    tmp_path: Path, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    with pytest.raises(StoreError, match=r"Could not pack the folder .*No space left.*TMPDIR"):
        store.put_path(make(tmp_path / "f"))


@pytest.mark.parametrize("name", ["", ".", "..", "../../x", "a\0b"])
def test_a_name_leads_nowhere_else_when_it_is_laid_out(tmp_path: Path, store: LocalStore, name: str) -> None:
    store.put_bytes(b"other", "other")
    ref = store.put_bytes(b"x", name)
    for _ in range(2):
        place = store.materialise(ref, tmp_path / "cache")
        assert place.read_bytes() == b"x"
        assert place.parent == tmp_path / "cache" / ref.digest[:2] / ref.digest


def archive(path: Path, mode: str, *members: tuple[str, bytes, bytes]) -> Path:
    """A tar of (name, type, content or link)."""
    with tarfile.open(path, mode) as tar:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(content) if kind == tarfile.REGTYPE else 0
            info.linkname = "" if kind == tarfile.REGTYPE else content.decode()
            tar.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("mode", "members"),
    [
        ("w", [("../out", tarfile.REGTYPE, b"x")]),
        ("w", [("/etc/out", tarfile.REGTYPE, b"x")]),
        ("w", [("a", tarfile.SYMTYPE, b"/etc"), ("a/passwd", tarfile.REGTYPE, b"x")]),
        ("w", [("a", tarfile.SYMTYPE, b"b")]),
        ("w", [("a", tarfile.LNKTYPE, b"../../secret")]),
        ("w", [("a", tarfile.CHRTYPE, b"")]),
        ("w", [("a", tarfile.FIFOTYPE, b"")]),
        ("w", [("a", tarfile.GNUTYPE_SPARSE, b"")]),
        ("w:gz", [("a", tarfile.REGTYPE, bytes(10_000_000))]),
        ("w:xz", [("a", tarfile.REGTYPE, bytes(10_000_000))]),
    ],
    ids=["up", "root", "through a link", "link", "hard link", "device", "pipe", "sparse", "gzip", "xz"],
)
def test_an_archive_neither_escapes_nor_explodes(
    tmp_path: Path, store: LocalStore, mode: str, members: list[tuple[str, bytes, bytes]]
) -> None:
    packed = archive(tmp_path / "packed", mode, *members)
    ref = store.put_path(packed, "folder").model_copy(update={"packing": "tar"})
    before = sorted(path for path in tmp_path.rglob("*") if "store" not in path.parts)
    with pytest.raises(InputError):
        store.materialise(ref, tmp_path / "store-cache")
    left = [path for path in tmp_path.rglob("*") if "store" not in path.parts and "store-cache" not in path.parts]
    assert sorted(left) == before
    assert not [path for path in (tmp_path / "store-cache").rglob("*") if path.is_file()]


def test_an_archive_of_too_many_files_is_given_up(
    tmp_path: Path, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deltann.store.packing.MOST_MEMBERS", 3)
    ref = store.put_path(make(tmp_path / "f"))
    with pytest.raises(InputError, match="more than 3 files"):
        store.materialise(ref, tmp_path / "cache")


def test_a_truncated_archive_is_told(tmp_path: Path, store: LocalStore) -> None:
    whole = store.read(store.put_path(make(tmp_path / "f")))
    for size in (0, 100, 700, len(whole) // 2):
        ref = store.put_bytes(whole[:size], "f").model_copy(update={"packing": "tar"})
        try:
            place = store.materialise(ref, tmp_path / f"cache-{size}")
        except InputError:
            continue
        assert size % 512 == 0, "only a tar cut between its files looks like a smaller one"
        assert set(tree(place)) < set(tree(tmp_path / "f"))
