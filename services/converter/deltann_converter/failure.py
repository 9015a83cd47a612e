"""Telling a framework's failure, which is a finding, from trouble of the machine, which says nothing of a model."""

from __future__ import annotations

import errno
import re

from deltann.errors import StoreError

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def is_trouble(error: BaseException) -> bool:
    """Whether an error is the store's or a full disk's: it has to pass as it is, so that the job runs again."""
    return isinstance(error, StoreError) or (
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
    )


def reason(error: BaseException) -> str:
    """The first line of an error that says why, without its full stop, or its type where there is none.

    Keras begins with the layer that it was calling and says why below, in bold.
    """
    lines = [_STYLE.sub("", line).strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith("Exception encountered when calling")]
    return said[0][:300].rstrip(".:") if said else type(error).__name__
