"""Telling a framework's failure, which is a finding, from trouble of the machine, which says nothing of a model."""

from __future__ import annotations

import errno

from deltann.errors import StoreError


def is_trouble(error: BaseException) -> bool:
    """Whether an error is the store's or a full disk's: it has to pass as it is, so that the job runs again."""
    return isinstance(error, StoreError) or (
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
    )


def reason(error: BaseException) -> str:
    """The first line of an error, without its full stop, or the name of its type where it says nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300].rstrip(".:") if lines else type(error).__name__
