"""What a job is given: the results of its needs, and the records of the jobs that it comes after."""

from __future__ import annotations

from deltann.digest import digest_value
from deltann.errors import StoreError
from deltann.job import Done, Job, JobResult, Plan
from deltann.store import ArtifactStore
from deltann.store.layout import read_all_done, read_done, read_result


def inputs_of(store: ArtifactStore, graph: str, job: Job) -> dict[str, JobResult]:
    """The results of a job's needs by role.

    Raises:
        StoreError: if one is not there: then the job was sent too early, or the store has lost it.
    """
    found: dict[str, JobResult] = {}
    for role, index in job.needs.items():
        done = read_done(store, graph, index)
        result = read_result(store, done.result_key) if done is not None and done.result_key is not None else None
        if done is None or result is None or result.result_key != done.result_key:
            raise StoreError(
                f"Job {job.index} of {graph} needs the result of job {index}, which is not in the store {store.url}. "
                "Restore the store from a copy, or delete the sweep there, and submit it again."
            )
        found[role] = result
    return found


def order_of(store: ArtifactStore, graph: str, plan: Plan, index: int) -> tuple[list[Done], str]:
    """The done records of the jobs that a job comes after, in order, and the digest of the plan's context."""
    done = read_all_done(store, graph)
    return [done[other] for other in plan.jobs[index].after if other in done], digest_value(plan.context)
