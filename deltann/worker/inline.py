"""Runs a plan's jobs here and now, one after the other, without Redis: the same child processes, keys and results."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from deltann.digest import digest_value
from deltann.errors import NotFoundError
from deltann.job import Done, Job, JobResult, Plan
from deltann.kinds.queues import POOL_QUEUE
from deltann.outcome import Outcome
from deltann.service import Service, find_service
from deltann.store import ArtifactStore
from deltann.worker.children import Children
from deltann.worker.hostlock import HostLock
from deltann.worker.settle import Settler, describe_host

Progress = Callable[[Job, "JobResult | Done | None"], None]


def run_inline(
    plan: Plan,
    store: ArtifactStore,
    cache: Path,
    *,
    sweep: str = "inline",
    on_progress: Progress | None = None,
    services: tuple[str, ...] = (),
) -> list[JobResult | Done]:
    """Run a plan to its end; for each job its result, or the record that it was skipped and because of which job.

    Args:
        plan: the jobs.
        store: where results and artifacts are kept and found again.
        cache: folder for verified local copies.
        sweep: what handlers see as the graph's name.
        on_progress: called with a job and None when it begins, and with its result when it has ended.
        services: names or ``module:ATTRIBUTE`` of the services to ask; those whose queues are named where empty.

    Raises:
        NotFoundError: if no service has a job's kind.
        StoreError: if the store is not there, is full or refuses.
    """
    loaded = {name: find_service(name) for name in services or _services_of(plan)}
    settlers: dict[tuple[str, str | None], Settler] = {}
    ends: list[JobResult | Done] = []
    records: list[Done] = []
    context = digest_value(plan.context)
    tell = on_progress or (lambda job, end: None)
    with ExitStack() as stack:
        for job in plan.jobs:
            lost = next((index for index in job.needs.values() if not records[index].outcome.usable), None)
            if lost is not None:
                now = time.time()
                records.append(Done(outcome=Outcome.SKIPPED, because=lost, started=now, finished=now))
                ends.append(records[-1])
                tell(job, ends[-1])
                continue
            place = (_service_of(loaded, job), _pool_of(job))
            if place not in settlers:
                children = stack.enter_context(Children(place[0], store.url, cache, place[1]))
                settlers[place] = Settler(loaded[place[0]], store, children, HostLock(), describe_host(place[1]))
            inputs = {role: end for role, index in job.needs.items() if isinstance(end := ends[index], JobResult)}
            after = [records[index] for index in job.after]
            tell(job, None)
            settled = settlers[place].settle(sweep, job, inputs, after=after, context=context if after else "")
            assert settled is not None, "nothing gives up here"
            result = settled.result
            ends.append(result)
            records.append(
                Done(
                    outcome=result.outcome,
                    result_key=result.result_key,
                    reused=settled.reused,
                    started=settled.started,
                    finished=time.time(),
                )
            )
            tell(job, result)
    return ends


def _services_of(plan: Plan) -> list[str]:
    """The services that the queues of a plan belong to, so that no other one is loaded."""
    return sorted({"executor" if _pool_of(job) else job.queue for job in plan.jobs})


def _service_of(loaded: dict[str, Service], job: Job) -> str:
    for name, service in loaded.items():
        if any(kind.name == job.kind for kind in service.kinds):
            return name
    raise NotFoundError(f"No service has the job kind {job.kind!r}; asked were {', '.join(loaded) or 'none'}.")


def _pool_of(job: Job) -> str | None:
    return job.queue.removeprefix(POOL_QUEUE) if job.queue.startswith(POOL_QUEUE) else None
