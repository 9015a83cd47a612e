"""What a sweep is computed with: two runs of one study under other versions are two sweeps.

Without this a study that was run once would be answered from its records for ever, whatever was upgraded or mended
since. It only decides whether the sweep's jobs are looked at again: what no change touches is found by its result key.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

from deltann.digest import digest_bytes, digest_value
from deltann.service import services

_CORE = ("deltann", "deltann_engines")


@cache
def environment() -> str:
    """Digest of every distribution that is installed here, with its version, and of DeltaNN's own code."""
    installed = sorted({f"{one.metadata['Name']}=={one.version}" for one in distributions()})
    behind = {kind.handler.partition(".")[0] for service in services().values() for kind in service.kinds}
    code = {str(name): digest for root in map(_root, {*_CORE, *behind}) for name, digest in _sources(root)}
    return digest_value([installed, code])[:16]


def _root(package: str) -> Path | None:
    spec = find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _sources(root: Path | None) -> list[tuple[Path, str]]:
    if root is None:
        return []
    return [(path.relative_to(root.parent), digest_bytes(path.read_bytes())) for path in root.rglob("*.py")]
