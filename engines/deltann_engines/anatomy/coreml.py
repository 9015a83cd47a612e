"""CoreML packages."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.model import Format
from deltann_engines.anatomy import Anatomy, is_matrix
from deltann_engines.mil.program import Operation, Program
from deltann_engines.mil.program import read as read_program


def read(path: Path, fmt: Format) -> Anatomy:
    """Read a package; every reference into its weights is followed."""
    program = read_program(path)
    classifier = None
    for operation in program.operations:
        for names in operation.inputs.values():
            constant = program.constants.get(names[0]) if len(names) == 1 else None
            if isinstance(constant, np.ndarray) and constant.dtype.kind == "f" and is_matrix(constant.shape):
                classifier = constant
    return Anatomy(
        input=program.inputs[0],
        output=program.outputs[0],
        operators=[_operator(one, program) for one in program.operations],
        classifier=classifier,
        opset=program.version,
    )


def _operator(operation: Operation, program: Program) -> str:
    """Its kind and its small constants, which is how it is configured."""
    found = {}
    for name, names in sorted(operation.inputs.items()):
        constant = program.constants.get(names[0])
        if isinstance(constant, str):
            found[name] = constant
        elif constant is not None and np.size(constant) <= 16 and np.asarray(constant).dtype.kind in "ib":
            found[name] = str(np.asarray(constant).tolist())
    return f"{operation.kind}{sorted(found.items())}"
