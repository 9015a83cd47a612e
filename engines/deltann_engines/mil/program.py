"""A package's specification as plain data: version, inputs and outputs, and the operations of its MIL program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltann.errors import ModelError, first_line
from deltann.model import TensorSpec
from deltann_engines.mil import blobs
from deltann_engines.mil.tools import coremltools


@dataclass(frozen=True)
class Block:
    """Operations inside another one: the names that they are given values by, and of what they give."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Operation:
    """One operation: the names of values that its parameters take, and of those that it gives."""

    kind: str
    inputs: Mapping[str, tuple[str, ...]]
    outputs: tuple[str, ...]
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Program:
    """An ML Program.

    Args:
        version: of the specification.
        inputs: with names, shapes and NumPy types; None for a side that may change.
        outputs: the same.
        constants: values by name.
        operations: in order, without those that are constants.
    """

    version: int
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    constants: Mapping[str, Any]
    operations: tuple[Operation, ...]


def read(path: Path) -> Program:
    """Read and check a package: its specification, and every reference into its weights.

    Raises:
        ModelError: for a package that is truncated, lacks a file, or holds no ML Program.
    """
    ct = coremltools()
    try:
        spec = ct.utils.load_spec(str(path))
    except Exception as error:
        raise ModelError(
            f"The CoreML package {path.name} cannot be read: {first_line(error).rstrip('.')}. Its specification is "
            "truncated or missing: convert the model again, or copy the whole folder."
        ) from error
    if spec.WhichOneof("Type") != "mlProgram" or "main" not in spec.mlProgram.functions:
        raise ModelError(
            f"The CoreML package {path.name} holds {spec.WhichOneof('Type') or 'no model'}, and DeltaNN reads ML "
            "Programs: convert it with convert_to='mlprogram'."
        )
    return _Reader(path / "Data" / "com.apple.CoreML", ct.proto.MIL_pb2).program(spec)


class _Reader:
    """Of one package."""

    def __init__(self, home: Path, mil: Any) -> None:
        self._home, self._types = home, mil.DataType
        self._constants: dict[str, Any] = {}

    def program(self, spec: Any) -> Program:
        function = spec.mlProgram.functions["main"]
        block = function.block_specializations[function.opset]
        operations = self._operations(block)
        given = {value.name: value.type.tensorType for operation in block.operations for value in operation.outputs}
        declared = {value.name: value.type.tensorType for value in function.inputs}
        return Program(
            version=int(spec.specificationVersion),
            inputs=tuple(self._spec(name, kind) for name, kind in declared.items()),
            outputs=tuple(self._spec(name, (given | declared)[name]) for name in block.outputs),
            constants=self._constants,
            operations=operations,
        )

    def _operations(self, block: Any) -> tuple[Operation, ...]:
        """Those that are constants are kept as such: names are unique in the whole program."""
        found = []
        for operation in block.operations:
            if operation.type == "const":
                self._constants[operation.outputs[0].name] = self._value(operation.attributes["val"])
            else:
                found.append(self._operation(operation))
        return tuple(found)

    def _operation(self, operation: Any) -> Operation:
        inputs = {}
        for name, argument in operation.inputs.items():
            bound = []
            for position, binding in enumerate(argument.arguments):
                if binding.WhichOneof("binding") == "name":
                    bound.append(binding.name)
                    continue
                own = f"{operation.outputs[0].name}:{name}:{position}"
                self._constants[own] = self._value(binding.value)
                bound.append(own)
            inputs[name] = tuple(bound)
        blocks = tuple(
            Block(tuple(value.name for value in block.inputs), tuple(block.outputs), self._operations(block))
            for block in operation.blocks
        )
        return Operation(operation.type, inputs, tuple(value.name for value in operation.outputs), blocks)

    def _dtype(self, tensor: Any) -> str:
        name = self._types.Name(tensor.dataType).lower()
        return {"string": "str"}.get(name, name)

    def _spec(self, name: str, tensor: Any) -> TensorSpec:
        shape = tuple(
            int(side.constant.size) if side.WhichOneof("dimension") == "constant" else None
            for side in tensor.dimensions
        )
        return TensorSpec(name=name, shape=shape, dtype=self._dtype(tensor))

    def _value(self, value: Any) -> Any:
        tensor = value.type.tensorType
        dtype = self._dtype(tensor)
        shape = tuple(int(side.constant.size) for side in tensor.dimensions)
        if value.WhichOneof("value") == "blobFileValue":
            stored = value.blobFileValue
            path = self._home / stored.fileName.removeprefix("@model_path/")
            return blobs.read(path, int(stored.offset), dtype, shape)
        held = value.immediateValue.tensor
        kind = held.WhichOneof("value")
        values = getattr(held, kind).values if kind else []
        if dtype == "str":
            return values[0]
        if kind == "bytes":
            return np.frombuffer(values, dtype).reshape(shape)
        return np.array(values, dtype).reshape(shape)
