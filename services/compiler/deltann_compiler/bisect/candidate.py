"""One build that is tried: an ONNX through a pipeline of passes, and what it answers. Run in a child of its own.

The service is of this folder alone, no worker has it: whoever searches starts its children.
"""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from deltann.base import Data
from deltann.engines import DEFAULT
from deltann.errors import JobFailure, WrongDeviceError, first_line
from deltann.outcome import Outcome
from deltann.service import JobContext, Kind, Produced, Service
from deltann_compiler.bisect.pipeline import Pipeline
from deltann_compiler.build import export, give_loops, run_passes, telling_line
from deltann_compiler.levels import options_of
from deltann_compiler.reuse import kept_objects
from deltann_compiler.targets import needs_of, resolve

DEVICE = "device"
"""The stage of a failure that is of this machine, and says nothing of the build."""
LOWERED, ANSWERS, BEFORE, STATE = "lowered.json", "answers.npz", "before.json", "state.json"


class CandidateParams(Data):
    """Build ``model``, an ONNX of known shapes, and run it on every input of ``inputs``.

    Writes into ``out``: ``answers.npz``, whose arrays ``0``, ``1``, … are the outputs in order, [n, …]. Where ``keep``:
    ``lowered.json``, the module that goes to TVM's code generator; and as each pass begins, ``before.json``, the module
    that it is given, and ``state.json``, with ``target`` as TVM takes it and the ``place`` of the pass in the pipeline.

    Args:
        inputs: an .npz with arrays ``0``, ``1``, …, the inputs in order, [n, …].
        rows: of the table of passes.
        schedule: of loops.
    """

    model: str
    inputs: str
    out: str
    target: str
    rows: tuple[int, ...]
    schedule: str
    keep: bool = False


def answer(params: CandidateParams, context: JobContext) -> Produced:
    """Build and run it.

    Raises:
        JobFailure: ``compile_failed`` or ``run_failed``; with the stage ``device`` where this machine cannot run it.
    """
    wanted = Pipeline(params.rows, params.schedule)
    target = {**resolve(params.target), **options_of(wanted.passes)}
    path = context.workdir / "module.so"
    needs = needs_of(params.target, target)
    module = _imported(params.model, context.warm)
    try:
        export(_lowered(module, wanted, target, params), target, path, needs, kept_objects(context.warm))
    except JobFailure:
        raise
    except Exception as error:
        traceback.print_exc()
        raise JobFailure(Outcome.COMPILE_FAILED, "compile", f"TVM failed: {telling_line(error)}") from error
    try:
        outputs = _run(path, params.inputs)
    except WrongDeviceError as error:
        raise JobFailure(Outcome.RUN_FAILED, DEVICE, str(error)) from error
    except Exception as error:
        raise JobFailure(Outcome.RUN_FAILED, "run", f"The module failed as it ran: {first_line(error)}") from error
    named: dict[str, Any] = {str(place): values for place, values in enumerate(outputs)}
    np.savez(Path(params.out, ANSWERS), **named)
    return Produced()


def _imported(path: str, warm: dict[str, Any]) -> Any:
    """The IRModule of a file, kept for the next candidate: what differs from one to the next are the passes."""
    if warm.get("imported") != path:
        import onnx
        from tvm.relax.frontend.onnx import from_onnx

        try:
            module = from_onnx(onnx.load(path), keep_params_in_input=False)
        except Exception as error:
            message = f"TVM cannot import it: {first_line(error)}"
            raise JobFailure(Outcome.COMPILE_FAILED, "import", message) from error
        warm.update(imported=path, module=module)
    return warm["module"]


def _lowered(module: Any, wanted: Pipeline, target: dict[str, Any], params: CandidateParams) -> Any:
    if params.keep:
        return _kept(module, wanted, target, Path(params.out))
    for _, changed in run_passes(module, wanted.passes, target):
        module = changed
    return give_loops(module, wanted.schedule, target).module


def _kept(module: Any, wanted: Pipeline, target: dict[str, Any], folder: Path) -> Any:
    import tvm

    def note(given: Any, place: int) -> None:
        (folder / BEFORE).write_text(tvm.ir.save_json(given))
        (folder / STATE).write_text(json.dumps({"target": target, "place": place}))

    note(module, 0)
    for place, (_, changed) in enumerate(run_passes(module, wanted.passes, target), 1):
        module = changed
        note(module, place)
    scheduled = give_loops(module, wanted.schedule, target).module
    (folder / LOWERED).write_text(tvm.ir.save_json(scheduled))
    return scheduled


def _run(path: Path, inputs: str) -> list[np.ndarray]:
    import tvm
    from deltann_engines.tvm_engine import open_machine

    machine, device = open_machine(path, 1, DEFAULT)
    with np.load(inputs, allow_pickle=False) as given:
        columns = [given[str(place)] for place in range(len(given.files))]
    rows = []
    for values in zip(*columns, strict=True):
        result = machine["main"](*(tvm.runtime.tensor(np.ascontiguousarray(one), device) for one in values))
        several = [result] if hasattr(result, "numpy") else list(result)
        rows.append([one.numpy() for one in several])
    return [np.stack(column) for column in zip(*rows, strict=True)]


CANDIDATE = Kind(
    name="candidate",
    params=CandidateParams,
    handler="deltann_compiler.bisect.candidate:answer",
    failure=Outcome.COMPILE_FAILED,
    affinity=lambda params: "tvm",
)
SERVICE = Service("candidates", (CANDIDATE,))
NAME = "deltann_compiler.bisect.candidate:SERVICE"
