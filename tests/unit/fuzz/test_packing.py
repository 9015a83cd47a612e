"""Any bytes lay out a folder or are refused, and nothing lies outside of it."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltann.store.packing import pack, unpack

from .harness import brief, hold, mutated


def tar(members: Sequence[tuple[str, bytes, bytes]], pax: dict[str, str] | None = None) -> bytes:
    """Members of (name, type, content), each with the same extended header."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as made:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.pax_headers = kind, len(content), pax or {}
            made.addfile(info, io.BytesIO(content))
    return file.getvalue()


def sized(size: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A member that says another size than it has, with a checksum that is right."""
    head = bytearray(tar([("a", kind, b"")])[:512])
    head[124:136] = size
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) * 3 + bytes(1024)


FILE, FOLDER = tarfile.REGTYPE, tarfile.DIRTYPE
WHOLE = tar([("b", FOLDER, b""), ("b/c", FILE, b"content"), ("ü" * 80, FILE, b"x" * 600), ("d", FILE, b"")])
NAMES = st.one_of(
    st.sampled_from(["a", "a/b", "a/b/c", ".", "./a", "..", "a/../b", "../x", "/x", "", "a//b", "a/", "é", "x" * 300]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
KINDS = st.sampled_from([FILE, FILE, FOLDER, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.GNUTYPE_LONGNAME, b"x", b"Z"])


def lay_out(home: Path, content: bytes) -> None:
    inner, packed = home / "inner", home / "packed"
    shutil.rmtree(inner, ignore_errors=True)
    inner.mkdir()
    packed.write_bytes(content)
    before = set(home.rglob("*"))
    hold(lambda: unpack(packed, inner / "folder"))
    assert all(path.is_relative_to(inner / "folder") for path in set(home.rglob("*")) - before)
    assert not any(path.is_symlink() for path in home.rglob("*"))
    assert sum(path.stat().st_size for path in inner.rglob("*") if path.is_file()) <= len(content)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tar")


def test_what_is_changed_was_whole(home: Path) -> None:
    (home / "whole").write_bytes(WHOLE)
    unpack(home / "whole", home / "laid")
    file = io.BytesIO()
    pack(home / "laid", file)
    assert (home / "laid/b/c").read_bytes() == b"content"
    assert len(list((home / "laid").rglob("*"))) == 4


@brief(120)
@given(st.one_of(st.binary(max_size=600), mutated(WHOLE)))
@example(sized(b"\xff" * 12))  # a negative size: backwards in the file
@example(sized(b"\xff" * 11 + b"\xfe", tarfile.GNUTYPE_LONGNAME))
@example(sized(b"\xff" * 10 + b"\xfc\x00"))
@example(sized(b"\x80" + b"\x7f" * 11))
@example(sized(b"\x80\0\0\0" + b"\x7f" + b"\xff" * 7))
@example(sized(b"77777777777\0"))
@example(sized(b"-0000001000\0"))
def test_any_archive(home: Path, content: bytes) -> None:
    lay_out(home, content)


@brief(120)
@given(
    st.lists(st.tuples(NAMES, KINDS, st.binary(max_size=20)), max_size=5),
    st.dictionaries(
        st.sampled_from(["path", "size", "mtime", "uid", "hdrcharset", "GNU.sparse.map", "GNU.sparse.size"]),
        st.one_of(NAMES, st.sampled_from(["-1", "1e9", "0", "-512", "9" * 40, "1,2", "BINARY"])),
        max_size=2,
    ),
)
@example([("a", FILE, b"x"), ("a/b", FILE, b"x")], {})
@example([("a/b", FILE, b"x"), ("a", FILE, b"x")], {})
@example([("a", FILE, b"x"), ("a", FOLDER, b"")], {})
@example([("x" * 300, FILE, b"x")], {})
@example([("x/" * 1500 + "x", FOLDER, b"")], {})
@example([("x/" * 5000 + "x", FILE, b"")], {})
@example([(".", FILE, b"x")], {})
@example([("a\0b", FILE, b"x")], {"path": "a\0b"})
@example([("a", FILE, b"x")], {"size": "-512"})
@example([("a", FILE, b"x")], {"size": "9" * 40})
@example([("a", FILE, b"x")], {"GNU.sparse.map": "a,b"})
@example([("a", FILE, b"x")], {"GNU.sparse.size": "x"})
@example([("n" * 3000 + "/..", FILE, b"x")], {})
def test_members_of_any_name_and_kind(home: Path, members: list[tuple[str, bytes, bytes]], pax: dict[str, str]) -> None:
    lay_out(home, tar(members, pax))


def test_long_names_without_an_end(home: Path) -> None:
    lay_out(home, sized(b"%011o\0" % 0, tarfile.GNUTYPE_LONGNAME)[:512] * 3000)
