"""Kind ``mutate``: a mutant of an ONNX graph, checked before anything is compiled."""

from __future__ import annotations

from typing import Any

from deltann.errors import JobFailure, first_line
from deltann.kinds.mutate import Equivalence, MutateData, MutateParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_compiler.mutation import probing
from deltann_compiler.mutation.errors import MutationError
from deltann_compiler.mutation.graph import mutate

_SHOWN = 20


def mutate_model(params: MutateParams, context: JobContext) -> Produced:
    """Mutate role ``model``.

    Raises:
        JobFailure: ``mutate_failed``, whose stage is one of :data:`deltann.kinds.mutate.Reason`.
    """
    import onnx
    from deltann_engines.describe import describe

    info = params.info or ModelInfo.model_validate(context.inputs["model"].data["info"])
    if info.format != "onnx":
        raise JobFailure(Outcome.MUTATE_FAILED, "invalid", f"graphs are mutated as ONNX, and this is {info.format}")
    original = onnx.load(context.fetch("model"))
    try:
        made = mutate(original, params.mutation)
    except MutationError as error:
        raise JobFailure(Outcome.MUTATE_FAILED, error.kind, str(error)) from error
    path = context.workdir / "model.onnx"
    onnx.save(made.model, path)
    found = describe(path, "onnx", output=info.output_kind, classes=info.classes, class_offset=info.class_offset)
    kept = ("size_bytes", "graph_fingerprint", "weights_fingerprint", "opset")
    data = MutateData(
        info=info.model_copy(update={name: getattr(found, name) for name in kept}),
        fits=made.fits,
        mutated=len(made.places),
        places=list(made.places[:_SHOWN]),
        before=made.before,
        after=made.after,
        equivalence=_probe(original, made.model, info, params, context),
    )
    return Produced(artifacts={"model": context.put_weights(path)}, data=data)


def _probe(original: Any, mutant: Any, info: ModelInfo, params: MutateParams, context: JobContext) -> Equivalence:
    """The original's answers stay from one mutant to the next of the same child."""
    key = (context.ref("model").digest, params.seed)
    if context.warm.get("probed") != key:
        context.warm.update(probed=key, answers=[])
    try:
        return probing.compare(
            probing.unoptimised(original),
            probing.unoptimised(mutant),
            probing.probes(info, params.probes, params.seed),
            context.warm["answers"],
        )
    except Exception as error:
        message = f"ONNX Runtime cannot run the mutant: {first_line(error)}"
        raise JobFailure(Outcome.MUTATE_FAILED, "invalid", message) from error
