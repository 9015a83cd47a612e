"""Which errors are trouble of the machine or the store, which are of the moment, and which are findings."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections import namedtuple
from pathlib import Path

import psutil
import pytest

from deltann.errors import (
    CorruptArtifactError,
    JobFailure,
    ModelError,
    QueueError,
    StackError,
    StoreError,
    WrongDeviceError,
)
from deltann.outcome import Outcome
from deltann.worker import trouble
from deltann.worker.trouble import chain, passing, trouble_of

Memory = namedtuple("Memory", "total available")


def disk(number: int) -> OSError:
    return OSError(number, os.strerror(number), "/x/module.so")


def finding(error: BaseException | None, *, caused: bool = True) -> JobFailure:
    """A failure as handlers raise it: from an error, or while handling one, or with that hidden."""
    try:
        try:
            if error is not None:
                raise error
        except BaseException as caught:
            raise RuntimeError("the framework says something else") from caught
    except RuntimeError as wrapped:
        try:
            raise JobFailure(Outcome.COMPILE_FAILED, "compile", "TVM failed") from (wrapped if caused else None)
        except JobFailure as failure:
            return failure
    return JobFailure(Outcome.COMPILE_FAILED, "compile", "TVM failed")


@pytest.mark.parametrize("caused", [True, False])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (disk(errno.ENOSPC), "The disk of this worker is full: .*No space left.*Free some space"),
        (disk(errno.EDQUOT), "disk of this worker is full"),
        (disk(errno.EFBIG), "ulimit -f"),
        (disk(errno.EIO), "Check the disk"),
        (disk(errno.EROFS), "writable"),
        (disk(errno.EMFILE), "ulimit -n"),
        (StoreError("The store is gone. Start it."), r"^The store is gone\. Start it\.$"),
        (QueueError("Redis is gone."), "Redis is gone"),
        (StackError("The stack is gone."), "stack is gone"),
        (
            RuntimeError("Compilation error:\n/usr/bin/ld: final link failed: No space left on device"),
            "disk.*final link",
        ),
        (ExceptionGroup("two", [ValueError("x"), disk(errno.ENOSPC)]), "disk of this worker is full"),
    ],
)
def test_trouble_is_found_wherever_it_hangs_on_a_failure_and_told_in_a_paragraph(
    error: Exception, told: str, caused: bool
) -> None:
    for raised in (error, finding(error, caused=caused)):
        said = trouble_of(raised)
        assert said is not None
        assert "\n" not in said
        assert re.search(told, said)


@pytest.mark.parametrize(
    "error",
    [
        ModelError("truncated"),
        RuntimeError("unsupported operator"),
        FileNotFoundError(errno.ENOENT, "No such file"),
        ValueError("Expected 3 channels"),
        None,
    ],
)
def test_a_failure_of_a_framework_stays_a_finding(error: Exception | None) -> None:
    failure = finding(error)
    assert trouble_of(failure) is None
    assert not passing(failure)


@pytest.mark.parametrize(
    "error",
    [
        CorruptArtifactError("other bytes"),
        WrongDeviceError("compiled for a board"),
        MemoryError("no room"),
        disk(errno.ENOMEM),
        ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
        disk(errno.ENETUNREACH),
        TimeoutError("no answer"),
        socket.gaierror(-3, "Temporary failure in name resolution"),
    ],
)
def test_a_failure_of_the_moment_is_no_trouble_but_not_used_again(error: Exception) -> None:
    for raised in (error, finding(error)):
        assert passing(raised)
        assert trouble_of(raised) is None


@pytest.mark.parametrize(("available", "is_trouble"), [(100, True), (5_000, False)])
def test_memory_that_the_host_has_not_is_trouble(
    monkeypatch: pytest.MonkeyPatch, available: int, is_trouble: bool
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(16_000 << 20, available << 20))
    told = trouble_of(finding(MemoryError()))
    assert (told is not None) is is_trouble
    assert told is None or "out of memory (100 MiB of 16000 MiB" in told


def test_a_folder_that_takes_nothing_makes_every_failure_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = finding(RuntimeError("enforce fail at inline_container.cc: unexpected pos"))
    assert trouble_of(failure, [tmp_path, tmp_path / "not there"]) is None
    assert list(tmp_path.iterdir()) == []

    def refuse(**options: object) -> None:
        raise disk(errno.ENOSPC)

    monkeypatch.setattr(trouble.tempfile, "TemporaryFile", refuse)
    assert trouble_of(failure, [tmp_path]) == (
        f"The disk of this worker is full ({tmp_path}). Free some space and run it again."
    )


def test_a_chain_that_bites_its_tail_ends() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__context__ = other, one
    assert list(chain(one)) == [one, other]
