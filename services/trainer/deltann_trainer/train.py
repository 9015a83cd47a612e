"""Kind ``train``: from a description and a data set to a model, epoch by epoch."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable

from deltann_engines.memory import peak_memory, reset_peak_memory

from deltann.digest import digest_value
from deltann.errors import DataError, JobFailure
from deltann.kinds.train import Epoch, Fit, TrainedModel, TrainParams
from deltann.networks import NETWORKS
from deltann.networks.initial import initial
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann.worker.keys import toolchain_of
from deltann_trainer.checkpoint import Checkpoints
from deltann_trainer.examples import Examples, read_examples
from deltann_trainer.learner import Inputs, Labels, Learner, Score, learner
from deltann_trainer.service import TRAIN

_SCORED = 256
"""Examples that are scored at once."""


def train(params: TrainParams, context: JobContext) -> Produced:
    """Train a network, or go on where a worker before was killed.

    Raises:
        JobFailure: ``run_failed`` for data that the network cannot be trained on.
    """
    reset_peak_memory()
    network = NETWORKS[params.network]
    try:
        examples = read_examples(network, params.recipe, context)
    except DataError as error:
        raise JobFailure(Outcome.RUN_FAILED, "data", str(error)) from error
    trained, kept = examples.parted(params.fit.validation)
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    one = learner(params.framework, network, params.fit.optimiser, threads)
    checkpoints = Checkpoints(context.store, _key(params, context), context.workdir)
    mark = checkpoints.resume(one)
    if mark is None:
        one.load(initial(network, params.seed))
    curves, memory = (mark.curves, mark.memory_peak_bytes) if mark else ((), 0)
    resumed = len(curves)
    for epoch in range(resumed, params.fit.epochs):
        curves = (*curves, run_epoch(one, trained, kept, params.fit, params.seed, epoch))
        _tell(curves[-1], epoch, params.fit)
        memory = max(memory, peak_memory())
        if epoch + 1 < params.fit.epochs:
            checkpoints.write(one, curves, memory)
    produced = _produced(one, params, context, curves, len(trained), memory, resumed)
    checkpoints.clear()
    return produced


def run_epoch(one: Learner, trained: Examples, kept: Examples, fit: Fit, seed: int, epoch: int) -> Epoch:
    """One pass over the examples, and a look at those that are kept for validation."""
    began = time.monotonic()
    rate = fit.optimiser.learning_rate * fit.schedule.factor(epoch, fit.epochs)
    steps = trained.batches(fit.batch, seed, epoch, shuffle=fit.shuffle)
    loss, accuracy = _mean((one.step(x, y, rate) for x, y in steps), len(trained))
    validation: tuple[float | None, float | None] = (None, None)
    if len(kept):
        batches: Iterable[tuple[Inputs, Labels]] = kept.batches(_SCORED, 0, 0, shuffle=False)
        validation = _mean((one.score(x, y) for x, y in batches), len(kept))
    return Epoch(
        loss=loss,
        accuracy=accuracy,
        validation_loss=validation[0],
        validation_accuracy=validation[1],
        learning_rate=rate,
        seconds=time.monotonic() - began,
    )


def _mean(scores: Iterable[Score], n: int) -> tuple[float | None, float]:
    loss, right = 0.0, 0
    for score in scores:
        loss, right = loss + score.loss, right + score.right
    return (loss / n if math.isfinite(loss) else None), right / n


def _tell(epoch: Epoch, number: int, fit: Fit) -> None:
    loss = "not finite" if epoch.loss is None else f"{epoch.loss:.4f}"
    kept = "" if epoch.validation_accuracy is None else f", {epoch.validation_accuracy:.4f} in validation"
    print(f"epoch {number + 1} of {fit.epochs}: loss {loss}, accuracy {epoch.accuracy:.4f}{kept}", flush=True)


def _key(params: TrainParams, context: JobContext) -> str:
    """Which training a checkpoint is of: its parameters, its data, and the versions that it runs with."""
    data = context.inputs["data"].artifacts["manifest"].digest
    return digest_value([params.model_dump(mode="json"), data, toolchain_of(TRAIN, params)])


def _produced(
    one: Learner,
    params: TrainParams,
    context: JobContext,
    curves: tuple[Epoch, ...],
    n: int,
    memory: int,
    resumed: int,
) -> Produced:
    from deltann_engines.describe import describe

    path = one.save(context.workdir)
    info = describe(path, one.format, output="logits", class_offset=0)
    data = TrainedModel(
        info=info,
        curves=curves,
        n=n,
        seconds=sum(epoch.seconds for epoch in curves),
        memory_peak_bytes=memory,
        resumed=resumed,
    )
    return Produced(artifacts={"model": context.put_weights(path)}, data=data)
