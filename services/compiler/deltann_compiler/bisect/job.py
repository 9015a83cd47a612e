"""Kind ``bisect``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deltann.errors import DataError, JobFailure, first_line
from deltann.fleet.device import describe_device
from deltann.fleet.fit import processor_lacks
from deltann.kinds.bisect import BisectData, BisectParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.preprocess.shards import shard_inputs
from deltann.service import JobContext, Produced
from deltann.worker.children import Children
from deltann_compiler.bisect import candidate
from deltann_compiler.bisect.bisection import Bisection
from deltann_compiler.bisect.known import known_to_differ
from deltann_compiler.bisect.trials import Trials
from deltann_compiler.compiling import target_of
from deltann_compiler.frontends.onnx import fold_shapes
from deltann_compiler.targets import needs_of

_SHOWN = 5


def bisect_model(params: BisectParams, context: JobContext, service: str = candidate.NAME) -> Produced:
    """Hold ONNX Runtime, TVM without passes, ``a`` and ``b`` against each other, and find what parts them.

    Args:
        params: of the job.
        context: of the job.
        service: whose candidates are built.

    Raises:
        JobFailure: ``compile_failed`` for what is no ONNX, an unknown target, or one that this machine cannot run;
            ``run_failed`` where ONNX Runtime cannot run the model on these inputs.
    """
    info = params.info or ModelInfo.model_validate(context.inputs["model"].data["info"])
    if info.format != "onnx":
        message = f"parts of an ONNX are held against each other, and this is {info.format}: convert it first"
        raise JobFailure(Outcome.COMPILE_FAILED, "bisect", message)
    target = [target_of(one.wanted(params.target)) for one in (params.a, params.b)][-1]
    _check_processor(params.target, target)
    looked_at = known_to_differ(params, context)
    if looked_at is not None and not looked_at.positions:
        return Produced(data=looked_at.agreeing(params))
    inputs = _inputs(params, info, context)
    positions = looked_at.positions if looked_at is not None else tuple(range(len(inputs)))
    inputs = [inputs[place] for place in positions]
    cache = context.workdir / "candidates" / "cache"
    with Children(service, context.store.url, cache) as children:
        trials = Trials(children, params.target, context.workdir / "trials", params.candidate_seconds)
        model = _model(context.fetch("model"), info)
        whole = trials.case(model, [np.stack(inputs)])
        work = Bisection(
            params, trials, context.workdir / "reproducers", inputs, positions, target["kind"], model, whole
        )
        comparisons, findings = work.run()
    data = BisectData(
        comparisons=tuple(comparisons), findings=tuple(findings), candidates=trials.made, failed=dict(trials.failed)
    )
    artifacts = {"reproducers": context.put(work.folder)} if work.folder.exists() else {}
    return Produced(artifacts=artifacts, data=data)


def _check_processor(text: str, target: dict[str, Any]) -> None:
    device = describe_device()
    if lacking := processor_lacks(needs_of(text, target), device):
        what = ", ".join(lacking[:_SHOWN])
        raise JobFailure(
            Outcome.COMPILE_FAILED,
            candidate.DEVICE,
            f"Builds for {text} are run where they are made, on {device.cpu} ({device.arch}), which lacks {what}: "
            "name a target that this machine is, as `deltann targets` shows.",
        )


def _inputs(params: BisectParams, info: ModelInfo, context: JobContext) -> list[np.ndarray]:
    paths = [context.fetch(f"shard{place}") for place in range(params.shards)]
    try:
        return [x for one in paths for x in shard_inputs(one, params.data_kind, params.recipe, info.input)]
    except (DataError, ValueError) as error:
        message = f"an input could not be prepared: {error}"
        raise JobFailure(Outcome.RUN_FAILED, "preprocess", message) from error


def _model(path: Path, info: ModelInfo) -> Any:
    try:
        return fold_shapes(path, info)
    except Exception as error:
        raise JobFailure(Outcome.RUN_FAILED, "load", f"ONNX Runtime cannot load it: {first_line(error)}") from error
