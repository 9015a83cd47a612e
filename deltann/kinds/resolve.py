"""Kind ``resolve``: a model or a data set that a study names is made a stored, described object."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.model import Format, Framework, Layout, ModelInfo, OutputKind

MAX_SHARD = 500
"""Inputs of one execute job at most."""


Part = Literal["train", "test"]


class Split(Data):
    """How a set without parts of its own is parted: in the order of ``seed``, the share ``test`` goes to the tests."""

    test: float = Field(default=0.2, gt=0, lt=1)
    seed: int = 0


class Tokens(Data):
    """How sentences become tokens: the last ``length`` words, with 0 before shorter ones.

    The ``vocabulary`` − 2 most frequent words of the train part are 2, 3, …; 1 is any other word.
    """

    vocabulary: int = Field(default=5000, ge=3, le=1_000_000)
    length: int = Field(default=40, ge=1, le=10_000)


class ResolveModelParams(Data):
    """Materialise one native model. Role ``file`` (a source) is the staged file where there is one.

    Kind name: ``resolve_model``. Artifacts out: ``model``. Data out: :class:`ResolvedModel`.
    """

    source: str = Field(
        description="As the study has it: a file name, torchvision:…, keras:…, a loader, module:function"
    )
    framework: Framework | None = None
    format: Format | None = None
    input_layout: Layout | None = None
    output: OutputKind | None = None
    classes: int | None = None
    class_offset: int | None = None
    trust: bool = False


class ResolvedModel(Data):
    """Data of a resolved model. ``note`` says what was substituted, e.g. random weights with their seed."""

    info: ModelInfo
    note: str = ""


class DataShard(Data):
    """Inputs ``start`` to ``stop`` − 1, stored together.

    For images: an uncompressed zip whose member ``<position in shard, 6 digits>`` is the photo's own bytes.
    For tensors and tokens: an ``.npy`` whose first axis is the input.
    """

    blob: ArtifactRef
    start: int
    stop: int


class LeftOut(Data):
    """An input that cannot be used."""

    id: str
    why: str


class DataManifest(Data):
    """A resolved data set: inputs in a fixed order with their ids and 0-based labels (null where unknown)."""

    kind: Literal["images", "tensors", "tokens"]
    ids: tuple[str, ...]
    labels: tuple[int | None, ...]
    shards: tuple[DataShard, ...]
    left_out: tuple[LeftOut, ...] = ()
    classes: int | None = Field(default=None, description="Number of classes, where the labels tell")

    @property
    def n(self) -> int:
        """Number of inputs."""
        return len(self.ids)


class ResolveDataParams(Data):
    """Make a data set. Role ``archive`` (a source) is the staged folder or file, if it came from the client.

    Kind name: ``resolve_data``. Artifacts out: ``manifest``, the JSON of it, and of sentences ``vocabulary``, the JSON
    list of the words whose places are their tokens. Data out: ``{"manifest": DataManifest}``.
    """

    source: str
    part: Part | None = None
    split: Split = Split()
    tokens: Tokens = Tokens()
    limit: int | None = Field(default=None, ge=1)
    seed: int | None = Field(default=None, description="Shuffle with this seed before the limit; null keeps the order")
    shard: int = Field(default=MAX_SHARD, ge=1, le=MAX_SHARD)
