"""Kind ``time``: how long an inference takes, with nothing but the inference inside the clock."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from deltann_engines.memory import peak_memory, reset_peak_memory

from deltann.kinds.execute import TimeData, TimeParams
from deltann.service import JobContext, Produced
from deltann_executor.loaded import load_inputs, load_model, run_failure


@contextmanager
def pinned(threads: int) -> Iterator[list[int]]:
    """Run on the first ``threads`` cores that this process may use, and on all of them again afterwards.

    Threads that an engine started in an earlier job of this process are moved too; new ones inherit the cores.
    """
    allowed = os.sched_getaffinity(0)
    cores = sorted(allowed)[:threads]
    _move(cores)
    try:
        yield cores
    finally:
        _move(allowed)


def _move(cores: Iterable[int]) -> None:
    """Set the cores of every thread of this process."""
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # it may have ended meanwhile
            os.sched_setaffinity(int(thread.name), cores)


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def time_variant(params: TimeParams, context: JobContext) -> Produced:
    """Time a variant: the first inference alone, a warm-up, then every repeat of every input.

    Repeats go round over the inputs, so that a drift of the machine falls on all inputs alike.

    Raises:
        JobFailure: ``run_failed`` where the model cannot be loaded, fed or run.
    """
    reset_peak_memory()
    context.warm.pop("model_key", None)  # load and first inference belong to the measurement: never a warm model
    with pinned(params.threads) as cores:
        loaded = load_model(params, context)
        inputs = load_inputs(params, loaded.info, context, limit=params.inputs)
        timed = loaded.session.time
        ns = np.zeros((len(inputs), params.repeats), np.int64)
        position = 0
        try:
            with _no_collection():
                began = time.perf_counter_ns()
                loaded.session.run(inputs[0])
                first = time.perf_counter_ns() - began
                for index in range(params.warmup):
                    timed(inputs[index % len(inputs)])
                for repeat in range(params.repeats):
                    for position, x in enumerate(inputs):
                        ns[position, repeat] = timed(x)
        except Exception as error:
            raise run_failure(params, error, position) from error

    path = context.workdir / "times.npz"
    np.savez(path, ns=ns, first_ns=np.int64(first))
    data = TimeData(
        n=int(ns.size),
        load_ms=loaded.load_ms,
        memory_peak_bytes=peak_memory() if loaded.session.local else None,
        threads=params.threads,
        affinity=cores if loaded.session.local else [],
        device=loaded.session.device,
        used=loaded.session.used,
    )
    return Produced(artifacts={"times": context.put(path)}, data=data)
