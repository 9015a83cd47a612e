"""Between DeltaNN's own data and the messages of the gRPC contract."""

from __future__ import annotations

from pydantic import ValidationError

from deltann.artifact import ArtifactRef
from deltann.errors import InputError
from deltann.v1 import artifact_pb2 as pb

CHUNK = 1 << 20
"""Bytes of one message of a transfer."""

MAX_MESSAGE = 8 << 20
"""Largest message that client and gateway take: a study or a chunk is far smaller."""

ERROR_KEY = "deltann-error"
"""Trailing metadata of a refused call: the name of the exception in :mod:`deltann.errors`."""


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
