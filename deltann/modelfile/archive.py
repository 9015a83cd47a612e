"""Models that are zip archives: .keras, .pt2 and TorchScript. No member is unpickled."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

from deltann.errors import first_line
from deltann.model import Format
from deltann.modelfile.damage import Damaged, Refused

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_KERAS = ("config.json", "metadata.json", "model.weights.h5")
_OLD_PT2 = "serialized_exported_program.json"
_TROUBLE = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, OverflowError, EOFError, RuntimeError)
"""What ``zipfile`` and ``json`` raise for damaged bytes."""
_LONGEST_JSON = 16 << 20
"""No configuration comes near it, and what is compressed may be a thousand times as long as the file."""


def format_of(path: Path) -> Format:
    """The format of an archive whose members all lie within it.

    Raises:
        Damaged: for an archive that is truncated, of no known kind, or lacks a member of its kind.
        Refused: for what ``torch.save`` wrote.
    """
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            for info in archive.infolist():
                file.seek(info.header_offset)
                signature, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
                end = info.header_offset + _LOCAL_HEADER.size + name + extra + info.compress_size
                if signature != b"PK\x03\x04" or end > archive.start_dir:
                    raise Damaged(f"a damaged archive: its member {info.filename!r} does not lie where it should")
            return _kind(archive)
    except (Damaged, Refused):
        raise
    except _TROUBLE as error:
        raise Damaged(f"a truncated or damaged archive ({first_line(error)})") from error


def _kind(archive: zipfile.ZipFile) -> Format:
    names = set(archive.namelist())
    if not names.isdisjoint(_KERAS):
        _keras(archive, names)
        return "keras"
    folder = min(names, default="").partition("/")[0] + "/"
    inner = {name.removeprefix(folder) for name in names}
    if _OLD_PT2 in names:
        _need("PyTorch export (.pt2)", names, "version")
        return "pt2"
    if "archive_format" in inner:
        if _start(archive, f"{folder}archive_format", 4) != b"pt2":
            raise Damaged("a PyTorch archive of another kind than an exported program")
        _need("PyTorch export (.pt2)", inner, "archive_version")
        if not any(name.startswith("models/") and name.endswith(".json") for name in inner):
            raise Damaged("a PyTorch archive without an exported program (models/*.json)")
        return "pt2"
    if "constants.pkl" in inner:
        _need("TorchScript archive", inner, "data.pkl")
        if not any(name.startswith("code/") for name in inner):
            raise Damaged("a damaged TorchScript archive: it has no code/")
        return "torchscript"
    if "data.pkl" in inner:
        raise Refused(
            "was saved by torch.save: it holds a pickle, and reading it runs whatever code is in there, so DeltaNN "
            "does not. Save the model with torch.export.save (.pt2) or torch.jit.save, and name that file."
        )
    raise Damaged("an archive of no known kind")


def _keras(archive: zipfile.ZipFile, names: set[str]) -> None:
    _need(".keras archive", names, *_KERAS)
    found = {}
    for member in ("config.json", "metadata.json"):
        try:
            content = _start(archive, member, _LONGEST_JSON + 1)
            if len(content) > _LONGEST_JSON:
                raise Damaged(f"a damaged .keras archive: its {member} has more than {_LONGEST_JSON >> 20} MiB")
            found[member] = json.loads(content)
        except Damaged:
            raise
        except (*_TROUBLE, RecursionError) as error:
            raise Damaged(f"a damaged .keras archive: its {member} is no JSON ({first_line(error)})") from error
    if not _start(archive, "model.weights.h5", 8).startswith(b"\x89HDF"):
        raise Damaged("a damaged .keras archive: its model.weights.h5 is no HDF5 file")
    config = found["config.json"]
    if isinstance(config, dict) and '"__lambda__"' in json.dumps(config.get("config")):  # not of how it was compiled
        raise Refused(
            "holds Python code (a Lambda layer), which runs when it is read, so DeltaNN does not. Put layers of "
            "Keras in its place, or export the model: model.export(folder) makes a SavedModel."
        )


def _start(archive: zipfile.ZipFile, member: str, size: int) -> bytes:
    """A member's first bytes, in memory of their size: of other compressions, ``zipfile`` lays out far more."""
    if archive.getinfo(member).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Damaged(f"an archive whose {member} is compressed as no framework does it; save the model again")
    with archive.open(member) as file:
        return file.read(size)


def _need(kind: str, names: set[str], *members: str) -> None:
    lacking = [member for member in members if member not in names]
    if lacking:
        raise Damaged(f"a damaged {kind}: it has no {' and no '.join(lacking)}")
