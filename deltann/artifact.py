"""References to what is stored: content-addressed files, and folders packed as a tar."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data


class ArtifactRef(Data):
    """Names one stored object by its content.

    ``packing`` says what :meth:`deltann.service.JobContext.fetch` gives back: ``"file"`` the file itself,
    ``"tar"`` the folder that was packed into it.
    """

    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)
    name: str = Field(description="File or folder name that a person would give it, e.g. model.onnx")
    packing: Literal["file", "tar"] = "file"
