"""What every reader owes to whatever it is given: it is taken, or refused in one short paragraph, soon."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Mapping

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from deltann.errors import InputError

# Of the processor's time: far above what the largest input takes on a busy machine (half a second),
# far below what reading it in quadratic time would.
SOON_S = 10.0

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def brief(examples: int) -> settings:
    """The same examples every time."""
    return settings(
        derandomize=True,
        database=None,
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def hold(read: Callable[[], object], refusal: type[InputError] = InputError) -> InputError | None:
    """Read: anything but a refusal of that kind is a fault and passes through.

    Args:
        read: what reads the input.
        refusal: what it may be refused with.
    """
    began = time.process_time()
    try:
        read()
    except refusal as error:
        message = str(error)
        assert message.isprintable(), "one line that every terminal and every wire takes"
        assert 10 < len(message) < 2000
        return error
    finally:
        assert time.process_time() - began < SOON_S
    return None


def mutated(content: bytes) -> st.SearchStrategy[bytes]:
    """A file of which parts are overwritten, taken out, put in or put in twice."""
    places = st.integers(0, len(content))
    edges = st.sampled_from(
        [b"\0" * 4, b"\xff" * 4, b"\xff" * 8, b"\x80", b"\x7f", b"\x80" + b"\xff" * 11, b"[" * 2000]
    )
    part = st.tuples(places, st.integers(0, 64)).map(lambda cut: content[cut[0] : cut[0] + cut[1]])
    edit = st.tuples(places, st.sampled_from([0, 0, 1, 2, 4, 8, 60]), st.one_of(st.binary(max_size=8), edges, part))
    return st.lists(edit, min_size=1, max_size=4).map(lambda edits: _edited(content, edits))


def _edited(content: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, put in edits:
        content = content[:at] + put + content[at + (length or len(put)) :]
    return content


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return file.getvalue()
