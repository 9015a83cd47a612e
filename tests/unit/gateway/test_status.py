from __future__ import annotations

import inspect

import grpc
import pytest
from deltann_gateway.status import code_of

from deltann import errors
from deltann.errors import DeltannError
from deltann.outcome import Outcome

CODES = grpc.StatusCode


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.NotFoundError("x"), CODES.NOT_FOUND),
        (errors.SpecError("x"), CODES.INVALID_ARGUMENT),
        (errors.ModelError("x"), CODES.INVALID_ARGUMENT),
        (errors.DataError("x"), CODES.INVALID_ARGUMENT),
        (errors.CorruptArtifactError("x"), CODES.DATA_LOSS),
        (errors.StoreError("x"), CODES.UNAVAILABLE),
        (errors.QueueError("x"), CODES.UNAVAILABLE),
        (RuntimeError("x"), CODES.INTERNAL),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.name,
)
def test_code_of_an_exception(error: Exception, code: grpc.StatusCode) -> None:
    assert code_of(error) is code


def test_only_what_is_to_blame_on_the_caller_says_so() -> None:
    """Exit code 2 and the codes that blame the caller belong together, for every exception there is."""
    blames = {CODES.NOT_FOUND, CODES.INVALID_ARGUMENT}
    for kind in vars(errors).values():
        if inspect.isclass(kind) and issubclass(kind, DeltannError):
            error = kind(Outcome.CRASHED, "x", "y") if kind is errors.JobFailure else kind("x")
            assert (code_of(error) in blames) == (kind.exit_code == 2), kind
