"""What is written down of a job that is given up."""

from __future__ import annotations

import time

from deltann.digest import digest_value
from deltann.job import Done, Job, JobError, JobResult
from deltann.outcome import Outcome
from deltann.store import ArtifactStore
from deltann.store.layout import lost_key, write_done, write_result


def record_lost(store: ArtifactStore, graph: str, job: Job, times: int) -> Done:
    """Settle a job whose workers died on it so many times as crashed; the record that now stands.

    Raises:
        StoreError: if it cannot be written.
    """
    now = time.time()
    message = (
        f"{job.label or job.kind}: its worker died or was lost {times} times while it ran, leaving no result. "
        "Its own log, where one was found, the worker's and the host's memory are where to look."
    )
    left = store.get(lost_key(graph, job.index))
    result = write_result(
        store,
        JobResult(
            kind=job.kind,
            result_key=digest_value(["lost", graph, job.index]),
            outcome=Outcome.CRASHED,
            error=JobError(stage=job.kind, type="LostWorker", message=message),
            log=store.put_bytes(left, "log.txt") if left else None,
            started=now,
            finished=now,
        ),
    )
    done = Done(outcome=result.outcome, result_key=result.result_key, started=now, finished=now)
    return write_done(store, graph, job.index, done)
