"""Idempotency keys: what a caller has submitted under a key, kept in the store."""

from __future__ import annotations

from collections.abc import Callable

from deltann.v1.conversion_pb2 import SubmitConversionRequest
from deltann.v1.sweep_pb2 import SubmitSweepRequest

from deltann.digest import digest_bytes, digest_value
from deltann.errors import InputError
from deltann.store.base import ArtifactStore
from deltann_gateway.refusals import ConflictError

_LONGEST = 128
Submission = SubmitSweepRequest | SubmitConversionRequest


def once(store: ArtifactStore, caller: str, request: Submission, submit: Callable[[], str]) -> str:
    """Submit, unless the caller has under the same key: then the id of that.

    The content is noted before and the id after: a call that a crash cut in between is done again.

    Raises:
        ConflictError: if the key was used for something else.
        InputError: if it is too long.
    """
    key = request.idempotency_key
    if not key:
        return submit()
    if len(key) > _LONGEST:
        raise InputError(f"idempotency_key: has {len(key)} characters; at most {_LONGEST} are taken.")
    place = f"submissions/{digest_value([type(request).__name__, caller, key])}"
    content = _content(request)
    if not store.put_if_absent(f"{place}/content", content) and store.get(f"{place}/content") != content:
        raise ConflictError(
            f"The idempotency key {key!r} was used for something else before. A call that is repeated has to be the "
            "same; choose another key for another one."
        )
    known = store.get(f"{place}/id")
    if known is not None:
        return known.decode()
    sid = submit()
    store.put(f"{place}/id", sid.encode())
    return sid


def _content(request: Submission) -> bytes:
    plain = type(request)()
    plain.CopyFrom(request)  # type: ignore[arg-type]
    plain.ClearField("idempotency_key")
    return digest_bytes(plain.SerializeToString(deterministic=True)).encode()
