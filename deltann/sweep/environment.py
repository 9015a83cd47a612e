"""What a sweep is computed with: two runs of one study under other versions are two sweeps.

Without this a study that was run once would be answered from its records for ever, whatever was upgraded or mended
since. It only decides whether the sweep's jobs are looked at again: what no change touches is found by its result key.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import distributions

from deltann.digest import digest_bytes, digest_value
from deltann.service import services
from deltann.worker.code import place_of, source_files

_CORE = ("deltann", "deltann_engines")


@cache
def environment() -> str:
    """Digest of every distribution that is installed here, with its version, and of DeltaNN's own code."""
    installed = sorted({f"{one.metadata['Name']}=={one.version}" for one in distributions()})
    behind = {kind.handler.partition(".")[0] for service in services().values() for kind in service.kinds}
    roots = [root for root in map(place_of, sorted({*_CORE, *behind})) if root is not None]
    code = {
        str(path.relative_to(root.parent)): digest_bytes(path.read_bytes())
        for root in roots
        for path in source_files(root)
    }
    return digest_value([installed, code])[:16]
