"""What a study that comes over gRPC may name: staged artifacts, and what this side's own packages bring.

A path would be read on the server, and ``module:function`` would run the client's choice of code there: neither is
for a client to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deltann.artifact import ArtifactRef
from deltann.client.wire import artifact_message, artifact_ref
from deltann.errors import ModelError, NotFoundError, SpecError
from deltann.spec.checks import data_sets
from deltann.spec.load import parse_study
from deltann.spec.models import Native, Study
from deltann.store.base import ArtifactStore

_HUB = re.compile(r"(torchvision|keras):[A-Za-z0-9_]+(@[A-Za-z0-9_.]+(\([A-Za-z0-9_=, ]*\))?)?")
_CODE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_LOADER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PACKAGE_SET = re.compile(r"[A-Za-z][A-Za-z0-9_]*:[A-Za-z0-9_-]+")


def read_study(text: str) -> Study:
    """Read the YAML or JSON text of a study, as it stands: nothing of this side's environment is filled in.

    Raises:
        SpecError: if it is not one; says where.
    """
    return parse_study(text, "The submitted study")


def admit(study: Study, store: ArtifactStore, *, trust: bool = False) -> None:
    """Let a study pass, or say why not.

    Args:
        study: as it was submitted.
        store: has what it names.
        trust: whether its models may run code, which is for an admin alone.

    Raises:
        ModelError: for a model that would run code.
        SpecError: for a path on the server.
        NotFoundError: for a staged artifact that was not uploaded.
    """
    for m, model in enumerate(study.models):
        for n, native in enumerate(model.natives):
            _admit_native(native, f"models.{m}.natives.{n}.source", trust)
    for field, data in data_sets(study):
        if data.archive is None and not _PACKAGE_SET.fullmatch(data.source):
            raise _path(f"{field}.source", data.source)
    for ref in _staged(study):
        artifact_ref(artifact_message(ref))  # its name becomes a file name on a worker
        if not store.has(ref.digest):
            raise NotFoundError(
                f"{ref.name} ({ref.digest[:12]}…) is named by the study and is not in the store. "
                "Upload it first, as `deltann sweep submit --gateway` does."
            )


def _admit_native(native: Native, field: str, trust: bool) -> None:
    if native.file is not None or _HUB.fullmatch(native.source) or _LOADER.fullmatch(native.source):
        return
    if ":" in native.source and "/" not in native.source:
        if trust and native.trusted and _CODE.fullmatch(native.source):
            return
        raise ModelError(
            f"{field}: {native.source!r} runs code of its own, and a gateway runs no client's code, save "
            "an admin's where it was started with --trust-admins. Run the study on your own machine with --trust, or "
            "save the model to a file and name that."
        )
    raise _path(field, native.source)


def _staged(study: Study) -> Iterator[ArtifactRef]:
    for model in study.models:
        for native in model.natives:
            if native.file is not None:
                yield native.file
    for _, data in data_sets(study):
        if data.archive is not None:
            yield data.archive


def _path(field: str, found: str) -> SpecError:
    return SpecError(
        f"{field}: {found!r} is a path, and a study over gRPC may not name paths on the server. Submit it with "
        "`deltann sweep submit SPEC --gateway HOST:PORT`, which uploads the file first."
    )
