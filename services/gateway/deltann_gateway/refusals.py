"""What the gateway alone refuses, besides what :mod:`deltann.errors` has."""

from __future__ import annotations

from deltann.errors import InputError


class LimitError(InputError):
    """More than the gateway takes.

    Args:
        message: for a person.
        retry_s: after which it may be tried again; None where that will not help.
    """

    def __init__(self, message: str, retry_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_s = retry_s


class ConflictError(InputError):
    """An idempotency key that was used for something else."""


class OffsetError(LimitError):
    """A transfer that would begin where it cannot."""


class TakenError(LimitError):
    """The same upload is under way already."""
