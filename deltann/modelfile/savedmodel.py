"""SavedModel folders: the graph's file is whole and the variables that it speaks of are there."""

from __future__ import annotations

import re
from pathlib import Path

from deltann.modelfile.damage import Damaged
from deltann.modelfile.protobuf import BYTES, VARINT, read_part

_GRAPH = "saved_model.pb"
_META_GRAPHS = 2
_SAVED_MODEL = {1: VARINT, _META_GRAPHS: BYTES}
_SHARD = re.compile(r"variables\.data-(\d{5})-of-(\d{5})")
_TABLE_MAGIC = bytes.fromhex("57fb808b247547db")


def check(folder: Path) -> None:
    """Check a SavedModel folder.

    Raises:
        Damaged: for a graph file that is truncated, or variables that are missing or truncated.
    """
    data, found = read_part(folder / _GRAPH, _SAVED_MODEL, "a SavedModel")
    if _META_GRAPHS not in found:
        raise Damaged(f"a SavedModel whose {_GRAPH} is truncated: it holds no graph")
    _variables(folder / "variables", needed=data.find(b"VarHandleOp") >= 0)


def _variables(folder: Path, *, needed: bool) -> None:
    index = folder / "variables.index"
    shards = [match for path in folder.glob("variables.data-*") if (match := _SHARD.fullmatch(path.name))]
    if not index.is_file():
        if needed or shards:
            raise Damaged("a SavedModel without variables/variables.index, which holds where its weights lie")
        return
    if not index.read_bytes().endswith(_TABLE_MAGIC):
        raise Damaged("a SavedModel whose variables/variables.index is truncated")
    if not shards or len(shards) != int(shards[0][2]):
        raise Damaged("a SavedModel that lacks some or all of its weights (variables/variables.data-*)")
