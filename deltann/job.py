"""Jobs, their results, and the plan that holds them: the data that queue, workers and dispatcher share."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, overload

from pydantic import Field, JsonValue, PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

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


class PackedJobs(Sequence[Job]):
    """Many jobs in little memory: their JSON, compressed block by block, and a job made of it when it is asked for.

    A million jobs take some hundred megabytes so, and some eight gigabytes as objects. Going through them in order is
    cheap; a job at any place costs the unpacking of its block.
    """

    _BLOCK = 256

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        self._blocks: list[bytes] = []
        self._last: list[bytes] = []
        self._open: tuple[int, list[bytes]] = (-1, [])
        for job in jobs:
            self.append(job)

    @classmethod
    def of_lines(cls, lines: Iterable[bytes]) -> PackedJobs:
        """The jobs of these JSON texts, which hold no line break."""
        made = cls()
        for line in lines:
            made._add(line)
        return made

    def append(self, job: Job) -> None:
        """Add a job at the end."""
        self._add(job.model_dump_json().encode())

    def lines(self) -> Iterator[bytes]:
        """The JSON of each job."""
        for number in range(len(self._blocks) + 1):
            yield from self._unpacked(number)

    def __len__(self) -> int:
        return len(self._blocks) * self._BLOCK + len(self._last)

    @overload
    def __getitem__(self, index: int) -> Job: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...

    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        if isinstance(index, slice):
            return tuple(self[one] for one in range(*index.indices(len(self))))
        place = range(len(self))[index]
        return Job.model_validate_json(self._unpacked(place // self._BLOCK)[place % self._BLOCK])

    def __iter__(self) -> Iterator[Job]:
        return (Job.model_validate_json(line) for line in self.lines())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def _add(self, line: bytes) -> None:
        self._last.append(line)
        if len(self._last) == self._BLOCK:
            self._blocks.append(zlib.compress(b"\n".join(self._last), 1))
            self._last = []

    def _unpacked(self, number: int) -> list[bytes]:
        if number == len(self._blocks):
            return self._last
        opened = self._open
        if opened[0] != number:
            opened = self._open = number, zlib.decompress(self._blocks[number]).split(b"\n")
        return opened[1]


def _as_jobs(value: Any, validated: ValidatorFunctionWrapHandler) -> Sequence[Job]:
    return value if isinstance(value, PackedJobs) else tuple(validated(value))


class Plan(Data):
    """The immutable jobs of one graph, in topological order, and what its study says about them.

    ``jobs`` is a tuple, or :class:`PackedJobs` where there may be very many.
    ``context`` is for the analysis: for a sweep the JSON of a :class:`deltann.plan.SweepContext`.
    """

    jobs: Annotated[Sequence[Job], WrapValidator(_as_jobs), PlainSerializer(tuple, return_type=tuple[Job, ...])]
    context: dict[str, Any] = {}
