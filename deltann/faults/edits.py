"""Edits of an ONNX graph as data: what a repair did, so that it can be done again on the model as it came.

A node is named by its first output, since names of values are unique in a graph and names of nodes need not be there.
"""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from deltann.base import Data

Attribute = StrictBool | StrictInt | StrictFloat | StrictStr | list[StrictInt] | list[StrictFloat] | list[StrictStr]


class Tensor(Data):
    """An array in a patch list.

    Args:
        dtype: NumPy's name of it.
        shape: sides.
        data: its bytes, little-endian and row by row, in base64.
    """

    dtype: str
    shape: tuple[int, ...]
    data: str

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """Of an array."""
        plain = np.asarray(values, order="C")
        raw = plain.astype(plain.dtype.newbyteorder("<")).tobytes()
        return cls(dtype=str(plain.dtype), shape=plain.shape, data=base64.b64encode(raw).decode())

    @property
    def values(self) -> np.ndarray:
        """The array."""
        raw = np.frombuffer(base64.b64decode(self.data), np.dtype(self.dtype).newbyteorder("<"))
        return raw.reshape(self.shape).astype(self.dtype)


class SetInitializer(Data):
    """Give input ``slot`` of a node constant values, in place of what it reads there; other readers keep theirs."""

    op: Literal["set_initializer"] = "set_initializer"
    node: str
    slot: int = Field(ge=0)
    values: Tensor


class SetAttribute(Data):
    """Give a node an attribute; without a value the attribute is taken away, so that its default holds."""

    op: Literal["set_attribute"] = "set_attribute"
    node: str
    name: str
    value: Attribute | None


class ReplaceOp(Data):
    """Give a node another operator with these attributes, and these constants as further inputs."""

    op: Literal["replace_op"] = "replace_op"
    node: str
    op_type: str
    attributes: dict[str, Attribute] = {}
    constants: tuple[Tensor, ...] = ()


class InsertNode(Data):
    """Put a node behind a value: its readers then read ``output``.

    Args:
        value: what the new node reads first.
        output: name of what it writes.
        reader: the one node that reads it in place of the value; all of them, and the graph's output, where None.
        first: whether the constants come before the value.
    """

    op: Literal["insert_node"] = "insert_node"
    value: str
    output: str
    op_type: str
    attributes: dict[str, Attribute] = {}
    constants: tuple[Tensor, ...] = ()
    reader: str | None = None
    first: bool = False


class RemoveNode(Data):
    """Take a node out: what read it reads the node's input ``slot``."""

    op: Literal["remove_node"] = "remove_node"
    node: str
    slot: int = Field(default=0, ge=0)


class Rewire(Data):
    """Let input ``slot`` of a node read another value."""

    op: Literal["rewire"] = "rewire"
    node: str
    slot: int = Field(ge=0)
    value: str


Edit = Annotated[
    SetInitializer | SetAttribute | ReplaceOp | InsertNode | RemoveNode | Rewire, Field(discriminator="op")
]


def brief(edit: Edit) -> str:
    """An edit in a line for a person: tensors by their sides alone."""
    plain = edit.model_dump(exclude={"op"}, exclude_defaults=True)
    return f"{edit.op} " + ", ".join(f"{name}={_short(value)}" for name, value in plain.items())


def _short(value: Any) -> str:
    if isinstance(value, dict) and "data" in value:
        return f"{value['dtype']}{list(value['shape'])}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_short, value))}]"
    return str(value)
