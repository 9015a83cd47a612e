"""Between DeltaNN's own data and the messages of the gRPC contract."""

from __future__ import annotations

import re

from pydantic import ValidationError

from deltann import errors
from deltann.artifact import ArtifactRef
from deltann.errors import DeltannError, InputError
from deltann.v1 import artifact_pb2 as pb

CHUNK = 1 << 20
"""Bytes of one message of a transfer."""

CALL_S = 60.0
"""A call that only asks or says something is given up after so long."""

MAX_MESSAGE = 8 << 20
"""Largest message that client and gateway take: a study or a chunk is far smaller."""

DOMAIN = "deltann"
"""Of the ErrorInfo of a refused call."""


def reason_of(kind: type[DeltannError]) -> str:
    """The reason in the ErrorInfo of an exception: ``SPEC_ERROR`` of SpecError."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).upper()


def kind_of(reason: str) -> type[DeltannError] | None:
    """The exception of :mod:`deltann.errors` that a reason is of, if it is of one."""
    return _KINDS.get(reason)


_KINDS = {
    reason_of(kind): kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DeltannError) and kind is not errors.JobFailure
}


def artifact_message(ref: ArtifactRef) -> pb.Artifact:
    """A reference as it travels."""
    packing = pb.PACKING_TAR if ref.packing == "tar" else pb.PACKING_FILE
    return pb.Artifact(sha256=ref.digest, size=ref.size, name=ref.name, packing=packing)


def artifact_ref(message: pb.Artifact) -> ArtifactRef:
    """A reference as it arrived.

    Raises:
        InputError: if it is not one.
    """
    packing = "tar" if message.packing == pb.PACKING_TAR else "file"
    try:
        ref = ArtifactRef.model_validate(
            {"digest": message.sha256, "size": message.size, "name": message.name, "packing": packing}
        )
    except ValidationError as error:
        raise InputError("An artifact is named by its SHA-256 (64 hexadecimal digits), size and name.") from error
    if not ref.name or "/" in ref.name or "\0" in ref.name or ref.name in (".", ".."):
        raise InputError(f"An artifact's name has to be a plain file name, not {ref.name!r}.")
    return ref
