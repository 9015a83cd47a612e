"""How a service brings its job kinds, and what a handler gets.

A service is a distribution with an entry point in the group ``deltann.services`` that names a :class:`Service`.
The worker never imports a handler: it starts a child process that does, so that a framework can crash or hang
without taking anything else down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from deltann.artifact import ArtifactRef
from deltann.errors import NotFoundError, UnsignedError
from deltann.job import Job, JobError, JobResult
from deltann.model import Framework
from deltann.outcome import Outcome
from deltann.signing import check_signed
from deltann.store.base import ArtifactStore

ENTRY_POINTS = "deltann.services"


@dataclass(frozen=True)
class Kind:
    """A job kind.

    Args:
        name: as in :attr:`deltann.job.Job.kind`.
        params: validates :attr:`Job.params`.
        handler: ``"package.module:function"``, called as ``handler(params, context) -> Produced`` in a child process.
        failure: outcome of an exception that is not a :class:`deltann.errors.JobFailure`.
        affinity: jobs with the same value share a warm child process, one after the other; a framework that must
            not meet another in one process is kept apart by giving another value.
        toolchain: distributions whose versions are part of the result key.
        facts: what else of this host the result depends on, by name (the processor that ``host`` means to a compiler).
        device_bound: the result depends on pool and device (timings), which then are part of the result key.
        exclusive: nothing else of DeltaNN runs on the host meanwhile.
        signed: what it makes is executed: the worker signs its results, where it has a key, and uses no stored one
            again that is not signed.
        seconds: time limit.
        memory_mb: limit of resident memory of the child and its children.
    """

    name: str
    params: type[BaseModel]
    handler: str
    failure: Outcome
    affinity: Callable[[Any], str] = lambda params: ""
    toolchain: Callable[[Any], tuple[str, ...]] = lambda params: ()
    facts: Callable[[Any], Mapping[str, str]] = lambda params: {}
    device_bound: bool = False
    exclusive: bool = False
    signed: bool = False
    seconds: float = 900.0
    memory_mb: int = 12_288


@dataclass(frozen=True)
class Service:
    """A named set of kinds, e.g. ``Service("converter", (RESOLVE_MODEL, RESOLVE_DATA, CONVERT))``.

    ``runtimes`` are what its devices differ in: engines, with the distributions that each needs, the first of which has
    the version that is told. ``loaders`` are the names under which it has ready models; ``tools`` are what converts
    from which framework to which, the preferred tool of each edge first.
    """

    name: str
    kinds: tuple[Kind, ...]
    runtimes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    loaders: tuple[str, ...] = ()
    tools: tuple[tuple[Framework, Framework, str], ...] = ()

    def kind(self, name: str) -> Kind:
        """The kind of that name.

        Raises:
            NotFoundError: if this service has none.
        """
        for kind in self.kinds:
            if kind.name == name:
                return kind
        raise NotFoundError(f"Service {self.name} has no job kind {name!r}; it has {[k.name for k in self.kinds]}.")


@dataclass(frozen=True)
class Produced:
    """What a handler gives back. ``data`` is a pydantic model or a JSON object."""

    artifacts: Mapping[str, ArtifactRef] = field(default_factory=dict)
    data: BaseModel | Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome = Outcome.OK
    error: JobError | None = None


@dataclass(frozen=True)
class JobContext:
    """What a handler may use beside its parameters.

    ``inputs`` are the results of the job's needs by role. ``workdir`` is a fresh folder, deleted afterwards.
    ``trusted`` are the public keys of compilers; empty where nothing has to be signed.
    ``warm`` lives as long as the child process: a handler may keep loaded models or preprocessed inputs in it.
    """

    store: ArtifactStore
    sweep: str
    job: Job
    inputs: Mapping[str, JobResult]
    workdir: Path
    cache: Path
    pool: str | None = None
    trusted: tuple[str, ...] = ()
    warm: dict[str, Any] = field(default_factory=dict)

    def ref(self, role: str) -> ArtifactRef:
        """The artifact in that role: a source of the job, or the same-named artifact of the needed job.

        Raises:
            NotFoundError: if the job has no such role.
        """
        if role in self.job.sources:
            return self.job.sources[role]
        if role in self.inputs and role in self.inputs[role].artifacts:
            return self.inputs[role].artifacts[role]
        raise NotFoundError(f"Job {self.job.index} ({self.job.kind}) has no artifact in the role {role!r}.")

    def fetch(self, role: str) -> Path:
        """A verified local copy of the artifact in that role, kept in the worker's cache: treat as read-only."""
        return self.store.materialise(self.ref(role), self.cache)

    def fetch_signed(self, role: str) -> Path:
        """The same of what is executed: where compilers' keys are known, one of them has to have signed it.

        Raises:
            UnsignedError: if none has.
        """
        if self.trusted:
            if role in self.job.sources or role not in self.inputs:
                raise UnsignedError(
                    f"The {role} of job {self.job.index} was refused: it is no compiler's result, and this worker "
                    "executes nothing else. Run a module of your own with `deltann run`."
                )
            check_signed(self.inputs[role], self.trusted)
        return self.fetch(role)

    def put(self, path: Path, name: str | None = None) -> ArtifactRef:
        """Store a file or, packed as a tar, a folder."""
        return self.store.put_path(path, name)

    def put_weights(self, path: Path) -> ArtifactRef:
        """Store a model or a module, whose weights others may have too: what is the same is stored once."""
        return self.store.put_path(path, shares=True)


def service_names() -> tuple[str, ...]:
    """Names of all installed services, without loading any."""
    return tuple(sorted(point.name for point in entry_points(group=ENTRY_POINTS)))


def find_service(name: str) -> Service:
    """An installed service by name, or any by ``module:ATTRIBUTE``. No other one is loaded.

    Raises:
        NotFoundError: if there is none.
    """
    if ":" in name:
        module, _, attribute = name.partition(":")
        found = getattr(import_module(module), attribute, None)
    else:
        points = entry_points(group=ENTRY_POINTS, name=name)
        if not points:
            raise NotFoundError(f"There is no service {name!r}; installed are {', '.join(service_names()) or 'none'}.")
        found = next(iter(points)).load()
    if not isinstance(found, Service):
        raise NotFoundError(f"{name} is not a deltann.service.Service.")
    return found


def services() -> dict[str, Service]:
    """All installed services by name."""
    return {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}


def ready_loaders() -> tuple[str, ...] | None:
    """The names of the ready models that this machine's converter has; None where it has no converter."""
    return find_service("converter").loaders if "converter" in service_names() else None
