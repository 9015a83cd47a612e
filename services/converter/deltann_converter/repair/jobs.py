"""Kinds ``localize`` and ``repair``."""

from __future__ import annotations

import json
from pathlib import Path

from deltann_engines.graphs.onnx import OnnxGraph
from pydantic import TypeAdapter

from deltann.faults.edits import Edit
from deltann.faults.layers import Layers
from deltann.faults.suspect import Suspect
from deltann.kinds.convert import PARITY_MAX_REL, ConvertData, suspicious
from deltann.kinds.repair import LocalizeData, LocalizeParams, RepairData, RepairParams
from deltann.service import JobContext, Produced
from deltann_converter.repair.growth import grow
from deltann_converter.repair.localising import Located
from deltann_converter.repair.pair import Pair
from deltann_converter.repair.repairing import repair
from deltann_converter.repair.reproducer import reproduce

_EDITS: TypeAdapter[list[Edit]] = TypeAdapter(list[Edit])
_SUSPECTS: TypeAdapter[list[Suspect]] = TypeAdapter(list[Suspect])
_LOOKED_AT = 2
"""Inputs that are looked at for suspects."""
_GROWN = 8
"""Inputs of either kind, with changed labels and without, of which all layers are compared."""
_REPRODUCED = 3
"""Suspects that get a reproducer."""


def localize_model(params: LocalizeParams, context: JobContext) -> Produced:
    """Suspects on the worst inputs, what every layer holds, and reproducers of the first suspects.

    Raises:
        JobFailure: ``repair_failed``, where the two cannot be held against each other.
    """
    if params.doubted and _is_clear(context):
        return Produced(data=LocalizeData(agreement=None, inputs=(), suspects=0))
    pair = Pair(params, context)
    judged = pair.judged
    if pair.sound:
        return Produced(data=LocalizeData(agreement=judged.told(), inputs=(), suspects=0))
    pair.before  # noqa: B018  (refuses a target that cannot be followed)
    looked_at = judged.worst[:_LOOKED_AT]
    located = pair.locate(pair.model, looked_at[0])
    for position in looked_at[1:]:
        if located.suspects:
            break
        located = pair.locate(pair.model, position)
    apart = judged.differing or judged.error > PARITY_MAX_REL
    note = "The two disagree, and no node of the target is wrong by itself." if apart and not located.suspects else ""
    data = LocalizeData(
        agreement=judged.told(),
        inputs=tuple(looked_at),
        suspects=len(located.suspects),
        note=note,
        followed=pair.followed.tool,
    )
    suspects, layers = context.workdir / "suspects.json", context.workdir / "layers.json"
    suspects.write_bytes(_SUSPECTS.dump_json(located.suspects))
    layers.write_text(_layers(pair, located).model_dump_json())
    artifacts = {"suspects": context.put(suspects), "layers": context.put(layers)}
    reproducers = context.workdir / "reproducers"
    if _reproduce(pair, located, reproducers):
        artifacts["reproducers"] = context.put(reproducers)
    return Produced(artifacts=artifacts, data=data)


def _is_clear(context: JobContext) -> bool:
    """Whether the conversion's own check against its source was made and saw nothing."""
    parity = ConvertData.model_validate(context.inputs["target"].data).parity
    return parity is not None and not suspicious(parity)


def _layers(pair: Pair, located: Located) -> Layers:
    worst = pair.judged.worst
    differing = [at for at in worst if at in pair.judged.differing][:_GROWN]
    agreeing = [at for at in worst if at not in pair.judged.differing][-_GROWN:]
    chosen = [*differing, *agreeing]
    pairs = [(pair.source.inputs[at], pair.ys[at]) for at in chosen]
    differs = [at in pair.judged.differing for at in chosen]
    grown = grow(located, pair.graph, OnnxGraph(pair.model), pairs, differs, pair.workdir / "grown")
    return grown.model_copy(update={"inputs": tuple(chosen)})


def _reproduce(pair: Pair, located: Located, folder: Path) -> bool:
    done = [
        reproduce(located, one, pair.graph, folder / f"{rank}")
        for rank, one in enumerate(located.suspects[:_REPRODUCED], 1)
    ]
    return any(done)


def repair_model(params: RepairParams, context: JobContext) -> Produced:
    """The target put right.

    Raises:
        JobFailure: ``repair_failed``, where the two cannot be held against each other.
    """
    import onnx

    pair = Pair(params, context)
    done = repair(
        pair.model,
        pair.judge,
        pair.before,
        lambda model, at: pair.locate(model, at).suspects,
        pair.workdir,
        params.seconds,
    )
    model, patch = context.workdir / "model.onnx", context.workdir / "patch.json"
    onnx.save(done.model, model)
    patch.write_text(json.dumps(json.loads(_EDITS.dump_json(done.edits)), indent=1))
    data = RepairData(
        before=pair.judged.told(),
        after=done.after.told(),
        steps=tuple(done.steps),
        stopped=done.stopped,
        info=pair.followed.info,
        followed=pair.followed.tool,
    )
    return Produced(artifacts={"model": context.put_weights(model), "patch": context.put(patch)}, data=data)
