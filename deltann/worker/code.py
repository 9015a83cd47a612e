"""What of DeltaNN's own code a result depends on: a bug that is fixed must not answer from the store for ever.

That is the handler's package, all of it, since its parts find each other by name, and whatever of DeltaNN it imports:
the contracts in ``deltann.kinds``, preprocessing, alignment, the store, and the child that runs it. Imports are read
from the source, so that nothing is imported and no list of modules has to be kept.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

_CORE = "deltann"
_RUNNER = "deltann.worker.child"
_SOURCES = (".py", ".html", ".css", ".js")


def package_of(handler: str) -> str:
    """The package of a handler, as its distribution is called: ``deltann-converter``."""
    return handler.partition(":")[0].partition(".")[0].replace("_", "-")


def code_version(handler: str) -> str:
    """Version of DeltaNN with a digest of the code behind a handler, e.g. ``0.1.0+3f9a1c20``.

    Args:
        handler: ``"package.module:function"``.
    """
    return _version(handler.partition(":")[0].partition(".")[0])


@cache
def _version(package: str) -> str:
    state = hashlib.sha256()
    for name, data in sorted(_sources(package)):
        state.update(f"{name}\n{len(data)}\n".encode())
        state.update(data)
    try:
        release = version(_CORE)
    except PackageNotFoundError:
        release = "0"
    return f"{release}+{state.hexdigest()[:8]}"


def _sources(package: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every source file that a package's results depend on."""
    roots: dict[str, Path | None] = {}
    waiting, seen = [package, _RUNNER], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        top = name.partition(".")[0]
        root = roots.setdefault(top, place_of(top))
        if root is None or (top != _CORE and name != top):
            continue  # not installed, or taken with its whole package
        for path in _core_module(root, name) if top == _CORE else source_files(root):
            data = path.read_bytes()
            yield f"{top}/{path.relative_to(root) if root.is_dir() else path.name}", data
            if path.suffix == ".py":
                waiting += _imports(data)


def place_of(top: str) -> Path | None:
    """The folder of a top-level package, or the file of a module; None where it is not installed."""
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent if spec.submodule_search_locations is not None else Path(spec.origin)


def source_files(root: Path) -> list[Path]:
    """Every file of a package that its results may depend on: code, and what reports are made of."""
    return [path for path in root.rglob("*") if path.suffix in _SOURCES] if root.is_dir() else [root]


def _core_module(root: Path, name: str) -> list[Path]:
    """The file of a module of DeltaNN; none where the name is one that a module defines."""
    place = root.joinpath(*name.split(".")[1:])
    return [path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()]


def _imports(source: bytes) -> Iterator[str]:
    """The DeltaNN modules that a file names in its imports, with the packages that they are in."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a template, or of another Python: nothing here can import it either
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith(_CORE):
                parts = name.split(".")
                yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))
