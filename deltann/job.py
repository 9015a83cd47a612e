"""Jobs, their results, and the plan that holds them: the data that queue, workers and dispatcher share."""

from __future__ import annotations

from typing import Any

from pydantic import Field, JsonValue

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.outcome import Outcome


class Job(Data):
    """One unit of work: job ``index`` of its plan, in topological order.

    ``needs`` maps a role to the index of the job whose result plays it; the job cannot run without it.
    ``after`` are jobs that have to have ended, however they ended.
    ``sources`` maps a role to a stored object that no job of this plan makes (a photo shard, a model file).
    ``phase`` orders work that must not share the host: the dispatcher holds back jobs of a higher phase
    while any job of a lower one is ready or running (timings come after everything that would disturb them).
    """

    index: int = Field(ge=0)
    kind: str
    params: dict[str, JsonValue]
    queue: str
    job_id: str
    needs: dict[str, int] = {}
    after: tuple[int, ...] = ()
    sources: dict[str, ArtifactRef] = {}
    phase: int = 0
    label: str = Field(default="", description="What a person calls it: 'mobilenet_v2 keras → onnx (tf2onnx)'")


class JobMessage(Data):
    """What travels through the queue, at most 2 KiB as JSON.

    ``sweep`` is the graph (``<sid>`` or ``<sid>/resolve``). ``after`` stays in the plan: ``ordered`` says that there is
    some. A job that would be too large is None and read from the plan as well.
    """

    sweep: str
    index: int
    job: Job | None
    queue: str = ""
    ordered: bool = False


class JobError(Data):
    """Why a job failed. The whole log is in the result's ``log``."""

    stage: str
    type: str
    message: str


class WorkerInfo(Data):
    """Who computed a result."""

    host: str
    pool: str | None = None
    device: str = ""
    threads: int | None = None
    pid: int | None = None


class Signature(Data):
    """Who made a result that is executed, by :mod:`deltann.signing`: the public key, and the Ed25519 signature."""

    signer: str = Field(pattern=r"^[0-9a-f]{64}$")
    value: str = Field(pattern=r"^[0-9a-f]{128}$")


class JobResult(Data):
    """The stored result of a job, found under its result key, shared by every job with the same inputs.

    Times are seconds since the epoch. ``work_seconds`` is the time inside the handler; what is between
    ``started`` and ``finished`` beside it is DeltaNN's own (fetching, storing, starting the child).
    """

    kind: str
    result_key: str
    outcome: Outcome
    artifacts: dict[str, ArtifactRef] = {}
    data: dict[str, JsonValue] = {}
    error: JobError | None = None
    log: ArtifactRef | None = None
    toolchain: dict[str, str] = {}
    worker: WorkerInfo | None = None
    started: float = 0.0
    finished: float = 0.0
    work_seconds: float = 0.0
    signature: Signature | None = None


class Done(Data):
    """The record ``done/<i>``: written once, by the first who settles job i.

    ``started`` and ``finished`` are when THIS sweep's job was settled (a reused result takes no time);
    ``because`` is the index of the job that a skipped one lost.
    """

    outcome: Outcome
    result_key: str | None = None
    because: int | None = None
    reused: bool = False
    started: float = 0.0
    finished: float = 0.0


class Plan(Data):
    """The immutable jobs of one graph, in topological order, and what its study says about them.

    ``context`` is for the analysis: for a sweep the JSON of a :class:`deltann.plan.SweepContext`.
    """

    jobs: tuple[Job, ...]
    context: dict[str, Any] = {}
