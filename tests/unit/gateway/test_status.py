from __future__ import annotations

import inspect

import grpc
import pytest
from deltann_gateway.refusals import ConflictError, LimitError, OffsetError, TakenError
from deltann_gateway.status import code_of, details_of
from google.rpc.error_details_pb2 import BadRequest, RetryInfo

from deltann import errors
from deltann.client.wire import kind_of, reason_of
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
        (LimitError("x"), CODES.RESOURCE_EXHAUSTED),
        (TakenError("x"), CODES.ABORTED),
        (ConflictError("x"), CODES.ALREADY_EXISTS),
        (OffsetError("x"), CODES.OUT_OF_RANGE),
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


def test_every_exception_is_known_by_its_reason_again() -> None:
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, DeltannError)]
    for kind in kinds:
        assert kind_of(reason_of(kind)) is (None if kind is errors.JobFailure else kind)
    assert reason_of(errors.CorruptArtifactError) == "CORRUPT_ARTIFACT_ERROR"
    assert kind_of("") is None


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("data.source: 'x' is a path. Submit: otherwise.", ["data.source"]),
        ("The study is not valid. models.0.name: is wrong, found 'a: b'. top_k: is 3.", ["models.0.name", "top_k"]),
        ("The submitted study, line 3: mapping values are not allowed here.", []),
        ("Just a sentence.", []),
    ],
)
def test_fields_of_a_study_are_found_in_its_error(message: str, fields: list[str]) -> None:
    details = details_of(errors.SpecError(message))
    found = [one.field for detail in details if isinstance(detail, BadRequest) for one in detail.field_violations]
    assert found == fields


def test_when_to_try_again_is_told() -> None:
    (detail,) = details_of(LimitError("x", retry_s=2.5))
    assert isinstance(detail, RetryInfo)
    assert detail.retry_delay.ToTimedelta().total_seconds() == 2.5
    assert details_of(LimitError("x")) == []
