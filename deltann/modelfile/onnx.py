"""ONNX: the file is whole, and the files of its external data are there. Read without the ``onnx`` package."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from deltann.modelfile.damage import Damaged, Refused, mapped
from deltann.modelfile.protobuf import BYTES, VARINT, Field, fields, whole

_GRAPH, _OPSETS = 7, 8
_MODEL = {1: VARINT, 5: VARINT} | dict.fromkeys((2, 3, 4, 6, _GRAPH, _OPSETS, 14, 20, 25, 26), BYTES)
_INNER: dict[str, dict[int, str]] = {
    "model": {_GRAPH: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
"""The fields of each message that lead to tensors."""
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14
_AGAIN = (
    "Put the file beside the model, or make one file of both: "
    "onnx.save(onnx.load('model.onnx'), 'one.onnx', save_as_external_data=False)."
)


def check(path: Path) -> tuple[Path, ...]:
    """The files that hold the model's external data, none where it has all of it inside.

    Raises:
        Damaged: for a file that is truncated or no ONNX model.
        Refused: for external data that is missing, too short or outside the model's folder.
    """
    data = mapped(path)
    try:
        found = whole(data, _MODEL)
        if not {_GRAPH, _OPSETS} <= found:
            raise Damaged("truncated: it ends before its graph and operator sets do")
        needed: dict[str, int] = {}
        for entries in _external(data, Field(0, BYTES, 0, len(data)), "model"):
            location = entries.get("location", "")
            needed[location] = max(needed.get(location, 0), _end(entries))
    except Damaged as damaged:
        raise Damaged(f"no whole ONNX model; it is {damaged}") from damaged
    except RecursionError as error:
        raise Damaged("an ONNX model whose graphs lie in one another too deeply to be read") from error
    return tuple(_beside(path, location, size) for location, size in sorted(needed.items()))


def _external(data: mmap.mmap, message: Field, kind: str) -> Iterator[dict[str, str]]:
    """The entries of every tensor whose data is in another file."""
    if kind == "tensor":
        entries, outside = {}, False
        for field in fields(data, message.start, message.stop):
            if field.number == _DATA_LOCATION:
                outside = field.value == 1
            elif field.number == _EXTERNAL_DATA:
                pair = {part.number: data[part.start : part.stop] for part in fields(data, field.start, field.stop)}
                entries[_text(pair.get(1, b""))] = _text(pair.get(2, b""))
        if outside:
            yield entries
        return
    for field in fields(data, message.start, message.stop):
        inner = _INNER[kind].get(field.number)
        if inner is not None and field.wire == BYTES:
            yield from _external(data, field, inner)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _end(entries: dict[str, str]) -> int:
    """How long a tensor's data file has to be."""
    try:
        return int(entries.get("offset", "0")) + int(entries.get("length", "0"))
    except ValueError as error:
        raise Damaged("damaged: the place of its external data is no number") from error


def _beside(path: Path, location: str, size: int) -> Path:
    folder = path.parent.resolve()
    file = path.parent / location
    if not location or "\0" in location or Path(location).is_absolute() or not file.resolve().is_relative_to(folder):
        raise Refused(
            f"keeps weights in {location!r}, which is outside the model's folder, so that file is not read. {_AGAIN}"
        )
    if not file.is_file():
        raise Refused(f"keeps weights in the file {location!r}, which is not there. {_AGAIN}")
    if file.stat().st_size < size:
        raise Refused(
            f"keeps weights in the file {location!r}, which is truncated: it has {file.stat().st_size} bytes where at "
            f"least {size} are needed. Save or copy both files again."
        )
    return file
