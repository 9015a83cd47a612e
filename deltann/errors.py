"""The exceptions of DeltaNN, as one tree.

    DeltannError
    ├── InputError            what the person gave is wrong              exit code 2
    │   ├── SpecError         a study that does not validate
    │   ├── ModelError        a model file that is missing, truncated, of another format or refused
    │   ├── DataError         a data set that is missing, empty or does not match its labels
    │   └── NotFoundError     a sweep, artifact or name that does not exist
    ├── WorkError             the work could not be done                 exit code 3
    │   ├── StoreError        the artifact store failed (not there, full, refused)
    │   │   ├── CorruptArtifactError   an object whose bytes do not match its digest
    │   │   ├── UnsignedError          what would be executed is not signed by a compiler that is known
    │   │   └── StoreAwayError         it does not answer: whoever works unattended waits for it
    │   ├── QueueError        Redis failed or is not there
    │   └── StackError        the embedded stack could not start or stop
    ├── UnsupportedError      an engine lacks what a model needs, which may be sound: a finding about the engine
    ├── WrongDeviceError      a module on a device that it is not for: a finding, and never used again
    └── JobFailure            a framework failed: a finding, turned into an outcome by the worker

Each message is one paragraph for a person: what happened, where, and what to do about it.
"""

from __future__ import annotations

from deltann.outcome import Outcome


class DeltannError(Exception):
    """Base of every exception that DeltaNN raises on purpose."""

    exit_code = 3


class InputError(DeltannError):
    """What the person gave is wrong; nothing was started because of it.

    Args:
        message: one paragraph. What it repeats of the input may have any length, line breaks, and halves of letters
            that no terminal and no wire takes; as the error's text, all of it is one short paragraph.
    """

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(_paragraph(message))


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


class UnsignedError(StoreError):
    """What would be executed is not signed as a known compiler signs it; it was refused."""


class StoreAwayError(StoreError):
    """The store does not answer, or says that it cannot at the moment: nothing is wrong that time does not mend."""


class QueueError(WorkError):
    """Redis is not there or failed."""


class StackError(WorkError):
    """The embedded stack could not be started or stopped."""


class UnsupportedError(DeltannError):
    """An engine lacks what a model needs. It says nothing about the model, nor about another engine."""


class WrongDeviceError(DeltannError):
    """A module was given to a device that cannot run it. It says nothing about the model, nor about another device."""


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


_LONGEST = 1500


def _paragraph(text: str) -> str:
    """One line, shortened in its middle: it begins with what happened and ends with what to do."""
    line = " ".join(text.splitlines())
    line = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}"


def first_line(error: BaseException) -> str:
    """What a framework's error says first, at most 300 characters; its type where it says nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
