"""What parent and child say to each other, one JSON line each way, and how values become JSON."""

from __future__ import annotations

from typing import Any

from pydantic import Field, JsonValue
from pydantic_core import from_json, to_json

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.job import Job, JobError, JobResult
from deltann.outcome import Outcome


class Request(Data):
    """One job for a child."""

    sweep: str
    job: Job
    inputs: dict[str, JobResult]
    workdir: str
    pool: str | None
    trusted: tuple[str, ...] = ()


class Reply(Data):
    """How it went.

    ``trouble`` is set where the store or the machine failed: that says nothing about the job and is no result; it is
    ``away`` where the store did not answer.
    ``repeatable`` is False where the end says more about the moment than about the job: it is not used again.
    """

    outcome: Outcome
    artifacts: dict[str, ArtifactRef] = Field(default_factory=dict)
    data: dict[str, JsonValue] = Field(default_factory=dict)
    error: JobError | None = None
    trouble: str | None = None
    away: bool = False
    repeatable: bool = True
    work_seconds: float = 0.0


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a NumPy scalar or array
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot go into a result")


def to_plain(value: Any) -> Any:
    """A value as JSON knows it: pydantic models by their fields, NumPy as numbers, NaN and Inf as null.

    Raises:
        pydantic_core.PydanticSerializationError: for a value that has no such form.
    """
    return from_json(to_json(value, inf_nan_mode="null", by_alias=True, fallback=_plain))
