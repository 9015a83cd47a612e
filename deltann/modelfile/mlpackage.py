"""CoreML packages: the manifest, the specification and the weights that it speaks of are there and whole."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

from deltann.modelfile.damage import Damaged, mapped
from deltann.modelfile.protobuf import BYTES, VARINT, read_part

_MANIFEST = "Manifest.json"
_HOME = Path("Data", "com.apple.CoreML")
_VERSION, _DESCRIPTION, _PROGRAM = 1, 2, 502
_SPECIFICATION = {_VERSION: VARINT, _DESCRIPTION: BYTES, 10: VARINT, _PROGRAM: BYTES}
_REFERENCE = re.compile(rb"@model_path/([\w./-]+\.bin)")
_SENTINEL = 0xDEADBEEF


def is_one(folder: Path) -> bool:
    """Whether a folder is meant to be a package, whole or not."""
    return folder.suffix == ".mlpackage" or (folder / _HOME).is_dir() or (folder / _MANIFEST).is_file()


def check(folder: Path) -> None:
    """Check a package.

    Raises:
        Damaged: for what is missing or truncated, and for packages that hold something else than an ML Program.
    """
    if not (folder / _MANIFEST).is_file():
        raise Damaged(f"a CoreML package without {_MANIFEST}, which names its parts")
    try:
        items = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))["itemInfoEntries"].values()
        paths = [Path("Data", item["path"]) for item in items]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"a CoreML package whose {_MANIFEST} is damaged") from error
    if any(path.is_absolute() or ".." in path.parts for path in paths):
        raise Damaged(f"a CoreML package whose {_MANIFEST} leads out of the package")
    for path in paths:
        if not (folder / path).exists():
            raise Damaged(f"a CoreML package without {path}, which its {_MANIFEST} names")
    models = [path for path in paths if path.suffix == ".mlmodel"]
    if len(models) != 1:
        raise Damaged(
            f"a CoreML package whose {_MANIFEST} names {len(models)} specifications (.mlmodel) in place of one"
        )
    _specification(folder / models[0])


def _specification(path: Path) -> None:
    data, found = read_part(path, _SPECIFICATION, "a CoreML package", ", or holds no ML Program")
    if _PROGRAM not in found:
        raise Damaged(f"a CoreML package whose {path.name} holds no ML Program, or is truncated before it")
    for file in sorted({match.decode() for match in _REFERENCE.findall(data)}):
        _weights(path.parent / file, file)


def _weights(path: Path, name: str) -> None:
    """Every constant of a weights file lies within it; each begins behind the one before, at a multiple of 64."""
    if ".." in Path(name).parts or not path.is_file():
        raise Damaged(f"a CoreML package without {name}, which holds its weights")
    if path.stat().st_size < 64:
        raise Damaged(f"a CoreML package whose {name} is truncated")
    data = mapped(path)
    (count,) = struct.unpack_from("<I", data, 0)
    at = 64
    for _ in range(count):
        if at + 64 > len(data):
            raise Damaged(f"a CoreML package whose {name} is truncated: it holds fewer than its {count} constants")
        sentinel, _, length, start = struct.unpack_from("<IIQQ", data, at)
        if sentinel != _SENTINEL or start < at:
            raise Damaged(f"a CoreML package whose {name} is damaged at byte {at}")
        if start + length > len(data):
            raise Damaged(f"a CoreML package whose {name} is truncated: {len(data)} bytes of at least {start + length}")
        at = -(-(start + length) // 64) * 64
