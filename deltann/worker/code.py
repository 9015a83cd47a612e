"""What of DeltaNN's own code a result depends on: a bug that is fixed must not answer from the store for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

_SHARED = ("deltann_engines", "deltann.align", "deltann.data", "deltann.preprocess", "deltann.report")
"""What handlers of every service share and their results depend on."""

_SOURCES = (".py", ".html", ".css", ".js")


def package_of(handler: str) -> str:
    """The package of a handler, as its distribution is called: ``deltann-converter``."""
    return handler.partition(":")[0].partition(".")[0].replace("_", "-")


@cache
def code_version(handler: str) -> str:
    """Version of DeltaNN with a digest of the code behind a handler, e.g. ``0.1.0+3f9a1c20``.

    Args:
        handler: ``"package.module:function"``, of which the whole package counts.
    """
    state = hashlib.sha256()
    for name in (handler.partition(":")[0].partition(".")[0], *_SHARED):
        for path in _sources(name):
            state.update(path.name.encode())
            state.update(path.read_bytes())
    try:
        release = version("deltann")
    except PackageNotFoundError:
        release = "0"
    return f"{release}+{state.hexdigest()[:8]}"


def _sources(name: str) -> Iterator[Path]:
    """The source files of a package or module, in order; none where it is not installed."""
    spec = find_spec(name)
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        for folder in spec.submodule_search_locations:
            yield from sorted(path for path in Path(folder).rglob("*") if path.suffix in _SOURCES)
    elif spec.origin is not None:
        yield Path(spec.origin)
