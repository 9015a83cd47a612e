from __future__ import annotations

import os
import time
from pathlib import Path
from typing import BinaryIO

import deltann_gateway.uploads as uploads
import pytest
from deltann_gateway.refusals import LimitError, OffsetError, TakenError
from deltann_gateway.uploads import Spool, UploadLimits

from deltann.artifact import ArtifactRef
from deltann.digest import digest_bytes
from deltann.errors import CorruptArtifactError, StoreError

LIMITS = UploadLimits(partial=3, partial_bytes=100, keep_s=60.0)


def ref(data: bytes, name: str = "m.onnx") -> ArtifactRef:
    return ArtifactRef(digest=digest_bytes(data), size=len(data), name=name)


def arrive(spool: Spool, data: bytes, part: bytes, offset: int = 0, owner: str = "ci") -> Path:
    with spool.open(owner, ref(data), offset) as partial:
        partial.write(part)
        return partial.path


def test_an_upload_goes_on_where_it_broke_also_in_another_process(tmp_path: Path) -> None:
    arrive(Spool(tmp_path, LIMITS), b"0123456789", b"0123")
    again = Spool(tmp_path, LIMITS)
    assert again.received("ci", ref(b"0123456789")) == 4
    with again.open("ci", ref(b"0123456789"), 4) as partial:
        partial.write(b"456789")
        partial.verify()
        assert partial.path.read_bytes() == b"0123456789"
        partial.discard()
    assert again.received("ci", ref(b"0123456789")) == 0


def test_from_the_beginning_again_forgets_what_arrived(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMITS)
    arrive(spool, b"0123456789", b"xxxxx")
    assert arrive(spool, b"0123456789", b"01").read_bytes() == b"01"


@pytest.mark.parametrize("offset", [1, 3, 5, 10])
def test_another_offset_than_what_arrived_is_refused(tmp_path: Path, offset: int) -> None:
    spool = Spool(tmp_path, LIMITS)
    arrive(spool, b"0123456789", b"0123")
    with pytest.raises(OffsetError, match="4 bytes have arrived"):
        arrive(spool, b"0123456789", b"x", offset)
    assert spool.received("ci", ref(b"0123456789")) == 4


@pytest.mark.parametrize("sent", [b"", b"0123"])
def test_too_few_bytes_are_refused_and_kept(tmp_path: Path, sent: bytes) -> None:
    spool = Spool(tmp_path, LIMITS)
    with spool.open("ci", ref(b"0123456789"), 0) as partial:
        partial.write(sent)
        with pytest.raises(CorruptArtifactError, match=f"{len(sent)} arrived"):
            partial.verify()
    assert spool.received("ci", ref(b"0123456789")) == len(sent)


@pytest.mark.parametrize("sent", [b"012345678x", b"01234567890"], ids=["wrong", "many"])
def test_wrong_bytes_are_thrown_away(tmp_path: Path, sent: bytes) -> None:
    spool = Spool(tmp_path, LIMITS)

    def send() -> None:
        with spool.open("ci", ref(b"0123456789"), 0) as partial:
            partial.write(sent)
            partial.verify()

    with pytest.raises(CorruptArtifactError):
        send()
    assert list(tmp_path.iterdir()) == []


def test_one_at_a_time_writes_an_upload(tmp_path: Path) -> None:
    spool, other = Spool(tmp_path, LIMITS), Spool(tmp_path, LIMITS)
    with spool.open("ci", ref(b"0123456789"), 0) as partial:
        partial.write(b"01")
        with pytest.raises(TakenError):
            arrive(other, b"0123456789", b"x")
        arrive(other, b"another", b"an")
    assert other.received("ci", ref(b"0123456789")) == 2


def test_callers_do_not_share_what_arrived(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMITS)
    arrive(spool, b"0123456789", b"0123", owner="a")
    assert spool.received("b", ref(b"0123456789")) == 0


def test_what_is_too_old_is_removed(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMITS)
    path = arrive(spool, b"0123456789", b"0123")
    os.utime(path, (time.time() - 61,) * 2)
    assert spool.received("ci", ref(b"0123456789")) == 0
    assert not path.exists()


def test_the_oldest_gives_way_to_the_new_one_but_never_one_in_hand(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMITS)
    with spool.open("ci", ref(b"held"), 0) as held:
        held.write(b"he")
        for age, data in ((30, b"one"), (20, b"two")):
            path = arrive(spool, data, b"")
            os.utime(path, (time.time() - age,) * 2)
        os.utime(held.path, (time.time() - 50,) * 2)
        arrive(spool, b"three", b"th")
        assert held.path.exists()
    assert len(list(tmp_path.iterdir())) == 3
    assert spool.received("ci", ref(b"three")) == 2


def test_bytes_are_bounded_counting_what_is_announced(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMITS)
    with spool.open("ci", ref(b"a" * 60), 0) as partial:
        partial.write(b"a" * 50)
        with pytest.raises(LimitError) as caught:
            arrive(spool, b"b" * 60, b"")
        assert caught.value.retry_s is not None
    arrive(spool, b"b" * 60, b"b")  # the idle one gives way
    assert spool.received("ci", ref(b"a" * 60)) == 0


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="--uploads"):
        Spool(tmp_path / "file" / "uploads", LIMITS)


def test_an_upload_whose_file_goes_while_it_waits_for_it_has_one_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another gateway of this host has opened the same upload, and ends between our opening the file and holding it."""
    here, there, whole = Spool(tmp_path, LIMITS), Spool(tmp_path, LIMITS), b"0123456789"
    lock, ended = uploads._lock, []

    def late(file: BinaryIO) -> bool:
        if not ended:
            ended.append(True)
            with there.open("ci", ref(whole), 0) as other:
                other.write(whole)
                other.verify()
                other.discard()
        return lock(file)

    monkeypatch.setattr(uploads, "_lock", late)
    with here.open("ci", ref(whole), 0) as partial:
        partial.write(whole)
        partial.verify()
        assert partial.path.read_bytes() == whole


def test_gateways_that_share_a_folder_take_turns_at_an_upload(tmp_path: Path) -> None:
    here, there = Spool(tmp_path, LIMITS), Spool(tmp_path, LIMITS)
    with here.open("ci", ref(b"0123456789"), 0) as partial:
        partial.write(b"0123")
        with pytest.raises(TakenError, match="is being sent already"), there.open("ci", ref(b"0123456789"), 4):
            pass
    with there.open("ci", ref(b"0123456789"), 4) as partial:
        partial.write(b"456789")
        partial.verify()


def test_gateways_with_folders_of_their_own_say_where_to_begin(tmp_path: Path) -> None:
    here, there = Spool(tmp_path / "here", LIMITS), Spool(tmp_path / "there", LIMITS)
    arrive(here, b"0123456789", b"0123")
    assert there.received("ci", ref(b"0123456789")) == 0
    with pytest.raises(OffsetError, match=r"0 bytes have arrived at this gateway.*Go on at 0\."):
        arrive(there, b"0123456789", b"4567", 4)
    assert arrive(there, b"0123456789", b"01").read_bytes() == b"01"
    assert here.received("ci", ref(b"0123456789")) == 4
