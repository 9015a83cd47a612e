"""The exceptions of DeltaNN, as one tree.

    DeltannError
    ├── InputError            what the person gave is wrong              exit code 2
    │   ├── SpecError         a study that does not validate
    │   ├── ModelError        a model file that is missing, truncated, of another format or refused
    │   ├── DataError         a data set that is missing, empty or does not match its labels
    │   └── NotFoundError     a sweep, artifact or name that does not exist
    ├── WorkError             the work could not be done                 exit code 3
    │   ├── StoreError        the artifact store failed (not there, full, refused)
    │   │   └── CorruptArtifactError   an object whose bytes do not match its digest
    │   ├── QueueError        Redis failed or is not there
    │   └── StackError        the embedded stack could not start or stop
    └── JobFailure            a framework failed: a finding, turned into an outcome by the worker

Each message is one paragraph for a person: what happened, where, and what to do about it.
"""

from __future__ import annotations

from deltann.outcome import Outcome


class DeltannError(Exception):
    """Base of every exception that DeltaNN raises on purpose."""

    exit_code = 3


class InputError(DeltannError):
    """What the person gave is wrong; nothing was started because of it."""

    exit_code = 2


class SpecError(InputError):
    """A study that does not validate: names the field, what was found and what is allowed."""


class ModelError(InputError):
    """A model that is missing, truncated, of another format than it claims, or refused."""


class DataError(InputError):
    """A data set that is missing, empty, or does not match its labels."""


class NotFoundError(InputError):
    """A sweep, an artifact or a registered name that does not exist."""


class WorkError(DeltannError):
    """The work could not be done, for a reason outside what the person gave."""


class StoreError(WorkError):
    """The artifact store is not there, is full, or refused an operation."""


class CorruptArtifactError(StoreError):
    """An object's bytes do not match its digest; it was refused, not used."""


class QueueError(WorkError):
    """Redis is not there or failed."""


class StackError(WorkError):
    """The embedded stack could not be started or stopped."""


class JobFailure(DeltannError):  # noqa: N818  (a finding, not an error)
    """A framework, converter or compiler failed inside a job. The worker records it as data.

    Args:
        outcome: how the job ended.
        stage: what was being done, in a word or two (``"export"``, ``"import"``, ``"load"``, ``"run"``).
        message: one sentence for a person.
    """

    def __init__(self, outcome: Outcome, stage: str, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.stage = stage
        self.message = message


def first_line(error: BaseException) -> str:
    """What a framework's error says first, at most 300 characters; its type where it says nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
