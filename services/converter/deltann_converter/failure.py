"""What a framework's error says, in a line."""

from __future__ import annotations

import re

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def reason(error: BaseException) -> str:
    """The first line of an error that says why, without its full stop, or its type where there is none.

    Keras begins with the layer that it was calling and says why below, in bold.
    """
    lines = [_STYLE.sub("", line).strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith("Exception encountered when calling")]
    return said[0][:300].rstrip(".:") if said else type(error).__name__
