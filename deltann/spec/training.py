"""What a study says of the models that it trains."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from deltann.kinds.train import Fit, TrainingFramework
from deltann.spec.data import DataEntry
from deltann.spec.lists import Some


class Training(Fit):
    """Models that are trained: one description, in each framework, so many times over.

    Instance i is trained with the seed ``seed`` + i − 1 in every framework: it begins with the same weights there and
    sees the same batches.
    """

    network: str = Field(description="The name of a ready description, e.g. lenet5")
    frameworks: Some[TrainingFramework] = ("keras", "pytorch")
    instances: int = Field(default=1, ge=1, le=1000)
    seed: int = 0
    data: DataEntry | None = Field(
        default=None, description="What it is trained on; null: the train part of the data that the model is tested on"
    )

    @property
    def fit(self) -> Fit:
        """What a job of it is told."""
        return Fit.model_validate({name: getattr(self, name) for name in Fit.model_fields})

    def runs(self) -> Iterator[tuple[int, TrainingFramework, int]]:
        """Number, framework and seed of every instance, the frameworks of one beside each other."""
        for number in range(1, self.instances + 1):
            for framework in self.frameworks:
                yield number, framework, self.seed + number - 1
