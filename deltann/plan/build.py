"""Collecting jobs into a plan: equal work is one job, and ids depend on nothing but the work."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from deltann.artifact import ArtifactRef
from deltann.digest import digest_value
from deltann.errors import SpecError
from deltann.job import Job, PackedJobs
from deltann.kinds.queues import queue_of_kind

MAX_MESSAGE_BYTES = 2048


class PlanBuilder:
    """Jobs in topological order: a job can only name jobs that were added before it."""

    def __init__(self) -> None:
        self.jobs = PackedJobs()
        self._ids: list[str] = []
        self._index: dict[str, int] = {}

    def add(
        self,
        kind: str,
        params: BaseModel,
        *,
        pool: str | None = None,
        needs: Mapping[str, int] | None = None,
        after: tuple[int, ...] = (),
        sources: Mapping[str, ArtifactRef] | None = None,
        phase: int = 0,
        label: str = "",
    ) -> int:
        """The index of the job, which is the one that is there already where the same work was added before.

        Raises:
            SpecError: for a job that does not fit into a message of 2 KiB.
        """
        needs, sources, queue = dict(needs or {}), dict(sources or {}), queue_of_kind(kind, pool)
        plain = params.model_dump(mode="json")
        job_id = digest_value(
            [
                kind,
                plain,
                queue if pool is not None else "",
                {role: self._ids[index] for role, index in needs.items()},
                {role: ref.digest for role, ref in sources.items()},
            ]
        )
        if job_id in self._index:
            return self._index[job_id]
        job = Job(
            index=len(self.jobs),
            kind=kind,
            params=plain,
            queue=queue,
            job_id=job_id,
            needs=needs,
            after=after,
            sources=sources,
            phase=phase,
            label=label,
        )
        size = len(job.model_copy(update={"after": ()}).model_dump_json())
        if size > MAX_MESSAGE_BYTES - 128:  # the sweep's id and the index travel with it
            raise SpecError(
                f"The job {label!r} takes {size} bytes, more than a message of {MAX_MESSAGE_BYTES} can hold. "
                "Shorten the names or the steps of its preprocessing recipe."
            )
        self.jobs.append(job)
        self._ids.append(job_id)
        self._index[job_id] = job.index
        return job.index
