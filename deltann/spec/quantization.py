"""What a study says of models with fewer bits."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from deltann.base import Data
from deltann.kinds.quantize import SCHEMES, Scheme
from deltann.kinds.resolve import MAX_SHARD
from deltann.model import ENGINE_OF
from deltann.spec.data import DataEntry
from deltann.spec.lists import Some


class Calibration(Data):
    """The inputs from which a calibrated scheme takes the ranges of activations."""

    inputs: int = Field(default=100, ge=1, le=MAX_SHARD)
    seed: int = Field(default=0, description="Which of the data they are")
    data: DataEntry | None = Field(
        default=None,
        description="null: what the model is trained on; else the train part of what it is tested on, where that is a "
        "test part; else the same set",
    )


class Quantization(Data):
    """Schemes by which every native is quantised; each is held against the same model before."""

    schemes: Some[Scheme]
    calibration: Calibration = Calibration()

    @property
    def calibrated(self) -> bool:
        """Whether any scheme needs inputs."""
        return any(SCHEMES[scheme].calibrated for scheme in self.schemes)

    def entry(self, tested: DataEntry, trained: DataEntry | None) -> DataEntry:
        """The calibration set of a model.

        Args:
            tested: what the model is tested on.
            trained: what it is trained on, where the study trains it.
        """
        usual = trained or tested
        if trained is None and tested.part == "test":
            usual = tested.model_copy(update={"part": "train"})
        chosen = {"limit": self.calibration.inputs, "seed": self.calibration.seed}
        return (self.calibration.data or usual).model_copy(update=chosen)


def quantization_mistakes(wanted: Quantization | None, engines: tuple[str, ...]) -> Iterator[str]:
    """A sentence for each scheme whose models nothing of the study would run, and for a size that is told twice."""
    if wanted is None:
        return
    for index, scheme in enumerate(wanted.schemes):
        engine = ENGINE_OF[SCHEMES[scheme].makes]
        if "own" not in engines and engine not in engines:
            yield f"quantize.schemes.{index}: what {scheme} makes runs in {engine}. Add own or {engine} to engines."
    data = wanted.calibration.data
    if data is not None and (data.limit is not None or data.seed is not None):
        yield (
            "quantize.calibration.data: how many inputs calibrate, and which, is said by inputs and seed of "
            "quantize.calibration. Write its limit and seed there."
        )
